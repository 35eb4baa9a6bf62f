"""The phases of a run: safety, heal, liveness, settle. Their decisions use the deployment's clock alone.

On a shared machine, a bound counts only the time in which no process had to wait. The time in which one waited for a
processor or a disk is granted on top, up to a limit, so that a run that hangs ends even there.

A rehearsal that does not reach its end by itself, or whose output was not seen, is no proof against the claims of the
system under test: it is inconclusive, in one sentence. What its output holds is judged as usual. Only a job that fails
by an error of its own, which is known, is judged by its end, too.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import msgspec

from holdfast.harness.engine.executor.conductor import Conductor
from holdfast.harness.engine.executor.progress import Progress
from holdfast.harness.engine.executor.stall_trace import MeasuredStalls
from holdfast.harness.model.events import AttemptStarted, CheckpointCompleted
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plan import Bounds
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.sentence import plural
from holdfast.harness.spi.system import Deployment, Recording

MOST_TIMES = 4
"""How many times its bound a wait lasts at most."""


class Patience:
    """A wait of bounded length, which stalls of the machine extend.

    Args:
        start_ms: when it begins, on the clock of the deployment.
        bound_ms: how long it lasts on an idle machine.
        stalled_ms: returns the total time for which processes of this machine have waited for a processor or a disk.
    """

    __slots__ = ("_most_ms", "_stalled_before_ms", "_stalled_ms", "_until_ms")

    def __init__(self, start_ms: float, bound_ms: float, stalled_ms: Callable[[], float]) -> None:
        self._until_ms = ceil(start_ms) + bound_ms
        self._most_ms = (MOST_TIMES - 1) * bound_ms
        self._stalled_ms = stalled_ms
        self._stalled_before_ms = stalled_ms()

    @property
    def until_ms(self) -> float:
        """When it is over, by the stalls so far."""
        return self._until_ms + min(self._stalled_ms() - self._stalled_before_ms, self._most_ms)


HEAL_POLL_MS = 20
"""How often an undo that takes time is looked at."""
STANDSTILL_LIMIT = 1_000
"""After this many calls without an event or a later time the adapter counts as hanging."""
MOST_VAIN_ATTEMPTS = 10_000
"""How many attempts in a row without a completed checkpoint end a run: more would show nothing else."""


class Phases:
    """Leads one deployment through its phases.

    Args:
        bounds: of the plan.
        deployment: what runs.
        conductor: of the faults.
        progress: towards the expected end.
        interrupted: returns the reason to end early, or an empty text; called between any two steps.
        slice_ms: the longest single step, so that an interruption takes effect.
        stalls: of the machine; bounds are longer by them.

    Attributes:
        timed_out: the expected end was still possible when its bound passed.
    """

    __slots__ = (
        "_bounds",
        "_conductor",
        "_deployment",
        "_interrupted",
        "_progress",
        "_slice_ms",
        "_stalls",
        "_standing_still",
        "_vain_attempts",
        "timed_out",
    )

    def __init__(
        self,
        bounds: Bounds,
        deployment: Deployment,
        conductor: Conductor,
        progress: Progress,
        interrupted: Callable[[], str],
        slice_ms: float,
        stalls: MeasuredStalls,
    ) -> None:
        self._bounds = bounds
        self._deployment = deployment
        self._conductor = conductor
        self._progress = progress
        self._interrupted = interrupted
        self._slice_ms = slice_ms
        self._stalls = stalls
        self._standing_still = self._vain_attempts = 0
        self.timed_out = False

    def run(self) -> RunEnd:
        """All phases. An interruption skips to the heal and ends there."""
        deployment, progress = self._deployment, self._progress
        self._safety(self._patience(0, self._bounds.safety_ms))
        problem = self._heal()
        healed_ms = deployment.now_ms
        healed_ns = int(healed_ms * 1e6)
        progress.heal(healed_ns)
        if not problem:
            deployment.feed_markers()
            self._liveness(self._patience(healed_ms, self._bounds.liveness_ms))
            missing = progress.missing()
            self.timed_out = not progress.decided()
            self._settle(self._patience(deployment.now_ms, self._bounds.settle_ms))
            if not self.timed_out:
                missing = progress.taken_back()
            problem = self._cut_short()
        else:
            missing = problem
        return RunEnd(
            reached=not missing,
            reason=missing,
            healed_ns=healed_ns,
            ended_ns=int(deployment.now_ms * 1e6),
            problem=problem,
            settled=not problem,
        )

    def _patience(self, start_ms: float, bound_ms: float) -> Patience:
        return Patience(start_ms, bound_ms, self._stalls.stalled_ms)

    def _safety(self, patience: Patience) -> None:
        conductor, progress = self._conductor, self._progress
        conductor.start()
        while (
            not conductor.settled
            and progress.failure is None
            and not progress.exhausted()
            and self._deployment.now_ms < (until_ms := patience.until_ms)
            and not self._cut_short()
        ):
            self._step(min(until_ms, conductor.next_ms))

    def _heal(self) -> str:
        """Undo everything and wait until that is true; returns the problem, or an empty text."""
        conductor, deployment = self._conductor, self._deployment
        conductor.heal()
        begin_ms = deployment.now_ms
        patience = self._patience(begin_ms, self._bounds.liveness_ms)
        while not conductor.check_healed():
            until_ms = patience.until_ms
            if deployment.now_ms >= until_ms:
                return f"not healed within {until_ms - ceil(begin_ms):.0f} ms: {conductor.unhealed()}"
            if interruption := self._cut_short():
                return interruption
            self._step(min(until_ms, deployment.now_ms + HEAL_POLL_MS))
        return self._cut_short()

    def _liveness(self, patience: Patience) -> None:
        progress, deployment = self._progress, self._deployment
        while not progress.decided() and deployment.now_ms < (until_ms := patience.until_ms) and not self._cut_short():
            self._step(until_ms)

    def _settle(self, patience: Patience) -> None:
        """What ends a job goes on after its end was reported, and takes longer where it waits for a processor."""
        while self._deployment.now_ms < (until_ms := patience.until_ms) and not self._cut_short():
            self._step(until_ms)

    def _cut_short(self) -> str:
        """Why the run ends early, or an empty text."""
        if self._vain_attempts > MOST_VAIN_ATTEMPTS:
            return f"{self._vain_attempts:,} attempts in a row brought no complete checkpoint: the run was cut short"
        return self._interrupted()

    def _step(self, until_ms: float) -> None:
        deployment, conductor = self._deployment, self._conductor
        before_ms = deployment.now_ms
        slice_ms = before_ms + self._slice_ms
        happened = deployment.advance(until_ms if until_ms < slice_ms else slice_ms)
        for event in happened:
            conductor.observe(event)
            self._progress.observe(event)
            if type(event) is AttemptStarted:
                self._vain_attempts += 1
            elif type(event) is CheckpointCompleted:
                self._vain_attempts = 0
        self._stalls.note()
        now_ms = deployment.now_ms
        if conductor.next_ms <= now_ms:
            conductor.tick()
        if happened or now_ms > before_ms:
            self._standing_still = 0
        else:
            self._standing_still += 1
            if self._standing_still > STANDSTILL_LIMIT:
                raise OSError(f"the deployment makes no progress: its clock stays at {now_ms:.0f} ms")


LONGEST = 400
"""Characters of a sentence that quotes the system under test."""


def rehearsed(end: RunEnd, recording: Recording, inputs: InputLog, *, shows_rows: bool) -> tuple[RunEnd, Recording]:
    """The end of a rehearsal, with a problem where something is missing, and what was recorded.

    Args:
        end: as the phases left it.
        recording: of the run.
        inputs: that it was fed.
        shows_rows: the system under test supplies its committed output.
    """
    if end.problem or recording.problem:
        return end, recording
    looked = f". What was seen: {recording.looked}" if recording.looked else ""
    if not end.reached:
        problem = f"without a fault, {_in_one_line(end.reason)}{looked}"
        return msgspec.structs.replace(end, problem=problem, settled=False), recording
    if recording.wrote_nothing:
        return end, recording
    due = (recording.expected or inputs).total_records
    if shows_rows and due and not any(len(unit.rows) for unit in recording.output.units):
        problem = f"no output was seen, and {plural(due, 'row is', 'rows are')} due without a fault{looked}"
        return end, msgspec.structs.replace(recording, problem=problem)
    return end, recording


def _in_one_line(reason: str) -> str:
    """The first line of the error text of a system under test."""
    line = reason.strip().partition("\n")[0].rstrip(".")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."
