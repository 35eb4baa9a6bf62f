"""One compiler: the metadata ask for the one that `setup.py` takes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def test_the_metadata_ask_for_the_compiler_that_setup_takes() -> None:
    setup, project = ROOT / "setup.py", ROOT / "pyproject.toml"
    if not setup.exists():
        pytest.skip("no checkout")
    lines = setup.read_text().splitlines()
    [taken] = [line.split('"')[1] for line in lines if line.startswith("MYPY =")]
    major, minor = taken.rstrip(".").split(".")
    extras = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    [asked] = [each for extra in extras.values() for each in map(Requirement, extra) if each.name == "mypy"]
    assert f"{taken}0" in asked.specifier
    assert f"{taken}99" in asked.specifier
    assert f"{major}.{int(minor) + 1}.0" not in asked.specifier
    assert f"{major}.{int(minor) - 1}.9" not in asked.specifier
