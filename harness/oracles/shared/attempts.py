"""Which attempt each subtask is in: regions that restart alone leave the others in theirs."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model.events import AttemptStarted, FailureCounted
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.layout import Layouts


def members(history: History, event: AttemptStarted | FailureCounted) -> tuple[str, ...]:
    """The subtasks that an attempt is one of, or that go down with a failure."""
    return event.subtasks or history.derived(Layouts).of(event).subtasks


def newest_attempts(history: History, attempts: Iterable[AttemptStarted]) -> dict[str, int]:
    """By subtask, the last of these attempts that it is in."""
    newest: dict[str, int] = {}
    for attempt in attempts:
        newest.update(dict.fromkeys(members(history, attempt), attempt.attempt))
    return newest
