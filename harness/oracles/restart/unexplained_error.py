"""Processes that end with an error of their own, and failures without a cause, that no fault of the plan explains."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain

from holdfast.harness.model import events
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS

CLAUSES: Mapping[str, str] = {
    "ended-by-error": "a process ends with an error of its own that no fault of the plan explains",
    "failure-without-cause": "a failure is counted although nothing happened that could be its cause",
    "refused-by-store": "the store refuses a request of a process, and no fault of the plan explains that",
}
RECENT_NS = 1_000 * NS_PER_MS
"""So long an error of the store explains that the coordinator counts a failure that is no task's."""
_OF_THE_WORLD: tuple[type[events.Event], ...] = (events.StorageFailed, events.ObjectDamaged, events.InputTruncated)
_BEHIND_A_TASK: tuple[type[events.Event], ...] = (
    *_OF_THE_WORLD,
    events.NodeDied,
    events.RecordFailed,
    events.RecoveryFailed,
)


def judge_errors(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Name processes that ended by an error, and failures that were counted, where nothing explains them.

    Storage that failed, damaged objects, removed input, and faults that may cause it explain every error that does not
    come before them, in any process. That others are gone, silent, slow or out of order is what a process exists to
    bear. On a busy machine silence may be taken for a loss: there a failure needs no other cause.
    """
    if not history.of(events.AttemptStarted):
        return
    for death in history.of(events.NodeDied):
        if not death.by_error:
            continue
        findings.check("ended-by-error")
        if not _explained(history, death, _OF_THE_WORLD, exempt.acted(Consequence.FAILS_PROCESS)):
            message = f"{death.dead_node} ends by itself, with {death.cause}"
            findings.violated("ended-by-error", message, death)
    for failure in history.of(events.FailureCounted):
        if failure.failed_checkpoint or exempt.real_time:
            continue
        findings.check("failure-without-cause")
        if failure.subtask:
            explained = _explained(history, failure, _BEHIND_A_TASK, exempt.acted(Consequence.FAILS_TASK))
        else:
            explained = _explained(
                history, failure, (events.NodeDied, events.RecoveryFailed), exempt.acted(Consequence.LOSES_PROCESS)
            )
            explained = explained or any(
                abs(failure.time_ns - refused.time_ns) < RECENT_NS for refused in history.of(events.StorageFailed)
            )
        if not explained:
            message = f"a failure is counted ({failure.cause}), and nothing happened that could be its cause"
            findings.violated("failure-without-cause", message, failure)

    _judge_refusals(history, exempt, findings)


def _judge_refusals(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Judge errors of the store that no fault injected. Those of a superseded process, and those of a damaged object,
    are right."""
    if exempt.real_time or exempt.superseded:
        return
    findings.check("refused-by-store", len(history.of(events.FileWritten)))
    for refused in history.of(events.StorageFailed):
        explained = refused.injected or _explained(
            history, refused, (events.ObjectDamaged, events.InputTruncated), exempt.acted(Consequence.FAILS_STORAGE)
        )
        if not explained:
            message = f"the store refuses to {refused.operation} {refused.path}: {refused.reason}"
            findings.violated("refused-by-store", message, refused)


def _explained(
    history: History,
    error: events.Event,
    kinds: tuple[type[events.Event], ...],
    faults: Collection[events.FaultInjected],
) -> bool:
    """Whether anything explains an error: it does not come after the error, as far as one node has seen both."""
    return any(
        event.node != error.node or event.sequence < error.sequence for event in chain(faults, *map(history.of, kinds))
    )
