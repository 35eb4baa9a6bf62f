"""Last of this folder, because no other test wants to wait for the driver program that would come next."""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from holdfast.fixtures.reference.drivers.spark.deployment import SparkDeployment
from holdfast.suites.selfcheck.spark.test_ends import LIMIT_S, advance_to_a_checkpoint, deploy, started

pytestmark = pytest.mark.tier("spark")


def test_a_driver_program_that_ends_by_itself_ends_the_run_with_a_problem(tmp_path: Path) -> None:
    with closing(deploy(tmp_path)) as deployment:
        advance_to_a_checkpoint(deployment)
        (program,) = started(deployment, "coordinator")
        program.signal(signal.SIGKILL)
        with pytest.raises(OSError, match=r"^coordinator\.0 ended: the driver program ended"):
            advance_to_the_end(deployment)


def advance_to_the_end(deployment: SparkDeployment) -> None:
    until_ms = deployment.now_ms + LIMIT_S * 1000
    while deployment.now_ms < until_ms:
        deployment.advance(until_ms)
