"""What registered suites bring, each thing as if an entry point of its own named it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points
from holdfast.harness.spi.suite import Suite

_GROUP = "holdfast.suites"


def brought(field: str) -> list[EntryPoint]:
    """All of a kind, such as `cases`; nothing of it is loaded."""
    return [EntryPoint(field, reference, _GROUP) for suite in _suites() for reference in getattr(suite, field)]


def named(field: str) -> dict[str, EntryPoint]:
    """The same of a kind that is brought by name, such as `kits`."""
    found = [each for suite in _suites() for each in getattr(suite, field).items()]
    return {name: EntryPoint(name, reference, _GROUP) for name, reference in sorted(found)}


def one(field: str, name: str, noun: str) -> Any:
    """The thing of that name.

    Raises:
        UsageError: nobody brings it, or it cannot be loaded.
    """
    known = named(field)
    if name not in known:
        raise entry_points.unknown(noun, name, known)
    return entry_points.made(entry_points.loaded(known[name]))


def _suites() -> Iterator[Suite]:
    for each in entry_points.collected(entry_points.entries("suites").values()):
        if not isinstance(each, Suite):
            raise UsageError(f"{each!r} is registered under {_GROUP} and is no Suite: see holdfast.harness.spi.suite.")
        yield each
