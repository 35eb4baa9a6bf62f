"""The rule catalogue: what is required, as data.

One TOML file per area lies in this folder; README.md describes the format. The engine asks for the rules through
the suites that are registered, so a third party can bring a catalogue of its own and read it with `parse_sources` and
`parse_rules`.

A catalogue is refused as a whole if one entry is wrong: a rule that silently went missing would make every certificate
drawn from it too good.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import msgspec

from holdfast.harness.model.rule import Decidability, Level, Rule, Source, Subject
from holdfast.suites.spec.sources import SOURCES, cited, parse_sources

__all__ = ["area_files", "load_rules", "parse_rules", "parse_sources"]


class _Area(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    area: str
    title: str
    rule: list[dict[str, Any]]


COSTS = "costs.toml"
"""Beside the areas: what cases cost (costs.py)."""
_INHERITED = ("area", "title")
_FORMAT = (
    "a file has area, title and [[rule]] tables; a rule has id (like BAR-03), "
    f"level ({', '.join(Level)}), subjects ({', '.join(Subject)}), decidability ({', '.join(Decidability)}), "
    "text, why, oracle, sources and, if wanted, must_for_reference"
)


@cache
def load_rules() -> tuple[Rule, ...]:
    """All rules of this catalogue, in order of their ids."""
    table = resources.files(__name__).joinpath(SOURCES).read_text(encoding="utf-8")
    return parse_rules(
        ((entry.name, entry.read_text(encoding="utf-8")) for entry in area_files()), parse_sources(SOURCES, table)
    )


def area_files() -> list[Traversable]:
    """The files of the catalogue, one for each area."""
    files = resources.files(__name__).iterdir()
    return [entry for entry in files if entry.name.endswith(".toml") and entry.name not in (COSTS, SOURCES)]


def parse_rules(files: Iterable[tuple[str, str]], sources: Mapping[str, Source]) -> tuple[Rule, ...]:
    """The rules of (file name, TOML text) pairs, in order of their ids; ValueError names the file and the rule.

    Args:
        sources: by key, as `parse_sources` reads them; rules cite the keys.
    """
    file_of_area: dict[str, str] = {}
    file_of_rule: dict[str, str] = {}
    rules: list[Rule] = []
    # Sorted, because a folder lists its files in any order and a refusal must name the same file every time.
    for name, text in sorted(files):
        area = _parse_area(name, text)
        if area.area in file_of_area:
            raise ValueError(
                f"{name}: area {area.area!r} is already that of {file_of_area[area.area]}; an area is one file."
            )
        file_of_area[area.area] = name
        for rule in _rules_of(name, area, sources):
            if rule.id in file_of_rule:
                raise ValueError(
                    f"{name}: rule {rule.id} is already in {file_of_rule[rule.id]}; give the new one a free number."
                )
            file_of_rule[rule.id] = name
            rules.append(rule)
    return tuple(sorted(rules, key=lambda rule: rule.id))


def _parse_area(name: str, text: str) -> _Area:
    try:
        return msgspec.convert(tomllib.loads(text), _Area)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name}: not valid TOML: {error}.") from error
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}; {_FORMAT}.") from error


def _rules_of(name: str, area: _Area, sources: Mapping[str, Source]) -> Iterator[Rule]:
    for number, table in enumerate(area.rule, start=1):
        label = f"{name}: rule {table.get('id', f'number {number}, which has no id')}"
        for key in _INHERITED:
            if key in table:
                raise ValueError(f"{label}: {key!r} belongs to the file, not to a rule; {_FORMAT}.")
        whole = {**table, "area": area.area, "title": area.title}
        if isinstance(keys := table.get("sources"), list):
            whole["sources"] = tuple(cited(key, sources, label) if isinstance(key, str) else key for key in keys)
        try:
            rule = msgspec.convert(whole, Rule)
        except msgspec.ValidationError as error:
            raise ValueError(f"{label}: {error}{_value_named(table, error)}; {_FORMAT}.") from error
        if not rule.why:
            raise ValueError(f"{label}: why is empty; say in one line what a user loses where the rule is broken.")
        yield rule


def _value_named(table: dict[str, Any], error: msgspec.ValidationError) -> str:
    """The refused value, where the error names only its place (`... - at `$.id``)."""
    _, found, place = str(error).rpartition(" - at `$.")
    field = place.rstrip("`").partition("[")[0]
    return f", given {table[field]!r}" if found and field in table else ""
