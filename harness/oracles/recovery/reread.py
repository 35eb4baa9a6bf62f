"""REREAD: a failure costs no more input than arrives between two completed checkpoints (RULES REC-11).

Decided where the input comes at a rate that the workload states, and faults only ended processes. The amount that was
read again is reported beside the interval: that a longer one costs more is seen by comparing runs, and no run decides
it.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    FailureCounted,
    JobSubmitted,
    SourceEmitted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS, interval_ms

SLACK_NS = 5 * NS_PER_MS
"""Latencies of triggers, and how late a timer may be, besides a tenth."""
SECOND_NS = 1_000_000_000


class RereadOracle:
    """Counts what is read again after each failure."""

    name = "REREAD"
    title = "input read again"
    invariant = "After a failure no more is read again than arrives in an interval and the time of a checkpoint."
    clauses: Mapping[str, str] = {
        "too-much": "more records are read again after a failure than arrive in an interval and a checkpoint's time",
    }
    evidence: tuple[type[Event], ...] = (
        AttemptStarted, FailureCounted, CheckpointTriggered, CheckpointCompleted, SourceEmitted,
    )  # fmt: skip

    def applies(self, history: History) -> bool:
        steady = all(
            partition.records_per_second and not partition.preloaded and not partition.starts_ms
            for partition in history.inputs.partitions
        )
        exempt = exemptions(history)
        only_deaths = exempt.only(Consequence.ENDS_PROCESS, Consequence.LOSES_PROCESS, Consequence.FAILS_TASK)
        return steady and only_deaths and interval_ms(history.plan) > 0 and not exempt.real_time

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        _Reread(history, findings)
        return findings.verdict(history)


class _Reread:
    """Follows the whole job from attempt to attempt.

    Attributes:
        reached: by partition, how far it was read.
        longest_ns: that a checkpoint took so far.
        failed: the first failure since the last attempt began.
        earlier: the last one before that.
        last_aborted: the newest checkpoint that did not complete for a reason of its own.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.history = history
        self.findings = findings
        self.reached: dict[int, int] = {}
        self.triggered: dict[int, CheckpointTriggered] = {}
        self.completed: dict[int, CheckpointCompleted] = {}
        self.longest_ns = 0
        self.failed: FailureCounted | None = None
        self.earlier: FailureCounted | None = None
        self.last_aborted = 0
        self.interval_ns = interval_ms(history.plan) * NS_PER_MS
        replay(
            history,
            {
                JobSubmitted: self._submitted,
                SourceEmitted: self._emitted,
                CheckpointTriggered: self._triggered,
                CheckpointCompleted: self._completed,
                CheckpointAborted: self._aborted,
                FailureCounted: self._failed,
                AttemptStarted: self._started,
            },
        )

    def _submitted(self, event: JobSubmitted) -> None:
        self.reached.clear()
        self.failed = None

    def _emitted(self, event: SourceEmitted) -> None:
        self.reached[event.partition] = max(self.reached.get(event.partition, 0), event.next_offset)

    def _triggered(self, event: CheckpointTriggered) -> None:
        self.triggered[event.checkpoint] = event

    def _completed(self, event: CheckpointCompleted) -> None:
        self.completed[event.checkpoint] = event
        triggered = self.triggered.get(event.checkpoint)
        if triggered is not None and triggered.node == event.node:
            self.longest_ns = max(self.longest_ns, event.time_ns - triggered.time_ns)

    def _aborted(self, event: CheckpointAborted) -> None:
        if event.reason != FailureReason.TASK_FAILURE:
            self.last_aborted = max(self.last_aborted, event.checkpoint)

    def _failed(self, event: FailureCounted) -> None:
        self.failed = self.failed or event

    def _started(self, event: AttemptStarted) -> None:
        failed, self.failed = self.failed, None
        earlier, self.earlier = self.earlier, failed or self.earlier
        checkpoint = event.restored_checkpoint
        if failed is None or failed.subtasks or event.subtasks or checkpoint is None:
            return
        triggered, completed = self.triggered.get(checkpoint), self.completed.get(checkpoint)
        newest = max(self.triggered.values(), key=lambda each: each.checkpoint, default=None)
        if triggered is None or completed is None or newest is None or self.last_aborted > checkpoint:
            return
        if {triggered.node, newest.node, failed.node} != {event.node} or self._behind(triggered, completed):
            return
        if earlier is not None and earlier.node == event.node and earlier.sequence > triggered.sequence:
            return  # it had gone back to this one before
        pending_ns = 0 if newest.checkpoint in self.completed else failed.time_ns - newest.time_ns
        allowed_ns = self.interval_ns + max(self.longest_ns, pending_ns)
        allowed_ns += allowed_ns // 10 + SLACK_NS
        again = sum(max(0, reached - completed.positions[each]) for each, reached in self.reached.items())
        rates = [partition.records_per_second for partition in self.history.inputs.partitions]
        allowed = sum(1 + rate * allowed_ns // SECOND_NS for rate in rates)
        self.findings.check("too-much")
        self.findings.inform(
            f"{plural(again, 'record is', 'records are')} read again from checkpoint {checkpoint}, at "
            f"most {allowed} with an interval of "
            f"{self.interval_ns // NS_PER_MS} ms"
        )
        if again > allowed:
            message = (
                f"{plural(again, 'record is', 'records are')} read again from checkpoint "
                f"{checkpoint}, {allowed} arrive meanwhile"
            )
            self.findings.violated("too-much", message, triggered, failed, event)

    def _behind(self, triggered: CheckpointTriggered, completed: CheckpointCompleted) -> bool:
        """Whether the sources had not kept up when a checkpoint was taken: then they read faster than input arrives."""
        arrived = [
            min(len(partition), 1 + (triggered.time_ns - SLACK_NS) * partition.records_per_second // SECOND_NS)
            for partition in self.history.inputs.partitions
        ]
        return any(at < there for at, there in zip(completed.positions, arrived, strict=False))
