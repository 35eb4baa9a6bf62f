"""A checkpoint that a job of another parallelism restores: what its operators hold together is what was recorded
(RULES RSC)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.harness.model.events import (
    AckSent,
    AttemptStarted,
    BroadcastSummary,
    ChannelStateRestored,
    ChannelStateTaken,
    CheckpointCompleted,
    Event,
    JobSubmitted,
    RescaleRequested,
    SnapshotTaken,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.submitted_jobs import topologies
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.parts import by_part
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.layout import Layout, Layouts
from holdfast.harness.oracles.shared.options import at_least_once
from holdfast.harness.oracles.shared.recorded import Recorded
from holdfast.harness.oracles.shared.state_fold import MODULUS, held_by

CLAUSES: Mapping[str, str] = {
    "rescaled-state-differs": "at another parallelism an operator starts with other state than was recorded",
    "key-groups-changed": "a job restores a checkpoint of another max parallelism than its own",
    "no-less-per-subtask": "with twice as many subtasks, or more, none of them has less keyed state to store",
    "key-in-two": "two subtasks of an operator start with state of the same key",
    "rescaled-positions-differ": "a partition continues elsewhere, twice or nowhere at another parallelism",
    "rescaled-transactions-differ": "a pending transaction is taken up twice or by no subtask at another parallelism",
    "held-back-moved": "records that an operator holds back, in their order, are restored at another parallelism",
    "rescaled-in-flight": "in-flight records of a checkpoint are gone, or taken up twice, at another parallelism",
}


MANY_KEYS, NEARLY, LESS = 64, 0.9, 0.8
"""So many keys there are at least where sizes are compared, which is nearly all that will ever come; and the largest
subtask has at most so much of what the largest one had."""


class RescaledRestores:
    """Which starts are of a job of another parallelism than that whose checkpoint they restore.

    Args:
        history: of the run.
        snapshots, in_flight: what was recorded.
    """

    def __init__(
        self, history: History, snapshots: Recorded[SnapshotTaken], in_flight: Recorded[ChannelStateTaken]
    ) -> None:
        self._history = history
        self._layouts = history.derived(Layouts)
        self._submissions = history.derived(Submissions)
        self._snapshots, self._in_flight = snapshots, in_flight

    def is_rescaled(self, started: TaskStarted, taken: SnapshotTaken | ChannelStateTaken) -> bool:
        """Whether what was recorded is of another parallelism than a start."""
        return self._layouts.of(started) is not self._layouts.of(taken)

    def judge(self, findings: Findings) -> None:
        """Decide the clauses of this file."""
        history = self._history
        starts: dict[int, dict[str, TaskStarted]] = {}
        for started in history.of(TaskStarted):
            starts.setdefault(started.attempt, {})[started.subtask] = started
        restored: dict[int, list[ChannelStateRestored]] = {}
        for event in history.of(ChannelStateRestored):
            restored.setdefault(event.attempt, []).append(event)
        for attempt in history.of(AttemptStarted):
            checkpoint = attempt.restored_checkpoint
            if checkpoint is not None and self._key_groups_differ(attempt, checkpoint):
                message = f"attempt {attempt.attempt} restores checkpoint {checkpoint} of another max parallelism"
                findings.violated("key-groups-changed", message, attempt)
            if checkpoint is not None and self._holds_back(attempt, checkpoint):
                message = f"attempt {attempt.attempt} restores checkpoint {checkpoint} with records that are held back"
                findings.violated("held-back-moved", message, attempt)
            layout, found = self._layouts.of(attempt), starts.get(attempt.attempt, {})
            if checkpoint is None or found.keys() != set(layout.subtasks):
                continue  # Not all subtasks came to run.
            taken = self._snapshots.all_of(attempt, checkpoint)
            former = next((self._layouts.of(each) for each in taken.values()), layout)
            if former is layout:
                continue
            if taken.keys() == set(former.subtasks):  # Otherwise some had finished: what they left is not known.
                self._judge_attempt(taken, found, attempt, findings)
            self._judge_in_flight(attempt, checkpoint, restored.get(attempt.attempt, []), findings)
            self._judge_sizes(former, attempt, checkpoint, taken, findings)
        for required in history.of(RescaleRequested):
            if self._layouts.of(required).buffers:
                findings.check("held-back-moved")  # Refused, or shown by the attempt that follows.
        for submitted in history.of(JobSubmitted):
            if self._key_groups_differ(submitted, submitted.checkpoint or 0):
                findings.check("key-groups-changed")
            if self._holds_back(submitted, submitted.checkpoint or 0):
                findings.check("held-back-moved")
            moving = self._in_flight.all_of(submitted, submitted.checkpoint or 0).values()
            if any(self._layouts.of(each) is not self._layouts.of(submitted) for each in moving):
                findings.check("rescaled-in-flight", _batches(moving))  # A job that does not start loses nothing.

    def _holds_back(self, restoring: AttemptStarted | JobSubmitted, checkpoint: int) -> bool:
        """Whether a job restores, at another parallelism, records whose order their operator keeps."""
        return any(
            subtask in self._layouts.of(taken).buffers and (taken.state is None or taken.state.records > 0)
            for subtask, taken in self._snapshots.all_of(restoring, checkpoint).items()
            if self._layouts.of(taken) is not self._layouts.of(restoring)
        )

    def _key_groups_differ(self, restoring: AttemptStarted | JobSubmitted, checkpoint: int) -> bool:
        """Whether the job of an event has another max parallelism than that whose checkpoint it restores."""
        taken = next(iter(self._snapshots.all_of(restoring, checkpoint).values()), None)
        return taken is not None and self._max_parallelism(taken) != self._max_parallelism(restoring)

    def _max_parallelism(self, event: Event) -> int:
        jobs = topologies(self._history.plan)
        return jobs[min(max(self._submissions.of(event), 1), len(jobs)) - 1].max_parallelism

    def _judge_attempt(
        self,
        taken: Mapping[str, SnapshotTaken],
        found: Mapping[str, TaskStarted],
        attempt: AttemptStarted,
        findings: Findings,
    ) -> None:
        where = f"attempt {attempt.attempt} restores checkpoint {attempt.restored_checkpoint} at another parallelism:"
        for vertex in self._history.plan.job.vertices:
            before = [each for name, each in taken.items() if name.startswith(f"{vertex.name}[")]
            after = [each for name, each in found.items() if name.startswith(f"{vertex.name}[")]
            alike = not at_least_once(self._history.plan)
            _judge_state(f"{where} {vertex.name}", before, after, findings, alike=alike)
            _judge_sets(vertex.name, before, after, where, findings)

    def _judge_sizes(
        self,
        former: Layout,
        attempt: AttemptStarted,
        checkpoint: int,
        taken: Mapping[str, SnapshotTaken],
        findings: Findings,
    ) -> None:
        """What the largest keyed subtask stores before, and in the first checkpoint behind it. How many bytes a key
        takes, few of them hide."""
        layout = self._layouts.of(attempt)
        keys = sum(_keys(taken.get(name)) for name in former.sums)
        if len(layout.sums) < 2 * len(former.sums) or keys < max(MANY_KEYS, NEARLY * len(self._history.inputs.keys)):
            return
        before_attempt = next((each.attempt for each in taken.values()), 0)
        first = min(
            (each.checkpoint for each in self._history.of(CheckpointCompleted) if each.attempt == attempt.attempt),
            default=0,
        )
        before = self._sizes(before_attempt, checkpoint, former.sums)
        after = self._sizes(attempt.attempt, first, layout.sums)
        if len(before) < len(former.sums) or len(after) < len(layout.sums):
            return
        findings.check("no-less-per-subtask")
        if max(after) > LESS * max(before):
            message = (
                f"at {len(layout.sums)} subtasks one stores {max(after)} bytes in checkpoint {first}, at "
                f"{len(former.sums)} one stored {max(before)} in checkpoint {checkpoint}"
            )
            findings.violated("no-less-per-subtask", message, attempt)

    def _sizes(self, attempt: int, checkpoint: int, subtasks: Iterable[str]) -> list[int]:
        """Bytes that each of these has stored for a checkpoint."""
        acks = by_part(self._history, AckSent).first
        sent = filter(None, (acks.get((attempt, subtask, checkpoint)) for subtask in subtasks))
        return [ack.inline_bytes + sum(file.length for file in ack.files) for ack in sent]

    def _judge_in_flight(
        self, attempt: AttemptStarted, checkpoint: int, found: Sequence[ChannelStateRestored], findings: Findings
    ) -> None:
        """A job of another parallelism takes up all that was in flight, each record once; batches may be cut."""
        if any(each.skipped for each in found):
            return
        recorded = tuple(self._in_flight.all_of(attempt, checkpoint).values())
        if recorded:
            findings.check("rescaled-in-flight", _batches(recorded))
        wanted, put_back = _flows(recorded), _flows(found)
        for edge in sorted(wanted.keys() | put_back.keys()):
            before, after = wanted.get(edge, NOTHING), put_back.get(edge, NOTHING)
            if before != after:
                message = f"attempt {attempt.attempt} puts back {after} on the edge {edge}, {before} were in flight"
                findings.violated("rescaled-in-flight", message, *recorded, *found, attempt)
                return


def _keys(taken: SnapshotTaken | None) -> int:
    return taken.state.keys if taken is not None and taken.state is not None else 0


def _batches(events: Iterable[ChannelStateTaken | ChannelStateRestored]) -> int:
    return sum(len(content.batches) for event in events for content in event.channels)


class _Flow(NamedTuple):
    """What is in flight on one edge: its records with their sums; of batches whose sums are unknown, their number."""

    records: int = 0
    value: int = 0
    digest: int = 0
    untold: int = 0

    def __str__(self) -> str:
        return f"{plural(self.records, 'record')} and {plural(self.untold, 'batch', 'batches')} of others"


NOTHING = _Flow()


def _flows(events: Iterable[ChannelStateTaken | ChannelStateRestored]) -> dict[str, _Flow]:
    """By edge, all of it together."""
    found: dict[str, _Flow] = {}
    for event in events:
        for content in event.channels:
            edge = "->".join(end.partition("[")[0] for end in content.channel.split("->"))
            known, state = found.get(edge, NOTHING), content.state
            found[edge] = (
                known._replace(untold=known.untold + len(content.batches))
                if state is None
                else known._replace(
                    records=known.records + state.records,
                    value=(known.value + state.value) % MODULUS,
                    digest=(known.digest + state.digest) % MODULUS,
                )
            )
    return found


def _judge_state(
    vertex: str, before: Sequence[SnapshotTaken], after: Sequence[TaskStarted], findings: Findings, *, alike: bool
) -> None:
    """What subtasks start with, together. Copies of broadcast state are alike in all subtasks where barriers align;
    else each is one of those that were recorded."""
    recorded = [each.state for each in before if each.state is not None]
    held = [each.state for each in after if each.state is not None]
    if not recorded or len(recorded) != len(before) or len(held) != len(after):
        return
    findings.check("rescaled-state-differs")
    (records, value, digest), (now, value_now, digest_now) = held_by(recorded), held_by(held)
    copies: set[BroadcastSummary | None] = {each.broadcast for each in recorded}
    copies_now = {each.broadcast for each in held}
    off = (value - value_now) % MODULUS or (digest - digest_now) % MODULUS
    keys, keys_now = sum(each.keys for each in recorded), sum(each.keys for each in held)
    strange = not copies_now <= copies or (alike and len(copies) > 1)
    wrong = ""
    if (records, keys) != (now, keys_now):
        wrong = f"{plural(now, 'record')} of {plural(keys_now, 'key')}, {records} of {keys} were recorded"
    elif off:
        wrong = "as many records and keys as were recorded, with another sum or digest"
    elif strange:
        wrong = "copies of broadcast state that differ from each other, or from those that were recorded"
    if wrong:
        findings.violated("rescaled-state-differs", f"{vertex} starts with {wrong}", *before, *after)
    shown = [each.entries for each in held if each.entries is not None]
    if len(shown) != len(held):
        return
    findings.check("key-in-two")
    twice = sorted(key for key, times in Counter(key for entries in shown for key in entries).items() if times > 1)
    if twice:
        findings.violated("key-in-two", f"{vertex}: two subtasks hold key {twice[0]!r}", *after)


def _judge_sets(
    vertex: str, before: Sequence[SnapshotTaken], after: Sequence[TaskStarted], where: str, findings: Findings
) -> None:
    """What is neither split nor merged: each is somewhere, once."""
    positions = sorted(pair for each in before for pair in each.positions)
    if positions:
        findings.check("rescaled-positions-differ")
        found = sorted(pair for each in after for pair in each.positions)
        if found != positions:
            message = f"{where} {vertex} continues at {found}, {positions} were recorded"
            findings.violated("rescaled-positions-differ", message, *before, *after)
    transactions = sorted(name for each in before for name in each.pending_transactions)
    if transactions:
        findings.check("rescaled-transactions-differ")
        pending = sorted(name for each in after for name in each.pending_transactions)
        if pending != transactions:
            message = f"{where} {vertex} takes up {pending}, {transactions} were pending"
            findings.violated("rescaled-transactions-differ", message, *before, *after)
