"""The windows that runs hit, in one sentence: what was never put to the test first."""

from __future__ import annotations

from holdfast.harness.model.journal import Journal
from holdfast.harness.model.window import MEANINGS
from holdfast.reports.text import count, plural


def hit(journal: Journal, most: int = 0) -> str:
    """Which windows no run hit, and how many runs hit which; empty if no run aimed at one or hit one.

    Args:
        journal: what happened.
        most: how many of those that were hit are named; 0: all.
    """
    card = journal.certificate
    named = {window.value for window in MEANINGS}
    # Windows of the system itself come before those that a fault aimed at: cases demand only these.
    by_runs = sorted(card.windows_hit.items(), key=lambda each: (each[0] not in named, -each[1], each[0]))
    shown = by_runs[:most] if most else by_runs
    parts = []
    if card.windows_missed:
        parts.append(
            f"windows that no run hit: {', '.join(sorted(card.windows_missed, key=lambda it: it not in named))}"
        )
    if shown:
        first, *others = shown
        words = [f"{first[0]} in {plural(first[1], 'run')}", *(f"{name} in {count(runs)}" for name, runs in others)]
        more = len(by_runs) - len(shown)
        parts.append(f"windows hit: {', '.join(words)}{f', and {more} more' if more else ''}")
    return "; ".join(parts)
