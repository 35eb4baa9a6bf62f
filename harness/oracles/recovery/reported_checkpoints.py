"""RESUME: a program that starts again continues from the newest checkpoint that it has reported (RULES REC-01, REC-02).

The program itself reports what it completes and restores. The adapter checks that no checkpoint covers what was never
sent.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.topology import process_of
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay


class ReportedCheckpointsOracle:
    """Follows the reports of each process from life to life."""

    name = "RESUME"
    title = "reported checkpoints"
    invariant = (
        "A program restores the newest checkpoint that it has reported, and continues at its positions or later."
    )
    clauses: Mapping[str, str] = {
        "older-restored": "a program restores an older checkpoint than the newest that it has reported complete",
        "nothing-restored": "a program begins from no checkpoint though it has reported one complete",
        "position-behind": "a program is ready at an earlier position than the checkpoint records that it restored",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.StateRestored,
        events.CheckpointCompleted,
        events.ProgramReady,
    )

    def applies(self, history: History) -> bool:
        return bool(history.of(events.ProgramReady) and history.of(events.CheckpointCompleted))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        trace = _Trace(findings)
        replay(
            history,
            {
                events.CheckpointCompleted: trace.complete,
                events.StateRestored: trace.restore,
                events.ProgramReady: trace.begin,
                events.ObjectDamaged: trace.forget,
                events.JobSubmitted: trace.forget,
            },
        )
        return findings.verdict(history)


class _Trace:
    """What each process has reported so far. After the harness has damaged a store, or replaced it by others, earlier
    reports promise nothing."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._newest: dict[str, events.CheckpointCompleted] = {}
        self._by_number: dict[tuple[str, int], events.CheckpointCompleted] = {}
        self._restored: dict[str, events.StateRestored] = {}

    def complete(self, event: events.CheckpointCompleted) -> None:
        process = process_of(event.node)
        self._newest[process] = self._by_number[process, event.checkpoint] = event

    def restore(self, event: events.StateRestored) -> None:
        process = process_of(event.node)
        self._restored[process] = event
        newest = self._newest.get(process)
        if newest is None:
            return
        self._findings.check("older-restored")
        if event.checkpoint < newest.checkpoint:
            message = f"life {event.attempt} restores checkpoint {event.checkpoint}, {newest.checkpoint} was complete"
            self._findings.violated("older-restored", message, newest, event)

    def begin(self, event: events.ProgramReady) -> None:
        process = process_of(event.node)
        restored, newest = self._restored.pop(process, None), self._newest.get(process)
        if newest is None:
            return
        self._findings.check("nothing-restored")
        if restored is None:
            message = f"life {event.attempt} restores nothing, checkpoint {newest.checkpoint} was complete"
            self._findings.violated("nothing-restored", message, newest, event)
            return
        recorded = self._by_number.get((process, restored.checkpoint))
        if recorded is None:
            return  # It was complete, and its report was lost with the process.
        self._findings.check("position-behind")
        for partition, (position, wanted) in enumerate(zip(event.positions, recorded.positions, strict=False)):
            if position < wanted:
                message = (
                    f"life {event.attempt} restores checkpoint {restored.checkpoint} and is ready at offset {position} "
                    f"of partition {partition}, which the checkpoint records at {wanted}"
                )
                self._findings.violated("position-behind", message, recorded, restored, event)

    def forget(self, _event: events.ObjectDamaged | events.JobSubmitted) -> None:
        self._newest.clear()
        self._by_number.clear()
        self._restored.clear()
