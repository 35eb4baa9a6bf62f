"""Whether two summaries of the state of a subtask contradict each other."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.oracles.recovery.operator_state import SPLIT


def differ(one: events.StateSummary | None, other: events.StateSummary | None) -> bool:
    """Whether two summaries contradict each other; what only one of them tells does not."""
    if one is None or other is None:
        return False
    if one.entries is not None and other.entries is not None and one.entries != other.entries:
        return True
    if one.broadcast is not None and other.broadcast is not None and one.broadcast != other.broadcast:
        return True
    if _split(one) != _split(other):
        return True
    return (one.keys, one.records, one.value, one.digest) != (other.keys, other.records, other.value, other.digest)


def _split(state: events.StateSummary) -> list[events.ListSummary]:
    """List state that no other subtask may be given."""
    return [each for each in state.lists if each.mode == SPLIT]
