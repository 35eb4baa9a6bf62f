"""Numbers and names in sentences: singular or plural, and the known names that a wrong one may stand for."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def plural(number: int, one: str, several: str = "") -> str:
    """`1 record`, `7 records`; with both forms also `1 record is lost`, `7 records are lost`."""
    return f"{number} {one if number == 1 else several or one + 's'}"


LISTED = 10
"""So many names a sentence lists in full."""
SHOWN = 5
"""Of more names it shows so many."""


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """At most SHOWN known names that a mistyped or shortened one may stand for, the likeliest first."""
    by_lower: dict[str, str] = {}
    for each in known:
        by_lower.setdefault(each.lower(), each)
    lower = name.lower()
    alike = get_close_matches(lower, by_lower, n=SHOWN)
    holding = [each for each in by_lower if lower and lower in each]
    return tuple(by_lower[each] for each in dict.fromkeys((*alike, *holding)))[:SHOWN]


def known_names(name: str, known: Iterable[str], listed: str = "known:") -> str:
    """What follows `... is unknown; `: all names that there are, and of more than LISTED the nearest alone.

    Args:
        name: that is unknown.
        known: those that exist, in the order in which they are listed.
        listed: what stands before the list of all, such as `allowed are`.
    """
    names = list(dict.fromkeys(known))
    if len(names) <= LISTED:
        return f"{listed} {', '.join(names) or 'none'}"
    if near := nearest(name, names):
        return f"the nearest of {len(names)} {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    return f"none of {len(names)} is near, some are {', '.join(names[:SHOWN])}"
