"""A fault names what it needs, an adapter offers that, and nobody else knows the kind of a fault."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

import pytest

from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.spi.fault import command_of, needs_of
from holdfast.suites.selfcheck.source_files import files_with

KINDS = frozenset(registry.toolbox().faults)


def spelled(source: str) -> Iterator[tuple[int, str]]:
    """Where something of which a `kind` is asked is compared with the kind of a fault: line and kind."""
    tree, constants = ast.parse(source), dict[str, set[str]]()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            pairs: Iterable[tuple[ast.expr, ast.expr]] = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = zip(target.elts, value.elts, strict=True)
            constants |= {ast.unparse(each): set(_texts(part, constants)) for each, part in pairs}
    for each in ast.walk(tree):
        if isinstance(each, ast.Compare):
            sides = (each.left, *each.comparators)
            if any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides):
                yield from ((each.lineno, text) for side in sides for text in _texts(side, constants) if text in KINDS)


def _texts(node: ast.AST, constants: Mapping[str, set[str]]) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
        elif isinstance(each, ast.Name):
            yield from constants.get(each.id, ())


@pytest.mark.parametrize(
    "source",
    ["fault.kind == 'kill'", "A, B = 'cut', 'x'\nfault.kind in (B, A)", "K = frozenset({'kill'})\neach.kind not in K"],
)
def test_a_kind_that_is_spelled_is_noticed(source: str) -> None:
    assert len(list(spelled(source))) == 1


def test_no_adapter_spells_the_kind_of_a_fault() -> None:
    found = files_with(lambda text: [*spelled(text)], "fixtures", "harness/adapter", but_for=("fixtures/mutants/",))
    assert found == set()


@pytest.mark.parametrize(
    ("spec", "needed", "command"),
    [
        (FaultSpec("kill", COORDINATOR), Capability.KILL_COORDINATOR, ""),
        (FaultSpec("outage", Target(Role.STORAGE)), Capability.STOP_STORAGE, ""),
        (FaultSpec("suspend", COORDINATOR, Schedule()), Capability.JOB_CONTROL, "suspend"),
        (FaultSpec("no-such-fault", COORDINATOR), "", ""),
    ],
)
def test_what_a_fault_needs_and_commands_is_known_by_its_entry_point(
    spec: FaultSpec, needed: str, command: str
) -> None:
    assert (needs_of(spec), command_of(spec)) == (needed, command)
