"""Programs that die without a fault of ours: how often, and what they wrote last."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.model.events import BY_HARNESS, NodeDied, StateFound
from holdfast.harness.model.history import History
from holdfast.harness.model.plural import plural
from holdfast.harness.model.topology import process_of


def own_deaths(history: History) -> Iterator[str]:
    """One sentence for each program that died by itself; nothing where a system is not a program of the user's."""
    if not history.of(StateFound):
        return
    causes: dict[str, list[str]] = {}
    for died in history.of(NodeDied):
        if died.cause not in BY_HARNESS:
            causes.setdefault(process_of(died.dead_node), []).append(died.cause)
    for process, theirs in causes.items():
        yield f"{process} died {plural(len(theirs), 'time')} by itself, the last time with {theirs[-1]}"
