"""The windows that runs hit, and those that none did, each in one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model.journal import Journal
from holdfast.harness.model.window import MEANINGS
from holdfast.reports.text import count, plural


def missed(journal: Journal, most: int = 0) -> str:
    """Which windows no run hit; empty if none is left.

    Args:
        journal: what happened.
        most: how many are named; 0: all.
    """
    names = _in_order(journal.certificate.windows_missed)
    shown = names[:most] if most else names
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"windows that no run hit: {', '.join(shown)}{more}" if names else ""


def _in_order(windows: Iterable[str]) -> list[str]:
    """Those of the system itself come before those that a fault aimed at: cases demand only these."""
    named = {window.value for window in MEANINGS}
    return sorted(windows, key=lambda window: (window not in named, window))


def hit(journal: Journal) -> str:
    """How many runs hit which; empty if none hit one."""
    found = journal.certificate.windows_hit
    named = {window.value for window in MEANINGS}
    ordered = sorted(found, key=lambda window: (window not in named, -found[window], window))
    if not ordered:
        return ""
    first, *others = ordered
    words = [f"{first} in {plural(found[first], 'run')}", *(f"{name} in {count(found[name])}" for name in others)]
    return f"windows hit: {', '.join(words)}"
