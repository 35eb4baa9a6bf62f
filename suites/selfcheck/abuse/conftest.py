"""What every abuse needs."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec
import pytest

from holdfast.faults.process import pause
from holdfast.fixtures import systems
from holdfast.harness.engine.artefacts.json_files import read_plan_file, write_plan
from holdfast.harness.model.plan import Bounds, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.plans import WORKERS, plan
from holdfast.suites.selfcheck.abuse.invocation import Invocation

Invoke = Callable[..., Invocation]
LONG_MS = 15_000
PATIENT = Bounds(safety_ms=LONG_MS, liveness_ms=LONG_MS)
PLANTED_MODULE = """
from pathlib import Path
Path({mark!r}).touch()
from holdfast.fixtures.systems.reference import ReferenceSystem as System
def renamed(variant=""):
    made = System()
    made.name = "planted:renamed"
    return made
"""


@pytest.fixture(autouse=True)
def linux_only() -> None:
    if sys.platform != "linux":
        pytest.skip("processes are found by /proc")


@pytest.fixture
def hangup_ends() -> Iterator[None]:
    """Whoever was started to outlive its terminal (`nohup`) ignores it, and so do those that it starts."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def invoke(tmp_path: Path) -> Iterator[Invoke]:
    """Starts a command, as often as it is called; nothing outlives the test."""
    with ExitStack() as stack:
        count = iter(range(100))
        yield lambda *arguments, **how: stack.enter_context(
            closing(Invocation(*arguments, log=tmp_path / f"{next(count)}.log", **how))
        )


@pytest.fixture
def paused_worker(tmp_path: Path) -> Path:
    """A plan that stops a worker for long."""
    return _written(tmp_path, plan(pause(WORKERS[0], LONG_MS, after_checkpoint=1), bounds=PATIENT))


@pytest.fixture
def paused_coordinator(tmp_path: Path) -> Path:
    """A plan that stops the coordinator for long."""
    return _written(tmp_path, plan(pause(COORDINATOR, LONG_MS, after_checkpoint=1), bounds=PATIENT))


@pytest.fixture
def any_plan(tmp_path: Path) -> Path:
    """A plan that would pass."""
    return _written(tmp_path, plan())


@pytest.fixture
def program_plan(tmp_path: Path) -> Path:
    """A plan for a program over JSON lines, which stops it for long."""
    killing = read_plan_file(Path(systems.__file__).parent / "plans" / "kill.json")
    return _written(
        tmp_path, msgspec.structs.replace(killing, faults=(pause(WORKERS[0], LONG_MS, after_rows=1),), bounds=PATIENT)
    )


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once the code of the module `planted`, or of the file beside it, was run."""
    mark = tmp_path / "was-run"
    (tmp_path / "planted.py").write_text(PLANTED_MODULE.format(mark=str(mark)))
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "planted", raising=False)
    monkeypatch.chdir(tmp_path)
    return mark


def _written(folder: Path, wanted: Plan) -> Path:
    path = folder / "plan.json"
    write_plan(path, wanted)
    return path
