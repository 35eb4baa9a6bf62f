"""What the `conftest.py` of this checkout adds to pytest: all processors, tests of one tier, how many are nightly."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast.harness

CHECKOUT = Path(holdfast.harness.__file__).parents[1]
SETTINGS = """
[tool.pytest]
addopts = ["-m", "not nightly"]
markers = ["nightly: by night", "share(every): one in every so many"]
"""
BODY = """
import pytest

def test_always():
    pass

@pytest.mark.nightly
def test_by_night():
    raise AssertionError("it is not night")

@pytest.mark.tier("nonesuch")
@pytest.mark.nightly
def test_that_no_machine_can_run():
    raise AssertionError("must not run")

@pytest.mark.tier("process")
def test_process():
    pass
"""
LIMIT_S = 60
SPREAD = "created: 3/3 workers"
"""On two processors."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(CHECKOUT / "conftest.py", tmp_path)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "test_few.py").write_text(BODY)
    return tmp_path


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "2")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("arguments", "spread"),
    [
        (("suites/",), True),
        (("suites/test_few.py",), False),
        (("suites/", "-n", "0"), False),
        (("suites/", "-p", "no:xdist"), False),
    ],
)
def test_a_folder_runs_on_all_processors_and_what_is_nightly_is_counted(
    arguments: tuple[str, ...], spread: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = run(folder, monkeypatch, *arguments)
    assert (SPREAD in text) is spread
    assert "2 passed" in text
    assert text.count("1 test is left to -m nightly.") == 1


def test_of_one_tier_only_what_needs_it_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = run(folder, monkeypatch, "suites/test_few.py", "--tier=process")
    assert "1 passed" in text
    assert "test_process" in text
    assert "nightly." not in text
