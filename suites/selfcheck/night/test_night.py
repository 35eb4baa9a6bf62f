"""A night: limits are kept, what was interrupted is run again, what failed stays failed until it is run by name."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.suites.selfcheck.certify.ten_of_ten import KITS
from holdfast.suites.selfcheck.night.__main__ import main
from holdfast.suites.selfcheck.night.steps import MOST_MINUTES, OTHER_KITS, STEPS, Step
from holdfast.suites.selfcheck.source_files import ROOT

LONG = "sleep 300"
RECORD = "steps.jsonl"


@pytest.fixture(autouse=True)
def no_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests have containers of their own at the same time."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///none")


def step(name: str, command: str, minutes: float = 1) -> Step:
    return Step(name, minutes, (), command)


def record(nights: Path) -> str:
    [folder] = nights.iterdir()
    return (folder / RECORD).read_text()


def has_ended(pid_file: Path) -> bool:
    """Whether a process ends within a moment, long before it would by itself."""
    try:
        process = os.pidfd_open(int(pid_file.read_text()))
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 5)[0])
    finally:
        os.close(process)


def test_all_limits_fit_into_a_night() -> None:
    assert sum(step.minutes for step in STEPS) <= MOST_MINUTES
    assert len({step.name for step in STEPS}) == len(STEPS)


def test_no_kit_is_left_out_of_both_processes() -> None:
    assert {"state-backend", *OTHER_KITS} == KITS.keys()


def test_the_script_prepares_what_a_step_needs() -> None:
    script = ROOT / ".ci" / "nightly"
    if not script.exists():
        pytest.skip("no checkout")
    defined = set(re.findall(r"^need_(\w+)\(\)", script.read_text() + (ROOT / ".ci/prepare").read_text(), re.MULTILINE))
    assert {need for step in STEPS for need in step.needs} <= defined


def test_a_step_over_its_limit_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    steps = [step("slow", f"setsid {LONG} & echo $! >{pid}; {LONG}", 0.02), step("next", "true")]
    assert main([], steps, tmp_path / "nights") == 1
    assert has_ended(pid)
    assert '"verdict":"NOT as expected: ended at its limit of 0.02 min"' in record(tmp_path / "nights")
    assert '"step":"next"' in record(tmp_path / "nights")


def test_a_step_that_leaves_a_process_is_not_as_expected(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    # Until then it is a copy of the shell, or setsid.
    begun = 'until read -rd "" name </proc/$!/cmdline && [ "$name" = sleep ]; do :; done'
    assert main([], [step("leaves", f"setsid {LONG} & echo $! >{pid}; {begun}")], tmp_path / "nights") == 1
    assert has_ended(pid)
    assert f"left behind: {LONG}" in record(tmp_path / "nights")


def test_a_failed_step_counts_until_it_is_run_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nights, times, mended = tmp_path / "nights", tmp_path / "times", tmp_path / "mended"
    steps = [step("fails", f"echo begun >>{times}; echo because >&2; [ -e {mended} ]"), step("succeeds", "true")]
    assert main([], steps, nights) == 1
    assert "    because\n" in capsys.readouterr().out
    mended.touch()
    assert main([], steps, nights) == 1
    assert times.read_text() == "begun\n"
    assert "1 not as expected" in capsys.readouterr().out
    assert main(["fails"], steps, nights) == 0
    assert main([], steps, nights) == 0
    assert times.read_text() == "begun\n" * 2


def test_what_this_machine_lacks_is_listed_and_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [step("elsewhere", "exit 77")], tmp_path / "nights") == 0
    assert "not tried: this machine does not have it" in capsys.readouterr().out


def test_an_interrupted_step_is_run_again_and_a_finished_one_is_not(tmp_path: Path) -> None:
    nights, times, pid, again = (tmp_path / name for name in ("nights", "times", "pid", "again"))
    first = step("first", f"echo first >>{times}")
    second = step(
        "second", f"echo second >>{times}; [ -e {again} ] || {{ {LONG} & echo $! >{pid}; kill $PPID; wait; }}"
    )
    program = (
        "from pathlib import Path, PosixPath\n"
        "from holdfast.suites.selfcheck.night.__main__ import main\n"
        "from holdfast.suites.selfcheck.night.steps import Step\n"
        f"raise SystemExit(main([], {[first, second]!r}, {nights!r}))"
    )
    command = (sys.executable, "-c", program)
    assert subprocess.run(command, capture_output=True).returncode == 143
    assert has_ended(pid)
    again.touch()
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert times.read_text().split() == ["first", "second", "second"]


TESTS = "import pytest\n\n@pytest.mark.parametrize('number', range(20))\ndef test_something(number):\n    pass\n"


def collected(folder: Path, part: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_some.py").write_text(TESTS)
    options = ("-p", "no:cacheprovider", "-p", "holdfast.suites.selfcheck.night.part", "--part", part)
    command = (sys.executable, "-m", "pytest", "--collect-only", "--quiet", *options, "test_some.py")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_all_parts_together_are_all_tests(tmp_path: Path) -> None:
    first, second = (
        [line for line in collected(tmp_path, f"{part}/2").stdout.splitlines() if "::" in line] for part in range(2)
    )
    assert first
    assert second
    assert sorted([*first, *second]) == sorted(f"test_some.py::test_something[{number}]" for number in range(20))


@pytest.mark.parametrize("part", ["3/3", "1"])
def test_what_is_no_part_is_refused(tmp_path: Path, part: str) -> None:
    answer = collected(tmp_path, part)
    assert answer.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--part {part} is no part: write K/N" in answer.stdout + answer.stderr
