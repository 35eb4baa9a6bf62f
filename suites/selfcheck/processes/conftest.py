"""What every test of real processes needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.spawner import Spawner, open_zygote
from holdfast.fixtures.reference.drivers.processes.supervisor import Supervisor

PRELOAD = ("numpy", "pyarrow", "pyarrow.ipc", "holdfast.suites.selfcheck.processes.children")


@pytest.fixture(autouse=True)
def linux_only() -> None:
    if sys.platform != "linux":
        pytest.skip("the process tier needs Linux: pidfd, PR_SET_PDEATHSIG, SIGSTOP")


@pytest.fixture
def spawner(tmp_path: Path) -> Iterator[Spawner]:
    spawner, process = open_zygote(PRELOAD, tmp_path / "zygote.log")
    with closing(spawner), closing(process):
        yield spawner


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    with closing(Supervisor(tmp_path, PRELOAD)) as supervisor:
        yield supervisor
