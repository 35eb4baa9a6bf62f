"""What pyproject.toml says, and what the `conftest.py` of this checkout adds to pytest."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

import holdfast.harness
import holdfast.suites
from holdfast.harness.engine.site import machine
from holdfast.harness.model.command_line import DISTRIBUTION, install_command
from holdfast.suites.selfcheck.source_files import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
NOT_FOR_USERS = frozenset({"all", "develop", "docs", "spark-newest", "spark35"})
"""The last two are `spark` with another PySpark: no environment has both."""
READ = (".md", ".py", ".toml", ".yml", ".txt", ".sh", "")
"""Suffixes of the files that may print or write a command of pip."""
STRANGER = re.compile(r"pip install(?: -\S+)* '?holdfast(?![\w-])(?!/)|(?<![\w./-])holdfast\[")
"""A command, or a requirement, that names the package of somebody else on PyPI."""


def expanded(extra: str) -> set[str]:
    """The extras that an extra brings, itself included."""
    found = {extra}
    for requirement in EXTRAS[extra]:
        if own := re.fullmatch(rf"{DISTRIBUTION}\[([\w,-]+)\]", requirement):
            for each in own[1].split(","):
                found |= expanded(each)
    return found


def test_the_name_is_that_of_the_code() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert metadata(DISTRIBUTION)["Name"] == DISTRIBUTION
    assert install_command("spark", "containers") == f"pip install '{DISTRIBUTION}[spark,containers]'"


def test_the_extra_all_is_every_extra_of_a_user() -> None:
    assert expanded("all") - {"all"} == EXTRAS.keys() - NOT_FOR_USERS


def test_what_draws_the_programs_of_kits_is_always_there() -> None:
    assert any(each.startswith("hypothesis") for each in PROJECT["dependencies"])


def stranger_in(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if STRANGER.search(line)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$ pip install holdfast", True),
        ("- run: pip install 'holdfast[spark]'", True),
        ("install holdfast[services]", True),
        ("pip install -U holdfast", True),
        ("$ pip install '../holdfast[test]'", False),
        ("pip install 'holdfast-chaos[spark]'", False),
        ('pip install "$(ls wheels/holdfast_chaos-*.whl)[spark]"', False),
    ],
)
def test_a_package_of_somebody_else_is_noticed(text: str, found: bool) -> None:
    assert bool(stranger_in(text)) is found


def test_nothing_tells_anybody_to_install_the_package_of_somebody_else() -> None:
    read = [
        path
        for top in ("harness", "faults", "fixtures", "suites", "reports", "docs", ".ci")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and path.suffix in READ and path != Path(__file__).resolve()
    ]
    read += [path for path in ROOT.iterdir() if path.is_file() and path.suffix in READ]
    assert len(read) > 500
    wrong = {str(path.relative_to(ROOT)): lines for path in read if (lines := stranger_in(path.read_text("utf-8")))}
    assert wrong == {}


def test_a_tier_that_lacks_packages_names_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    assert install_command("spark") in machine._lacking_for_spark()
    assert install_command("spark", "containers") in machine._lacking_for_containers()


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
