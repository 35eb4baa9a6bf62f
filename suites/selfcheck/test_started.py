"""Programs beside tests are started in one place, which kills them; and the bound on how long something may last."""

from __future__ import annotations

import ast
import os
import signal
from pathlib import Path
from threading import Event

import pytest

from holdfast.suites.selfcheck import soon
from holdfast.suites.selfcheck.soon import SharedProcessor, ends_within
from holdfast.suites.selfcheck.source_files import files_with
from holdfast.suites.selfcheck.started import Started

EXCEPTIONS = {
    "suites/selfcheck/abuse/invocation.py": "ends all that the program has started, not it alone",
    "suites/selfcheck/certify/test_children.py": "a child that a part leaves behind, which a fixture ends",
    "suites/selfcheck/flink/test_place.py": "stands in for a container, which a fixture ends",
    "suites/selfcheck/night/night.py": "a step of a night, which has a limit",
    "suites/selfcheck/spark/test_stage_supervisor.py": "stands in for nodes, which a fixture ends",
    "suites/selfcheck/structured_streaming/test_cluster_sessions.py": "stands in for a container, which its test ends",
}


def starts_a_program(source: str) -> bool:
    """Whether a source calls Popen."""
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return any("Popen" in (getattr(each, "id", ""), getattr(each, "attr", "")) for each in calls)


def test_programs_are_started_in_one_place() -> None:
    assert files_with(starts_a_program, "suites/selfcheck") == EXCEPTIONS.keys(), "use selfcheck.started.Started"


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("with subprocess.Popen(command) as harness: ...", True),
        ("harness = Popen(command)\nwith harness: ...", True),
        ("program = 'subprocess.Popen(command)'", False),
        ("with Started.python(program) as harness: ...", False),
    ],
)
def test_one_beside_them_is_seen(source: str, seen: bool) -> None:
    assert starts_a_program(source) is seen


def test_what_a_failing_test_has_started_is_killed() -> None:
    with pytest.raises(ZeroDivisionError), Started("sleep", "600") as sleeping:
        raise ZeroDivisionError
    assert sleeping.returncode == -signal.SIGKILL


def test_lines_go_to_and_fro() -> None:
    with Started.python("print(f'{input()} and back'); print('over')") as program:
        program.write_line("to")
        assert [program.read_line() for _ in range(3)] == ["to and back", "over", ""]


def test_what_lasts_too_long_fails() -> None:
    with pytest.raises(AssertionError, match=r"^it lasted .* threads to a processor"), ends_within(1e-6):
        Event().wait(0.02)


def test_what_ends_in_time_passes() -> None:
    with ends_within(60):
        pass


def test_what_fails_by_itself_says_so() -> None:
    with pytest.raises(KeyError, match="its own"), ends_within(1e-6):
        raise KeyError("its own")


@pytest.mark.parametrize(("runnable", "expected"), [(1, 1.0), (40, 40 / (os.cpu_count() or 1))])
def test_a_processor_is_shared_by_the_threads_that_could_run(
    runnable: int, expected: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = tmp_path / "loadavg"
    load.write_text(f"0.00 0.00 0.00 {runnable}/200 4711\n")
    monkeypatch.setattr(soon, "LOAD", load)
    assert SharedProcessor().close() == max(1.0, expected)
