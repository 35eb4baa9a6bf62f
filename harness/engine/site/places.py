"""From a rule to its code in one hop: the case, the clause, the wrong variant and the place in the reference.

Each is found in the source of the thing itself. What keeps a rule in the reference is what its docstrings name it in,
and what the wrong variants of its cases replace: the step that breaks the rule where it is taken wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import code, registry
from holdfast.harness.engine.site.foreign import loading
from holdfast.harness.engine.site.sources import Way
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.place import Part, Place
from holdfast.harness.spi.code import Code, ShowsCode, SystemCode

REFERENCE = "reference"
"""The system whose code shows how a rule can be kept."""


class Found(NamedTuple):
    """A place, and the file of this machine that it is in."""

    place: Place
    file: Path


def places_of(rule: str, cases: Iterable[Case]) -> tuple[Found, ...]:
    """Where the parts of a rule are written down, each once; none of a part that the rule does not have.

    Args:
        rule: its id.
        cases: all that exist.
    """
    deciding = [case for case in cases if any(each.rule == rule for each in case.decides)]
    decisions = [each for case in deciding for each in case.decides if each.rule == rule]
    found = [_found(Part.CASE, case.id, _case_line(case)) for case in deciding]
    for clause in dict.fromkeys((each.oracle, name) for each in decisions for name in each.clauses):
        found += [_found(Part.CLAUSE, "/".join(clause), line) for line in _clause_lines(*clause)]
    wrong = {each.mutant: each for each in decisions}
    found += [_found(Part.VARIANT, name, _variant_line(each)) for name, each in wrong.items()]
    found += [_found(Part.REFERENCE, line.name, line) for line in _kept_in(rule, wrong.values())]
    return tuple(dict.fromkeys(each for each in found if each is not None))


def read_places() -> Iterator[tuple[Found, ...]]:
    """Those of each rule: whoever wants them later has not to wait until all sources are parsed."""
    return (places_of(rule.id, registry.cases()) for rule in registry.rules())


def _found(part: Part, name: str, line: code.Line | None) -> Found | None:
    return line and Found(Place(part, name, code.short(line.file), line.number), line.file)


# --- the case ---


def _case_line(case: Case) -> code.Line | None:
    """Where its id is written, in full or as a pattern such as `f"coordinator/withheld-{role}"`."""
    module = next((module for module, cases in registry.cases_by_module().items() if case in cases), "")
    source = code.source_of(module)
    number = source.texts.get(case.id) if source else None
    if source and number is None:
        fitting = [each for each in source.patterns if re.fullmatch(each, case.id)]
        number = source.patterns[max(fitting, key=len)] if fitting else None
    return None if number is None else next(code.lines_at(module, [number]), None)


# --- the clause ---


@cache
def _clause_lines(oracle: str, clause: str) -> tuple[code.Line, ...]:
    """Where an oracle finds its clause violated; where it does so by a variable, where that gets its value."""
    modules = [
        module
        for package, oracles in registry.oracles_by_module().items()
        for each in oracles
        if each.name == oracle
        for module in code.imported_below(type(each).__module__, package)
    ]
    read = {module: source for module in modules if (source := code.source_of(module))}
    for way in Way:
        numbers = {module: source.clauses.get((way, clause), ()) for module, source in read.items()}
        if any(numbers.values()):
            return tuple(line for module, found in numbers.items() for line in code.lines_at(module, found))
    return ()


# --- the wrong variant, and what it replaces ---


@cache
def _system_code(name: str) -> SystemCode:
    """The code of a system; of one that cannot be made here, none: a library or a program is missing."""
    try:
        system = registry.system(name)
        with loading(f"the code of system {name!r}", "mend its method code"):
            return system.code() if isinstance(system, ShowsCode) else SystemCode()
    except UsageError:
        return SystemCode()


def _variant_line(decision: Decision) -> code.Line | None:
    if decision.hand_made:
        made = registry.history(decision.hand_made)
        return code.line_of(made) if made else None
    return next(_lines(_system_code(decision.wrong_system).variant), None)


def _kept_in(rule: str, decisions: Iterable[Decision]) -> Iterator[code.Line]:
    for package in _system_code(REFERENCE).packages:
        yield from code.documented(package).get(rule, ())
    for decision in decisions:
        if decision.wrong_system.partition("+")[0] == REFERENCE:
            yield from _lines(_system_code(decision.wrong_system).replaced)


def _lines(codes: Iterable[Code]) -> Iterator[code.Line]:
    return (line for each in codes if (line := code.line_of(each)) is not None)
