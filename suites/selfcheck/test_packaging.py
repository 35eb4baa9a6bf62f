"""What pyproject.toml says: the name of the distribution, its extras, and that a kit needs none of them."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

import holdfast.suites
from holdfast.harness.engine.site import machine
from holdfast.harness.model.distribution import DISTRIBUTION, install_command

ROOT = Path(holdfast.suites.__path__[0]).parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
NOT_FOR_USERS = frozenset({"all", "develop", "docs", "spark-newest"})
"""The last is `spark` with another PySpark: no environment has both."""
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
