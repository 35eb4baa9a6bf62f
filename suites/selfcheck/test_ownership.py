"""Parts of the protocol know nobody above them: imports run downwards only, and no class hangs in a class as a slot.

Whoever owns a part imports it, directly or by the module that lists the parts; a part that names its owner, even for
the type checker alone, closes a circle of imports. A variant is given its parts (see `Parts`), so no class attribute
holds a class that a subclass would exchange.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from holdfast.fixtures.reference import protocol
from holdfast.suites.selfcheck.source_files import source_files

PACKAGE = protocol.__name__


def imported(source: str) -> Iterator[str]:
    """Each module, or name in one, that a source imports anywhere; under TYPE_CHECKING as well."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def circle(sources: Mapping[str, str]) -> list[str]:
    """Modules that import each other in a circle, by name; the list is empty if there is none.

    A package counts as imported only by those that import names of it: its own modules do not.
    """
    edges = {
        name: {each for each in imported(source) if each in sources and not name.startswith(f"{each}.")}
        for name, source in sources.items()
    }
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def class_slots(source: str) -> list[str]:
    """Class attributes that hold a class, as `Class.attribute`; a field of a frozen dataclass is none."""
    return [
        f"{made.name}.{slot}"
        for made in ast.walk(ast.parse(source))
        if isinstance(made, ast.ClassDef)
        for node in made.body
        if (slot := _slot(node))
    ]


def _slot(node: ast.stmt) -> str:
    """The attribute that a statement makes a slot for a class; empty if it makes none."""
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).startswith("ClassVar[type["):
        return ast.unparse(node.target)
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)):
        return ""
    return ast.unparse(node.targets[0]) if node.value.id.lstrip("_")[:1].isupper() else ""


def _protocol() -> dict[str, str]:
    named = {}
    for path, source in source_files("fixtures/reference/protocol"):
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        named[f"holdfast.{module}"] = source
    return named


def test_no_part_of_the_protocol_names_its_owner() -> None:
    sources = _protocol()
    assert f"{PACKAGE}.tasks.task" in sources
    assert circle(sources) == []


def test_no_class_of_the_protocol_has_a_slot_for_a_class() -> None:
    assert [f"{name}: {slot}" for name, source in _protocol().items() for slot in class_slots(source)] == []


def test_a_part_that_names_its_owner_is_found_and_one_that_names_its_neighbour_is_not() -> None:
    owner = "from house.part import Part\nfrom house.neighbour import Neighbour\n"
    upward = "if TYPE_CHECKING:\n    from house.owner import Owner\n"
    sideways = "from house.neighbour import Neighbour\n"
    assert set(circle({"house.owner": owner, "house.part": upward, "house.neighbour": ""})) == {
        "house.owner",
        "house.part",
    }
    assert circle({"house.owner": owner, "house.part": sideways, "house.neighbour": ""}) == []


def test_a_slot_for_a_class_is_found_and_a_number_or_a_field_is_none() -> None:
    slots = "class Task:\n    output_class: ClassVar[type[Output]] = Output\n    meter = Meter\n"
    fields = "class Parts:\n    output: type[Output] = Output\n    most: ClassVar[int] = 3\n    blocking = True\n"
    assert class_slots(slots) == ["Task.output_class", "Task.meter"]
    assert class_slots(fields) == []
