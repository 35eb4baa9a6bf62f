"""The parts of the tests: each test is in one of them, and the same each time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
