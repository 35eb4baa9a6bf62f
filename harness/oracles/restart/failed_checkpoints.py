"""Failed checkpoints as COUNT counts them: when they fail the job (RULES CRD-09)."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.coordinator_lives import CoordinatorLives
from holdfast.harness.oracles.shared.options import flink_1_14, tolerable_failures

COUNTED = frozenset(
    {
        FailureReason.DECLINED,
        FailureReason.ASYNCHRONOUS_PART,
        FailureReason.EXPIRED,
        FailureReason.INPUT_OUTPUT,
        FailureReason.COORDINATOR_MEMORY,
    }
)
ONLY_SINCE_1_15 = frozenset({FailureReason.FINALIZATION, FailureReason.REJECTED_STATE})


class FailedCheckpoints(CoordinatorLives):
    """Follows the failures of one coordinator life after the other.

    Attributes:
        counted: ids of the failures in a row.
        late: ids of those that were under way when the job began to restart, and failed meanwhile. Flink counts them:
            it aborts what is under way when it starts its tasks again.
        last_success: highest id that completed.
        exceeded: the failure that was one too many; None: there was none, or the job has failed over.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings = findings
        self.tolerable = tolerable_failures(history.plan)
        self.reasons = COUNTED if flink_1_14(history.plan) else COUNTED | ONLY_SINCE_1_15
        super().__init__()
        self.checkpoint_of = history.derived(Submissions).checkpoint_of
        self.savepoints = by_checkpoint(history, events.SavepointTriggered).things
        replay(
            history,
            {
                events.JobSwitched: self._switched,
                events.AttemptStarted: self._of,
                events.CheckpointAborted: self._aborted,
                events.CheckpointRefused: self._refused,
                events.CheckpointCompleted: self._completed,
                events.FailureCounted: self._failed_over,
                events.CheckpointDrawn: self._went_on,
            },
        )

    def _new_life(self) -> None:
        self.running = False
        self.counted: set[int] = set()
        self.late: set[int] = set()
        self.last_success = 0
        self.exceeded: events.CheckpointAborted | None = None

    def _switched(self, event: events.JobSwitched) -> None:
        self._of(event)
        self.running = event.status is events.JobStatus.RUNNING

    def _aborted(self, event: events.CheckpointAborted) -> None:
        self._of(event)
        if not self.running:
            if event.reason in self.reasons and event.checkpoint > self.last_success:
                self.late.add(event.checkpoint)
            return
        if self.exceeded is not None:
            return
        if self.checkpoint_of(event) in self.savepoints:
            self.findings.check("failed-below-tolerable")  # A savepoint that fails does not count (CRD-10).
            return
        if event.reason not in self.reasons or event.checkpoint < self.last_success:
            self.findings.check("failed-below-tolerable")
            return
        self.counted.add(event.checkpoint)
        if len(self.counted) <= self.tolerable:
            self.findings.check("failed-below-tolerable")
        else:
            self.exceeded = event
            self.counted.clear()

    def _refused(self, event: events.CheckpointRefused) -> None:
        """A request that comes to nothing is no failure of a checkpoint."""
        self._of(event)
        self.findings.check("failed-below-tolerable")

    def _completed(self, event: events.CheckpointCompleted) -> None:
        self._went_on(event)
        self.last_success = max(self.last_success, event.checkpoint)
        self.late.clear()
        self.counted.clear()

    def _failed_over(self, event: events.FailureCounted) -> None:
        self._of(event)
        self.running = False
        if self.exceeded is not None:
            self.findings.check("tolerable-exceeded")
        elif event.failed_checkpoint in self.late and len(self.counted | self.late) > self.tolerable:
            self.findings.check("failed-below-tolerable")
            self.late.clear()
            self.counted.clear()
        elif event.failed_checkpoint:
            message = (
                f"the job fails over because of checkpoint {event.failed_checkpoint}: "
                f"{len(self.counted)} failed in a row, though {self.tolerable} are tolerable"
            )
            self.findings.violated("failed-below-tolerable", message, event)
        self.exceeded = None

    def _went_on(self, event: events.Event) -> None:
        """A coordinator that fails the job has done what the last failure demands. Flink takes answers of tasks on
        another thread, so they show nothing."""
        self._of(event)
        exceeded, self.exceeded = self.exceeded, None
        if exceeded is not None:
            message = (
                f"checkpoint {exceeded.checkpoint} ({exceeded.reason}) is one more than the {self.tolerable} failures "
                "that are tolerable, and the job goes on"
            )
            self.findings.violated("tolerable-exceeded", message, exceeded, event)
