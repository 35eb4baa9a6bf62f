"""How far a run has come: counted from the watched events, and read by the phases.

These are reports of the system under test: they may end the wait for its end early, and never decide that nothing is
lost (oracles.output.missing).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.harness.model.events import (
    CheckpointCompleted,
    CheckpointTriggered,
    JobStatus,
    JobSubmitted,
    JobSwitched,
    NodeStarted,
    RecoveryFailed,
    TransactionCommitted,
    TransactionPrecommitted,
)
from holdfast.harness.model.job import DELAYING
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.topology import process_of
from holdfast.harness.oracles.shared.options import overtakes

_ENDS = {ExpectedEnd.CANCELED: JobStatus.CANCELED, ExpectedEnd.SUSPENDED: JobStatus.SUSPENDED}
"""Ends that a user asks for."""
NEW_CHECKPOINTS = 2
"""How many checkpoints triggered after the heal a running job owes."""


class Progress:
    """What the watched events show about the expected end of a plan.

    Args:
        plan: what is run.
        inputs: how much there is to drain.
        drained: of a system that reports no checkpoints: returns whether all input has taken effect; None for others.
        waits_out: a failure that is expected is waited for until its bound, also where the job shows that it runs on.
        micro_batches: a checkpoint is a micro-batch, and what a watermark held back is in the output of a later one.
        settled: asks a system whose checkpoints may say nothing of positions whether it has come to rest behind all
            input; None: without positions nothing is waited for.

    Attributes:
        failure: why the job went to FAILED; None while it has not.
        finished: the job went to FINISHED.
    """

    __slots__ = (
        "_behind",
        "_committed",
        "_completed",
        "_drained",
        "_expected",
        "_following",
        "_healed_ns",
        "_lengths",
        "_lives",
        "_new_completed",
        "_new_triggered",
        "_outstanding",
        "_positions",
        "_precommitted",
        "_settled",
        "_status",
        "_unavailable",
        "_waits_out",
        "failure",
        "finished",
    )

    def __init__(
        self,
        plan: Plan,
        inputs: InputLog,
        drained: Callable[[], bool] | None,
        *,
        waits_out: bool = True,
        micro_batches: bool = False,
        settled: Callable[[], bool] | None = None,
    ) -> None:
        self._expected = plan.expected_end
        self._settled = settled
        self._drained = drained
        self._waits_out = waits_out
        self._lengths = inputs.lengths()
        self._behind = _behind(plan, micro_batches=micro_batches)
        self._following = 0
        self._healed_ns: int | None = None
        self._positions: tuple[int, ...] = ()
        self._completed: set[int] = set()
        self._new_triggered: set[int] = set()
        self._new_completed = 0
        self._precommitted: dict[int, set[str]] = {}
        self._outstanding: set[str] = set()
        self._committed: set[str] = set()
        self._unavailable = False
        self._status: JobStatus | None = None
        self._lives: dict[str, str] = {}
        self.failure: str | None = None
        self.finished = False

    def observe(self, event: object) -> None:
        """Take notice of a watched event; of others there is none to take."""
        notice = _NOTICES.get(type(event))
        if notice is not None:
            notice(self, event)

    def heal(self, healed_ns: int) -> None:
        """The heal phase is over: what must come counts from this time, whenever it is reported."""
        self._healed_ns = healed_ns

    def decided(self) -> bool:
        """Whether the expected end is reached, or cannot be reached any more."""
        return self.failure is not None or not self.missing() or self._runs_on()

    def exhausted(self) -> bool:
        """Whether a system that reports no checkpoints has nothing left to do: no fault that waits for it can act."""
        return self._drained is not None and self._drained()

    def missing(self) -> str:
        """What the expected end still wants, in words; empty when it is reached."""
        if self._expected is ExpectedEnd.FAILED:
            return "the job did not fail" if self.failure is None else ""
        if self._expected in _ENDS:
            return "" if self._status is _ENDS[self._expected] else f"the job is not {self._expected}"
        if self._expected is ExpectedEnd.UNAVAILABLE:
            return (
                "" if self._unavailable or self.failure is not None else "the job does not say that it is unavailable"
            )
        if self.failure is not None:
            return f"the job failed: {self.failure}"
        if self._drained is not None:
            return "" if self._drained() else "not all input has taken effect"
        if self._expected is ExpectedEnd.FINISHED:
            return self._missing_to_finish()
        return "the job finished" if self.finished else self._missing_to_run()

    def taken_back(self) -> str:
        """What ended an expected end after it was reached, in words; empty while it stands.

        A running job goes on taking checkpoints, so a transaction that is under way takes nothing back.
        """
        if self._expected is ExpectedEnd.RUNNING:
            return "" if self.failure is None else f"the job failed: {self.failure}"
        return self.missing()

    def _runs_on(self) -> bool:
        """Whether a job that was expected to fail has outlived every fault: all that a running one owes is there."""
        if self._expected is not ExpectedEnd.FAILED or self._waits_out:
            return False
        known = self._covered() or (self._settled is not None and not self._positions)
        return self.finished or (known and not self._missing_to_run())

    def _missing_to_finish(self) -> str:
        if not self.finished:
            return "the job did not finish"
        if self._outstanding:
            return f"transaction {min(self._outstanding)} of a completed checkpoint was not committed"
        return ""

    def _missing_to_run(self) -> str:
        if self._new_completed < NEW_CHECKPOINTS:
            return f"{self._new_completed} of {NEW_CHECKPOINTS} checkpoints triggered after the heal completed"
        for partition, (position, length) in enumerate(zip(self._positions, self._lengths, strict=False)):
            if position < length:
                return f"the last checkpoint covers {position} of {length} records of partition {partition}"
        if self._settled is not None and not self._positions:
            if not self._settled():
                return "positions in the last checkpoint are of no known form, and the job has not come to rest"
        elif self._following < self._behind:
            return f"{self._following} of {self._behind} checkpoints behind the first that covers all input completed"
        if self._outstanding:
            return f"transaction {min(self._outstanding)} of a completed checkpoint was not committed"
        return ""

    def _covered(self) -> bool:
        """Whether the last completed checkpoint covers all input."""
        return bool(self._positions) and all(
            position >= length for position, length in zip(self._positions, self._lengths, strict=False)
        )

    def _trigger(self, event: CheckpointTriggered) -> None:
        if self._healed_ns is not None and event.time_ns >= self._healed_ns:
            self._new_triggered.add(event.checkpoint)

    def _complete(self, event: CheckpointCompleted) -> None:
        self._completed.add(event.checkpoint)
        covered, self._positions = self._covered(), event.positions
        self._following = self._following + 1 if covered and self._covered() else 0
        self._outstanding |= self._precommitted.pop(event.checkpoint, set()) - self._committed
        if event.checkpoint in self._new_triggered:
            self._new_completed += 1

    def _precommit(self, event: TransactionPrecommitted) -> None:
        if event.checkpoint not in self._completed:
            self._precommitted.setdefault(event.checkpoint, set()).add(event.transaction)
        elif event.transaction not in self._committed:
            # Between processes the news of a completion may overtake that of a pre-commit.
            self._outstanding.add(event.transaction)

    def _commit(self, event: TransactionCommitted) -> None:
        self._committed.add(event.transaction)
        self._outstanding.discard(event.transaction)

    def _miss_checkpoint(self, _event: RecoveryFailed) -> None:
        self._unavailable = True

    def _submit(self, event: JobSubmitted) -> None:
        """What the last job had to commit and this one does not restore need not come any more. It may use ids again
        that the last one drew and never completed."""
        self._precommitted.clear()
        self.finished = False
        if event.checkpoint is None or event.checkpoint < max(self._completed, default=0):
            self._outstanding.clear()
            self._completed.clear()

    def _start(self, event: NodeStarted) -> None:
        self._lives[process_of(event.node)] = event.node

    def _switch(self, event: JobSwitched) -> None:
        if self._lives.get(process_of(event.node), event.node) != event.node:
            return  # Events of a superseded coordinator concern no job any more.
        self._status = event.status
        if event.status is JobStatus.FAILED:
            self.failure = event.reason or "no reason given"
        elif event.status is JobStatus.FINISHED:
            self.finished = True
        elif event.status is JobStatus.RUNNING:
            self._unavailable = False


def _behind(plan: Plan, *, micro_batches: bool) -> int:
    """How many checkpoints follow the first that covers all input before its rows are in the output: what was in flight
    there, or held back, is in a later one. A watermark moves on behind the micro-batch that raises it."""
    return overtakes(plan) + (micro_batches or bool(plan.job.of_kind(*DELAYING)))


_NOTICES: dict[type, Callable[[Progress, Any], None]] = {
    CheckpointTriggered: Progress._trigger,
    CheckpointCompleted: Progress._complete,
    TransactionPrecommitted: Progress._precommit,
    TransactionCommitted: Progress._commit,
    RecoveryFailed: Progress._miss_checkpoint,
    JobSubmitted: Progress._submit,
    JobSwitched: Progress._switch,
    NodeStarted: Progress._start,
}
