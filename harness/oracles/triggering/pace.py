"""PACE: checkpoints begin when interval, pause, free slots and deletions let them, in the order of the queue (RULES
TRG).

One coordinator's clock and order are all that is compared. What comes too early is refuted anywhere; what comes late
only where nothing else keeps the machine busy, that is on the simulator.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.checkpoints import CheckpointId, Span, spans
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.coordinator_lives import CoordinatorLives
from holdfast.harness.oracles.shared.exemptions import Exemptions, exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS, interval_ms, milliseconds, number, synchronous_snapshots
from holdfast.harness.oracles.shared.shared_files import shared_files
from holdfast.harness.oracles.triggering.lost_request import CLAUSES as OF_REQUESTS
from holdfast.harness.oracles.triggering.lost_request import judge_requests
from holdfast.harness.oracles.triggering.request_turns import SLACK_NS, RequestTurns

STAMP_NS = 2 * NS_PER_MS
"""How long after its decision an event may get its time, besides a tenth of what is measured."""
FEWEST = 3
"""Checkpoints that say something about a share."""
SHARE_SLACK = 0.02


class PaceOracle:
    """Follows when checkpoints begin."""

    name = "PACE"
    title = "checkpoint spacing"
    invariant = "Checkpoints begin as interval, pause, slots and deletions allow, and requests are served in turn."
    clauses: Mapping[str, str] = {
        "triggered-without-interval": "a periodic checkpoint is requested, or begins, though no interval is configured",
        "first-trigger-outside": "the first periodic request comes before min-pause, or after the interval has passed",
        "pause-too-short": "a periodic checkpoint begins sooner after the last completion than min-pause",
        "share-too-high": "checkpoints take a larger share of the time than their duration and min-pause allow",
        "records-stand-still": "no record is processed during checkpoints that last longer than the interval",
        "triggered-while-not-running": "a checkpoint begins while not all tasks run",
        "triggered-with-backlog": "a checkpoint begins while more than max-concurrent dropped ones are being deleted",
        "refused-and-begun": "a request that was refused gets an id",
        "served-out-of-turn": "a request is served before one of higher priority, or an older one of the same",
        "user-waits-for-pause": "a request of a user waits though a slot is free",
        "periodic-waits": "a periodic request waits though a slot is free and the pause is over",
        "drawn-and-forgotten": "an id is drawn that is neither triggered nor aborted before a later one is triggered",
        "refused-twice": "a request is refused once more",
        "refused-without-request": "a request is refused that was not made",
        "dropped-too-early": "a request is dropped for want of room while the queue has some",
        "queue-too-long": "more requests wait than the queue may hold",
        "dropped-out-of-turn": "a full queue drops another request than the last in turn",
        **OF_REQUESTS,
    }
    evidence: tuple[type[events.Event], ...] = (
        events.CheckpointDrawn, events.CheckpointTriggered, events.CheckpointCompleted, events.CheckpointAborted,
        events.JobSwitched,
    )  # fmt: skip
    clause_evidence: Mapping[str, tuple[type[events.Event], ...]] = {
        "records-stand-still": (events.BatchProcessed,),
        "triggered-with-backlog": (events.MetadataPublished, events.CheckpointDropped, events.FileDeleted),
        **dict.fromkeys(
            (
                "triggered-while-not-running", "first-trigger-outside",
                "refused-and-begun", "served-out-of-turn", "user-waits-for-pause", "periodic-waits", "refused-twice",
                "refused-without-request", "dropped-too-early", "queue-too-long", "dropped-out-of-turn", *OF_REQUESTS,
            ),
            (events.CheckpointRequested, events.CheckpointRefused),
        ),
    }  # fmt: skip

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        exempt = exemptions(history)
        pace = _Pace(history, exempt, findings)
        if not history.end.problem:
            pace.close()
            judge_requests(history, exempt, findings)
        _judge_share(history, exempt, findings)
        return findings.verdict(history)


class _Pace(CoordinatorLives):
    """One coordinator life after the other.

    Attributes:
        running: since when all tasks run; None: they do not.
        first: the first periodic request after that is still to come.
        completed: the completions of this life.
        shared: files that may stay though one of their checkpoints is dropped.
        cleaning: by dropped checkpoint, its files that are not deleted yet.
        deletions: by file, how many may be under way: what is dropped again, after a restart, is deleted twice.
    """

    def __init__(self, history: History, exempt: Exemptions, findings: Findings) -> None:
        plan = history.plan
        self.history = history
        self.exempt = exempt
        self.findings = findings
        self.periodic = interval_ms(plan) > 0
        self.limit = number(plan, profile.MAX_CONCURRENT, 1)
        self.pause_ns = milliseconds(plan, profile.MIN_PAUSE, 0) * NS_PER_MS
        self.interval_ns = interval_ms(plan) * NS_PER_MS
        self.timed = not exempt.coordinator_paused
        self.shared = shared_files(history).paths
        self.identity = claimed_snapshots(history).identity
        self.files: dict[CheckpointId, set[str]] = {}
        super().__init__()
        replay(
            history,
            {
                events.JobSwitched: self._switched,
                events.FailureCounted: self._failed,
                events.AttemptStarted: self._failed,
                events.CheckpointRequested: self._requested,
                events.CheckpointRefused: self._refused,
                events.CheckpointDrawn: self._drawn,
                events.CheckpointTriggered: self._triggered,
                events.CheckpointCompleted: self._ended,
                events.CheckpointAborted: self._ended,
                events.SavepointCompleted: self._ended,
                events.MetadataPublished: self._published,
                events.CheckpointDropped: self._dropped,
                events.FileDeleted: self._deleted,
                events.StorageFailed: self._not_deleted,
            },
        )

    def close(self) -> None:
        """The run is over."""
        held_up = len(self.pending) >= self.limit or self.running is None or bool(self.cleaning)
        self.requests.close(self.history.end.ended_ns, held_up, self.exempt.dead)
        if not self.periodic and self.running is not None:
            self.findings.check("triggered-without-interval")

    def _new_life(self) -> None:
        self.running: events.JobSwitched | None = None
        self.first = False
        self.completed: list[events.CheckpointCompleted | events.SavepointCompleted] = []
        self.pending: set[int] = set()
        self.cleaning: dict[int, set[str]] = {}
        self.deletions: Counter[str] = Counter()
        self.requests = RequestTurns(self.findings, self.pause_ns, waits=self.exempt.punctual)

    def _switched(self, event: events.JobSwitched) -> None:
        self._of(event)
        if event.status is events.JobStatus.RUNNING:
            self.running, self.first = event, self.periodic
            self.pending.clear()
        else:
            self._failed(event)

    def _failed(self, event: events.Event) -> None:
        self._of(event)
        self.requests.failed_over()
        if self.running is not None and not self.periodic:
            self.findings.check("triggered-without-interval")
        self.running = None

    def _requested(self, event: events.CheckpointRequested) -> None:
        self._of(event)
        self.requests.requested(event)
        if event.origin is not CheckpointOrigin.PERIODIC:
            return
        if not self.periodic:
            self._without_interval("requested", event)
        elif self.first and self.running is not None and self.timed:
            self.first = False
            self._judge_first(self.running, event)

    def _without_interval(self, what: str, event: events.Event) -> None:
        message = f"a periodic checkpoint is {what}, and no interval is configured"
        self.findings.violated("triggered-without-interval", message, event)

    def _judge_first(self, running: events.JobSwitched, event: events.CheckpointRequested) -> None:
        waited_ns = event.time_ns - running.time_ns
        self.findings.check("first-trigger-outside")
        early = waited_ns < self.pause_ns - _stamps(self.pause_ns)
        late = self.exempt.punctual and waited_ns > self.interval_ns + _stamps(self.interval_ns)
        if early or late:
            message = (
                f"the first periodic request comes {waited_ns / NS_PER_MS:.0f} ms after the start, not between "
                f"{self.pause_ns // NS_PER_MS} and {self.interval_ns // NS_PER_MS} ms"
            )
            self.findings.violated("first-trigger-outside", message, running, event)

    def _refused(self, event: events.CheckpointRefused) -> None:
        self._of(event)
        self.requests.refuse(event)

    def _drawn(self, event: events.CheckpointDrawn) -> None:
        self._of(event)
        findings = self.findings
        self.requests.drawn(event)
        if event.origin is CheckpointOrigin.PERIODIC and not self.periodic:
            self._without_interval("begun", event)
        findings.check("triggered-while-not-running")
        if self.running is None:
            message = f"an id is drawn for checkpoint {event.checkpoint} while not all tasks run"
            findings.violated("triggered-while-not-running", message, event)
        if self.cleaning:
            findings.check("triggered-with-backlog")
            if len(self.cleaning) > self.limit:
                message = (
                    f"checkpoint {event.checkpoint} begins while {len(self.cleaning)} dropped ones are being deleted"
                )
                findings.violated("triggered-with-backlog", message, event)
        completed = self._completed_before(event)
        if event.origin is CheckpointOrigin.PERIODIC and self.pause_ns and completed is not None and self.timed:
            gap_ns, least_ns = event.time_ns - completed.time_ns, self.pause_ns - _stamps(self.pause_ns)
            # Whoever waits for a processor records a completion late; the next one then seems to come early.
            late_ns = self.exempt.stalls.within_ns(completed.time_ns - self.pause_ns, completed.time_ns)
            if gap_ns < least_ns <= gap_ns + late_ns:
                return
            findings.check("pause-too-short")
            if gap_ns < least_ns:
                message = (
                    f"checkpoint {event.checkpoint} begins {gap_ns / NS_PER_MS:.0f} ms after checkpoint "
                    f"{completed.checkpoint} completed, the pause is {self.pause_ns // NS_PER_MS} ms"
                )
                findings.violated("pause-too-short", message, completed, event)

    def _completed_before(
        self, event: events.CheckpointDrawn
    ) -> events.CheckpointCompleted | events.SavepointCompleted | None:
        """The last completion. Where several may be under way, and the turn of this one came before the last one was
        complete, it is the one before."""
        before = (each for each in reversed(self.completed) if self.limit == 1 or each.time_ns <= event.time_ns)
        return next(before, None)

    def _triggered(self, event: events.CheckpointTriggered) -> None:
        self._of(event)
        self.pending.add(event.checkpoint)
        self.requests.triggered(event)
        self.requests.freed(event.time_ns)

    def _ended(self, event: events.CheckpointCompleted | events.CheckpointAborted | events.SavepointCompleted) -> None:
        self._of(event)
        if isinstance(event, events.CheckpointAborted):
            self.requests.aborted(event.checkpoint)
        else:
            self.completed.append(event)
        self.pending.discard(event.checkpoint)
        self.requests.freed(event.time_ns)

    def _published(self, event: events.MetadataPublished) -> None:
        self._of(event)
        self.files[self.identity(event, event.checkpoint)] = {file.path for file in event.files} - self.shared

    def _dropped(self, event: events.CheckpointDropped) -> None:
        self._of(event)
        files = self.files.get(self.identity(event, event.checkpoint))
        if files:
            self.cleaning[event.checkpoint] = set(files)
            self.deletions.update(files)

    def _deleted(self, event: events.FileDeleted) -> None:
        if event.node == self.node:
            self._deletion_over(event)
            for checkpoint, files in list(self.cleaning.items()):
                files.discard(event.path)
                if not files:
                    del self.cleaning[checkpoint]

    def _not_deleted(self, event: events.StorageFailed) -> None:
        if event.node == self.node and event.operation == "delete":
            self._deletion_over(event)
            for checkpoint in [known for known, files in self.cleaning.items() if event.path in files]:
                del self.cleaning[checkpoint]

    def _deletion_over(self, event: events.FileDeleted | events.StorageFailed) -> None:
        if self.deletions[event.path]:
            self.deletions[event.path] -= 1
            self.requests.freed(event.time_ns)


def _stamps(measured_ns: int) -> int:
    return min(STAMP_NS + measured_ns // 10, 10 * NS_PER_MS + SLACK_NS)


def _judge_share(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Where checkpoints last longer than the interval, and one begins only after another has ended."""
    plan = history.plan
    pause_ns = milliseconds(plan, profile.MIN_PAUSE, 0) * NS_PER_MS
    interval_ns = milliseconds(plan, profile.INTERVAL, 0) * NS_PER_MS
    if not interval_ns or number(plan, profile.MAX_CONCURRENT, 1) != 1:
        return
    whole = spans(history)
    long = [span for span in whole if span.completed.time_ns - span.triggered.time_ns > interval_ns]
    if not long:
        return
    _judge_flow(history, exempt, long, findings)
    pairs = [
        (before.completed.time_ns - before.triggered.time_ns, after.triggered.time_ns - before.completed.time_ns)
        for before, after in pairwise(whole)
        if before.triggered.attempt == after.triggered.attempt and after.triggered.origin is CheckpointOrigin.PERIODIC
    ]
    if not pause_ns or len(pairs) < FEWEST or exempt.coordinator_paused:
        return
    busy_ns, gaps_ns = sum(busy for busy, _ in pairs), sum(gap for _, gap in pairs)
    share, bound = busy_ns / (busy_ns + gaps_ns), busy_ns / (busy_ns + len(pairs) * pause_ns)
    findings.check("share-too-high")
    if share > bound + SHARE_SLACK:
        message = f"checkpoints take {share:.0%} of the time, with a pause of {pause_ns // NS_PER_MS} ms {bound:.0%}"
        findings.violated("share-too-high", message, whole[0].triggered, whole[-1].completed)


def _judge_flow(history: History, exempt: Exemptions, long: list[Span], findings: Findings) -> None:
    """Records that were processed after a long checkpoint could have been processed during it, if all that happened was
    that storage was slow. In real time it must have been: else a busy machine made checkpoint and records late. What is
    processed behind the heal does not count: it may have been fed only then, as markers are. Nor does a checkpoint for
    half of which the harness let records wait or held up a write that a task waits for (RULES ASY-07), or for half of
    which none was due by the plan."""
    if not exempt.only(Consequence.SLOWS_STORAGE) or (exempt.real_time and exempt.undisturbed):
        return
    healed_ns = history.end.healed_ns or history.end.ended_ns
    times = [event.time_ns for event in history.of(events.BatchProcessed) if event.time_ns < healed_ns]
    last_ns = max(times, default=0)
    waits = [(delay.since_ns, delay.time_ns) for delay in history.of(events.InputDelayed)]
    if synchronous_snapshots(history.plan):
        slowed = [event for event in history.of(events.StorageSlowed) if event.operation == "write-state"]
        waits += [(event.time_ns, event.time_ns + event.delay_ms * NS_PER_MS) for event in slowed]
    arrivals = _Arrivals(history, times)
    long = [
        span
        for span in long
        if span.completed.time_ns < last_ns and not _half(*span, waits) and not arrivals.explain(*span)
    ]
    if not long:
        return
    findings.check("records-stand-still")
    # A tenth at either end: what was under way when the barrier came is no sign of life.
    inner = [
        (first.time_ns + (last.time_ns - first.time_ns) // 10, last.time_ns - (last.time_ns - first.time_ns) // 10)
        for first, last in long
    ]
    if not any(begin < time_ns < end for begin, end in inner for time_ns in times):
        message = f"no record is processed during {len(long)} checkpoints that last longer than the interval"
        findings.violated("records-stand-still", message, long[0].triggered, long[-1].completed)


class _Arrivals:
    """When the plan lets records arrive, beside when some were processed."""

    def __init__(self, history: History, processed_ns: Sequence[int]) -> None:
        self._processed_ns = sorted(processed_ns)
        partitions = history.inputs.partitions
        self._due_ns = sorted(
            round(each.due_ms(offset) * NS_PER_MS) for each in partitions for offset in range(each.regular)
        )

    def explain(self, first: events.Event, last: events.Event) -> bool:
        """Whether none was due from the last record that was processed before two events until half-way between them,
        and some are due from there until the next one is processed."""
        middle_ns = (first.time_ns + last.time_ns) // 2
        before = bisect_left(self._processed_ns, first.time_ns)
        after = bisect_left(self._processed_ns, last.time_ns)
        since_ns = self._processed_ns[before - 1] if before else -1
        next_ns = self._processed_ns[after]
        return not self._due(since_ns, middle_ns) and bool(self._due(middle_ns, next_ns))

    def _due(self, after_ns: int, until_ns: int) -> int:
        return bisect_right(self._due_ns, until_ns) - bisect_right(self._due_ns, after_ns)


def _half(first: events.Event, last: events.Event, stretches: Iterable[tuple[int, int]]) -> bool:
    """Whether one of some stretches, from and until when in ns, takes half of the time between two events."""
    return any(
        2 * (min(until_ns, last.time_ns) - max(since_ns, first.time_ns)) >= last.time_ns - first.time_ns
        for since_ns, until_ns in stretches
    )
