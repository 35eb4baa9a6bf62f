"""Entry points by group and name, and `module:name`: how plugged-in code is found, and the error where it is not.

Looked up once and kept; nothing is imported before it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.metadata import entry_points as installed
from typing import Any

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site.foreign import SHIPPED, loading, require_place_for
from holdfast.harness.model.sentence import LISTED, known_names

GROUPS = {
    "systems": "a system under test, with the wrong variants and the formats that it brings",
    "parts": "factories of state backends, storages, file systems, sources, sinks",
    "faults": "ways to break a system",
    "oracles": "invariants",
    "workloads": "input whose right answer is known",
    "services": "who starts brokers and stores, and builds their images",
    "reporters": "what shows a journal, nights, a comparison, a matrix or pictures",
    "suites": "rules, cases, kits, scaffolds",
}
"""What third parties register, by the group of its entry points, `holdfast.GROUP`. There are no other groups."""
_WORD = r"[^\W\d]\w*(?:\.\w+)*"
NAMED = re.compile(rf"(?=(?<![\w./])({_WORD}:[^\W\d]\w*))")
"""Each module with a name, also where several stand side by side."""
LISTED_BY = {"rule": "holdfast rules", "area": "holdfast rules", "step": "holdfast mutants --table"}
"""By noun, the command that lists all names of which there are many."""


def names(group: str) -> tuple[str, ...]:
    """The names that are registered in a group, without loading anything."""
    return tuple(entries(group))


def strangers_in(name: str) -> tuple[str, ...]:
    """What does not ship with Holdfast of a system, as `module:name`, whoever registers it; nothing is imported."""
    found = (each for text in (name, module_of(name)) for each in NAMED.findall(text))
    return tuple(dict.fromkeys(each for each in found if not each.startswith(SHIPPED)))


def module_of(name: str) -> str:
    """Where a registered system is, as `module:name`, without importing it; empty: it is not registered."""
    entry = entries("systems").get(name.partition("+")[0])
    return entry.value if entry is not None else ""


def misplaced() -> Iterator[str]:
    """A sentence for each group with entry points that Holdfast does not read."""
    for group in sorted(installed().groups):
        if group.startswith("holdfast.") and group.removeprefix("holdfast.") not in GROUPS:
            names = ", ".join(repr(entry.name) for entry in installed(group=group))
            yield (
                f"{group} is no group of entry points, so nothing reads {names}; groups are {', '.join(GROUPS)}: see "
                "Interfaces in the documentation, and move it there."
            )


def unknown(noun: str, name: str, known: Iterable[str]) -> UsageError:
    """The one sentence for a name that does not exist; of many names it lists the nearest."""
    names = sorted(known)
    command = LISTED_BY.get(noun)
    where = f"; `{command}` lists all" if command and len(names) > LISTED else ""
    return UsageError(
        f"unknown {noun} {name!r}; {known_names(name, names) if names else 'known: none is installed'}{where}."
    )


@cache
def entries(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group, by name and in its order; nothing is loaded."""
    return {entry.name: entry for entry in sorted(installed(group=f"holdfast.{group}"), key=lambda each: each.name)}


def load_all(group: str) -> dict[str, Any]:
    """Load everything that is registered in a group, by name."""
    return {name: loaded(entry) for name, entry in entries(group).items()}


def registered(group: str, name: str, noun: str) -> Any:
    """
    Raises:
        UsageError: nothing of that name is registered.
    """
    entry = entries(group).get(name)
    if entry is None:
        raise UsageError(f"{unknown(noun, name, entries(group))} Or give it as module:name.")
    return loaded(entry)


@cache
def loaded(entry: EntryPoint) -> Any:
    with loading(
        f"entry point {entry.name!r} of {entry.group} names {entry.value!r}, which", "install the package again"
    ):
        return entry.load()


def imported(reference: str) -> Any:
    """What `module:name` names."""
    require_place_for(strangers_in(reference))
    module_name, _, name = reference.partition(":")
    with loading(repr(reference), "write it as importable.module:name, and mend what it raises"):
        return getattr(import_module(module_name), name)


def instantiated(thing: Any) -> Any:
    """A registered thing, or what its zero-argument factory makes."""
    if not callable(thing):
        return thing
    with loading(f"registered factory {thing!r}", "mend it or uninstall its package"):
        return thing()


def collected(entries: Iterable[EntryPoint]) -> list[Any]:
    """What entry points bring, where each is one thing or an iterable of them, or makes either."""
    found: list[Any] = []
    for entry in entries:
        one_or_several = instantiated(loaded(entry))
        if isinstance(one_or_several, Iterable):
            found.extend(one_or_several)
        else:
            found.append(one_or_several)
    return found


def by_module(entries: Iterable[EntryPoint]) -> dict[str, list[Any]]:
    """Load entry points, grouped by the module that each names; a package stands for all below it."""
    found: dict[str, list[Any]] = {}
    for entry in entries:
        found.setdefault(entry.module, []).extend(collected([entry]))
    return found
