"""What hangs in this process: it is left at once then, because an ordinary end waits for every thread."""

from __future__ import annotations

from collections.abc import Sequence

_noted: list[str] = []


def note(what: str) -> None:
    """Something does not return, and nobody waits for it any more."""
    _noted.append(what)


def noted() -> Sequence[str]:
    """All of that so far."""
    return tuple(_noted)
