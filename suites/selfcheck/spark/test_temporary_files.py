"""Virtual machines of Spark are killed, and then remove none of their temporary files: nothing of these may stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tier("spark")
LIMIT_S = 600


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_a_certification_on_spark_leaves_no_temporary_file(tmp_path: Path) -> None:
    """Libraries that Java unpacks were left, ten for each certificate."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    present = os.environ
    environment = {
        **present, "TMPDIR": str(temporary), "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={temporary} -XX:-UsePerfData"
    }  # fmt: skip
    command = [sys.executable, "-m", "holdfast.harness.cli", "certify", "reference", "--tier", "spark", "--area", "REC"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")], env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert "PARTIAL on spark  reference" in done.stdout, done.stdout[-4000:] + done.stderr[-4000:]
    assert [path.name for path in temporary.iterdir()] == []
