"""Oracles lie where the rules lie that they decide: in folders named as the areas of the rules."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.harness import oracles
from holdfast.harness.spi.oracle import titles_of
from holdfast.suites import spec

HOME = Path(oracles.__file__).parent
README = HOME.parent / "README.md"
AREAS = {each.stem for each in Path(spec.__file__).parent.glob("*.toml")}
BESIDE = {"liveness", "output"}


def test_every_oracle_lies_in_an_area_of_the_rules() -> None:
    folders = {type(each).__module__.split(".")[-2] for each in oracles.ORACLES}
    assert folders - AREAS == BESIDE


def test_every_folder_of_the_oracles_holds_one_or_is_shared() -> None:
    folders = {each.parent.name for each in HOME.glob("*/__init__.py")}
    assert folders - {type(each).__module__.split(".")[-2] for each in oracles.ORACLES} == {"shared"}


def test_the_readme_lists_every_oracle_by_area_name_and_title() -> None:
    listed = re.findall(r"^\| `([a-z_]+)` \| `([A-Z]+)` \| ([a-z -]+) \|$", README.read_text(encoding="utf-8"), re.M)
    titles = titles_of(oracles.ORACLES)
    assert listed == sorted(
        (type(each).__module__.split(".")[-2], each.name, titles[each.name]) for each in oracles.ORACLES
    )
