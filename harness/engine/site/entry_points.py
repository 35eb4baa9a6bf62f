"""Entry points by group and name, and `module:name`: how what is plugged in is found, and what is said where it is not.

Looked up once and kept; nothing is imported before it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.metadata import entry_points as installed
from typing import Any

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site.foreign import SHIPPED, loading, require_place_for
from holdfast.harness.model.nearest import LISTED, known_names

_WORD = r"[^\W\d]\w*(?:\.\w+)*"
NAMED = re.compile(rf"(?=(?<![\w./])({_WORD}:[^\W\d]\w*))")
"""Each module with a name, also where several stand side by side."""
LISTED_BY = {"rule": "holdfast rules", "area": "holdfast rules", "step": "holdfast mutants --table"}
"""By noun, the command that lists all names of which there are many."""


def names(group: str) -> tuple[str, ...]:
    """What is registered in a group, without loading it."""
    return tuple(sorted(entries(group)))


def strangers_in(name: str) -> tuple[str, ...]:
    """What does not ship with Holdfast of a system, as `module:name`, whoever registers it; nothing is imported."""
    found = (each for text in (name, module_of(name)) for each in NAMED.findall(text))
    return tuple(dict.fromkeys(each for each in found if not each.startswith(SHIPPED)))


def module_of(name: str) -> str:
    """Where a registered system is, as `module:name`, without importing it; empty: it is not registered."""
    entry = entries("systems").get(name.partition("+")[0])
    return entry.value if entry is not None else ""


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
    """The entry points of a group, by name; nothing is loaded."""
    return {entry.name: entry for entry in installed(group=f"holdfast.{group}")}


def things(group: str) -> dict[str, Any]:
    """What is registered in a group, by name."""
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


def made(thing: Any) -> Any:
    """A registered thing, or what its zero-argument factory makes."""
    if not callable(thing):
        return thing
    with loading(f"registered factory {thing!r}", "mend it or uninstall its package"):
        return thing()


def collected(group: str) -> list[Any]:
    """The things of a group, where an entry point is one thing or an iterable of them, or makes either."""
    found: list[Any] = []
    for _, thing in sorted(things(group).items()):
        one_or_several = made(thing)
        if isinstance(one_or_several, Iterable):
            found.extend(one_or_several)
        else:
            found.append(one_or_several)
    return found
