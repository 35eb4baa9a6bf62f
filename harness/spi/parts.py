"""Parts that packages register: factories, each by its contract and a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

import msgspec

GROUP = "holdfast.parts"


class RegisteredPart(msgspec.Struct, frozen=True):
    """A factory that users reach by a name. An entry point in the group `holdfast.parts` names one, or an iterable of
    them.

    Attributes:
        contract: the name of its kit: `state-backend`, `checkpoint-storage`, `file-system`, `restart-strategy`,
            `source`, `sink`, or another one; or `state-backend-wrapper`: called with the factory of a state backend, it
            returns another.
        name: as users write it; of a checkpoint storage and of a file system the scheme of its URIs.
        factory: `module:name`, which is imported when it is first needed. A plan from a file may name it without the
            permission that other code needs.
    """

    contract: str
    name: str
    factory: str


class _Registered(NamedTuple):
    """What is registered, by contract and name, with who registers it; and what of it cannot be read."""

    parts: Mapping[tuple[str, str], tuple[RegisteredPart, EntryPoint]]
    problems: tuple[str, ...]


def part_names(contract: str) -> tuple[str, ...]:
    """The names that are registered for a contract."""
    return tuple(sorted(name for each, name in _registered().parts if each == contract))


def part_factories(names: Set[str] | None = None) -> frozenset[str]:
    """Registered factories, as `module:name`; none is imported.

    Args:
        names: only those of these names; None: all.
    """
    return frozenset(part.factory for part, _ in _registered().parts.values() if names is None or part.name in names)


def part_problems() -> tuple[str, ...]:
    """What is registered and cannot be read, one sentence each."""
    return _registered().problems


def part_named(contract: str, name: str) -> Any:
    """The factory itself.

    Raises:
        KeyError: the name is not registered.
        ImportError: what it needs is not installed.
    """
    part, entry = _registered().parts[contract, name]
    return EntryPoint(name, part.factory, entry.group).load()


def part_of_scheme(contract: str, uri: str) -> Any:
    """The factory that is registered for the scheme of a URI.

    Raises:
        ValueError: the URI has no scheme, or none that is registered, or what it needs is not installed.
    """
    noun = contract.replace("-", " ")
    scheme, separator, _ = uri.partition("://")
    known = part_names(contract)
    if not separator or scheme not in known:
        schemes = ", ".join(f"{name}://" for name in known) or "none is installed"
        raise ValueError(" ".join((f"{noun} {uri!r} has no known scheme; known: {schemes}.", *part_problems())))
    try:
        return part_named(contract, scheme)
    except ImportError as error:
        extra = _extra(_registered().parts[contract, scheme][1], error.name or "")
        remedy = f"; pip install '{extra}' brings it" if extra else ""
        raise ValueError(f"{noun} {uri!r} needs a package that is not installed: {error}{remedy}.") from error


@cache
def _registered() -> _Registered:
    found: dict[tuple[str, str], tuple[RegisteredPart, EntryPoint]] = {}
    problems = []
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        head = f"Entry point {entry.name!r} of {GROUP} names {entry.value!r}, which"
        try:
            named = entry.load()
            parts = tuple(named) if isinstance(named, Iterable) else (named,)
        except (Exception, SystemExit) as error:  # Whatever a package raises, parts of others are found.
            problems.append(f"{head} cannot be loaded ({type(error).__name__}: {error}): install it again.")
            continue
        for part in parts:
            if not isinstance(part, RegisteredPart):
                problems.append(f"{head} is or holds a {type(part).__name__}: name RegisteredParts.")
            elif found.setdefault((part.contract, part.name), (part, entry))[0] != part:
                problems.append(f"{head} holds a second {part.contract} {part.name!r}: give it another name.")
    return _Registered(found, tuple(problems))


def _extra(entry: EntryPoint, module: str) -> str:
    """The distribution of an entry point with the extra that brings a module; empty if none is named alike."""
    wanted = module.partition(".")[0].replace("_", "-").lower()
    for requirement in (entry.dist.requires if entry.dist else None) or ():
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*[\"']([\w.-]+)[\"']", requirement)
        if entry.dist and name and extra and name[0].replace("_", "-").lower() == wanted:
            return f"{entry.dist.name}[{extra[1]}]"
    return ""
