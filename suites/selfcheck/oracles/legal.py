"""A whole legal run of the keyed sum, told by a script: what no oracle may object to.

The script knows nothing of the reference runtime. Every checkpoint aligns, with a batch processed and a batch held in
between; a worker may die after a checkpoint.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

from msgspec.structs import replace

from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AckSent,
    AttemptStarted,
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    ChannelBlocked,
    ChannelUnblocked,
    CheckpointAborted,
    CheckpointAudited,
    CheckpointCompleted,
    CheckpointDropped,
    CheckpointTriggered,
    CommitTried,
    Event,
    FailureCounted,
    FileDeleted,
    FileReference,
    FileWritten,
    JobStatus,
    JobSwitched,
    MetadataPublished,
    NodeDied,
    NotificationReceived,
    NotificationSent,
    ReaderPolled,
    RestartScheduled,
    RowsVisible,
    SnapshotTaken,
    SourceEmitted,
    StateSummary,
    StorageListed,
    SubtaskAudited,
    TaskStarted,
    TaskStopped,
    TransactionAborted,
    TransactionCommitted,
    TransactionPrecommitted,
    TriggerReceived,
    TriggerSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import RIGHT_WEIGHT
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec
from holdfast.harness.model.records import CommittedRows, FoldRow, WindowRow
from holdfast.suites.selfcheck.oracles.builder import Line, input_log, story

DIGEST_KEY = Plan(job=KEYED_SUM, workload=WorkloadSpec("hand-made")).digest_key
MASK = (1 << 64) - 1
Records = Collection[tuple[int, int]]
"""Each by its partition and offset."""
WIDTH = (0, 1)
SUBTASKS = tuple(f"{vertex}[{i}]" for vertex in ("source", "sum", "sink") for i in WIDTH)


def identity_hash(partition: int, offset: int) -> int:
    """The identity hash of Contract, in plain integers."""
    z = (DIGEST_KEY + (partition << 48) + offset + 1) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def summary(records: Records, *, by_window: bool = False) -> StateSummary:
    """The state that holds these records, by key or by window, each of two offsets of a partition."""
    entries: dict[str, int] = {}
    for _, offset in sorted(records):
        key = "ab"[offset % 2]
        entries[key] = entries.get(key, 0) + offset + 1
    digest = sum(identity_hash(partition, offset) for partition, offset in records) & MASK
    held = StateSummary(len(entries), len(records), sum(entries.values()), digest, entries)
    if not by_window:
        return held
    windows: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for partition, offset in records:
        windows.setdefault(("ab"[offset % 2], offset // 2), []).append((partition, offset))
    folds = {window: fold_row(window[0], each) for window, each in windows.items()}
    rows = tuple(WindowRow(*window, fold.value, fold.digest) for window, fold in folds.items())
    return replace(held, entries=None, windows=rows)


def fold_row(key: str, records: Records, partitions: int = 2, right: Records | None = None) -> FoldRow:
    """The row of a key that holds these records, as often as they are there; of a join, on either side."""
    counts = tuple(sum(partition == each for partition, _ in records) for each in range(partitions))
    digest = sum(identity_hash(partition, offset) for partition, offset in records) & MASK
    row = FoldRow(key, sum(offset + 1 for _, offset in records), counts, digest)
    if right is None:
        return row
    other = fold_row(key, right, partitions)
    digest = row.digest + RIGHT_WEIGHT * other.digest & MASK
    return FoldRow(key, row.value - other.value, (*row.counts, *other.counts), digest)


class Script:
    """Two workers. Record (partition, offset) goes to sum[offset % 2]; partition i belongs to source[i]."""

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.lines: list[Line] = []
        self.files: dict[str, FileReference] = {}
        self.attempt = 0
        self.completed = 0
        self.recovery: dict[str, SnapshotTaken] = {}
        self.precommitted: list[str] = []
        self.contents: dict[str, list[FoldRow]] = {}
        self.units: list[CommittedRows] = []
        self.start(None)

    def say(self, *events: Event) -> None:
        self.lines.extend(events)

    # --- attempts ---

    def start(self, restored: int | None) -> None:
        """Deploy an attempt from the last completed checkpoint."""
        self.attempt += 1
        self.queues: dict[str, deque[frozenset[tuple[int, int]]]] = {}
        self.sent: dict[str, int] = {}
        self.taken: dict[str, int] = {}
        self.open = [0, 0]
        self.emitted: list[deque[FoldRow]] = [deque(), deque()]
        self.rows: list[list[FoldRow]] = [[], []]
        self.say(AttemptStarted(restored_checkpoint=restored))
        self.positions, self.state = [0, 0], [set[tuple[int, int]](), set[tuple[int, int]]()]
        for name in SUBTASKS:
            i = int(name[-2])
            snapshot = self.recovery.get(name) or SnapshotTaken(subtask=name, checkpoint=0)
            if name.startswith("source"):
                positions = snapshot.positions or ((i, 0),)
                self.positions[i] = positions[0][1]
                self.say(TaskStarted(subtask=name, restored_checkpoint=restored, positions=positions))
            elif name.startswith("sum"):
                offsets = ((p, o) for p in WIDTH for o in range(self.positions[p]) if o % 2 == i)
                self.state[i] = set(offsets)
                self.say(TaskStarted(subtask=name, restored_checkpoint=restored, state=summary(self.state[i])))
            else:
                pending = snapshot.pending_transactions
                self.say(TaskStarted(subtask=name, restored_checkpoint=restored, pending_transactions=pending))
                for transaction in [each for each in self.precommitted if each.startswith(name)]:
                    self.precommitted.remove(transaction)
                    if transaction in pending:
                        self.commit(name, transaction, recovering=True)
                    else:
                        self.say(TransactionAborted(subtask=name, transaction=transaction))
        self.say(JobSwitched(status=JobStatus.RUNNING))

    def die(self, worker: int) -> None:
        """A worker dies during a checkpoint; it is aborted, its files go, and the other's tasks are cancelled."""
        self.say(NodeDied(dead_node=f"worker-{worker}", cause="killed"))
        self.say(CheckpointAborted(checkpoint=self.pending, reason="task failure"))
        self.discard(self.pending)
        self.say(FailureCounted(cause="worker lost"))
        self.say(JobSwitched(status=JobStatus.RESTARTING), RestartScheduled(delay_ms=1_000))
        self.say(*(TaskStopped(subtask=name, reason="cancelled") for name in SUBTASKS if int(name[-2]) != worker))
        self.lines.append(1_001)
        self.start(self.completed or None)

    # --- records ---

    def emit(self, source: int) -> None:
        """One batch of a source, split over both sums."""
        first = self.positions[source]
        following = self.positions[source] = first + self.batch
        self.say(
            SourceEmitted(subtask=f"source[{source}]", partition=source, first_offset=first, next_offset=following)
        )
        for target in WIDTH:
            part = frozenset((source, offset) for offset in range(first, following) if offset % 2 == target)
            self.send(f"source[{source}]->sum[{target}]", part)

    def send(self, channel: str, part: frozenset[tuple[int, int]]) -> None:
        position = self.sent[channel] = self.sent.get(channel, -1) + 1
        self.queues.setdefault(channel, deque()).append(part)
        self.say(BatchSent(channel=channel, position=position, records=len(part)))

    def process(self, channel: str) -> None:
        """The next batch of a channel takes effect."""
        part = self.queues[channel].popleft()
        position = self.taken[channel] = self.taken.get(channel, -1) + 1
        self.say(BatchProcessed(channel=channel, position=position, records=len(part)))
        i = int(channel[-2])
        if channel.endswith(f"sum[{i}]"):
            self.state[i] |= part
            self.emitted[i].append(fold_row("ab"[i], self.state[i]))
            self.send(f"sum[{i}]->sink[{i}]", part)
        else:
            self.open[i] += len(part)
            self.rows[i].append(self.emitted[i].popleft())

    def drain(self) -> None:
        for channel in sorted(self.queues):  # `source[...` before `sum[...`: upstream first
            while self.queues[channel]:
                self.process(channel)

    # --- checkpoints ---

    def checkpoint(self, number: int, *, quiet: bool = False, sinks_acknowledge: bool = True) -> None:
        """Up to the last ack; sum[i] waits for source[1] with one batch held behind, unless nothing is emitted."""
        self.pending = number
        self.say(CheckpointTriggered(checkpoint=number, participants=SUBTASKS))
        self.snapshots: dict[str, SnapshotTaken] = {}
        if not quiet:
            self.emit(1)
        for i in WIDTH:
            name = f"source[{i}]"
            self.say(
                TriggerSent(checkpoint=number, subtask=name),
                TriggerReceived(checkpoint=number, subtask=name),
                *(BarrierSent(channel=f"{name}->sum[{j}]", checkpoint=number) for j in WIDTH),
            )
            self.snapshot(SnapshotTaken(subtask=name, checkpoint=number, positions=((i, self.positions[i]),)))
            self.acknowledge(name, number)
        if not quiet:
            self.emit(0)
        for i in WIDTH:
            quick, slow, below = f"source[0]->sum[{i}]", f"source[1]->sum[{i}]", f"sum[{i}]->sink[{i}]"
            self.say(
                BarrierReceived(channel=quick, checkpoint=number), ChannelBlocked(channel=quick, checkpoint=number)
            )
            if not quiet:
                self.process(slow)
            self.say(BarrierReceived(channel=slow, checkpoint=number), BarrierSent(channel=below, checkpoint=number))
            self.snapshot(SnapshotTaken(subtask=f"sum[{i}]", checkpoint=number, state=summary(self.state[i])))
            self.say(ChannelUnblocked(channel=quick, checkpoint=number))
            self.acknowledge(f"sum[{i}]", number, self.write(f"chk-{number}/sum-{i}", self.life_of(i)))
            if not quiet:
                self.process(below)
            self.say(BarrierReceived(channel=below, checkpoint=number))
            self.precommit(i, number)
            if sinks_acknowledge:
                self.acknowledge(f"sink[{i}]", number)

    def precommit(self, i: int, number: int) -> None:
        """A sink's snapshot, with the transaction that it closes if there are rows."""
        name = f"sink[{i}]"
        pending: tuple[str, ...] = ()
        if self.open[i]:
            pending = (f"sink[{i}]-{self.attempt}-{number}",)
            self.precommitted.extend(pending)
            self.contents[pending[0]], self.rows[i] = self.rows[i], []
        self.snapshot(SnapshotTaken(subtask=name, checkpoint=number, pending_transactions=pending))
        for transaction in pending:
            rows = len(self.contents[transaction])
            self.say(TransactionPrecommitted(subtask=name, transaction=transaction, checkpoint=number, records=rows))
        self.open[i] = 0

    def snapshot(self, event: SnapshotTaken) -> None:
        self.snapshots[event.subtask] = event
        self.say(event)

    def acknowledge(self, name: str, number: int, *files: FileReference) -> None:
        self.say(AckSent(subtask=name, checkpoint=number, files=files))
        self.say(AckReceived(subtask=name, checkpoint=number, outcome=AckOutcome.SUCCESS))

    def life_of(self, worker: int) -> str:
        """The present life of a worker's process."""
        name = f"worker-{worker}"
        deaths = [line for line in self.lines if isinstance(line, NodeDied) and line.dead_node == name]
        return f"{name}.{len(deaths)}"

    def write(self, path: str, node: str = "") -> FileReference:
        file = self.files[path] = FileReference(path, 100, 7)
        self.say(FileWritten(file=file, node=node))
        return file

    def complete(self, number: int) -> None:
        """Publish, complete, drop the one before, tell and commit."""
        states = tuple(file for path, file in self.files.items() if path.startswith(f"chk-{number}/"))
        metadata = self.write(f"chk-{number}/_metadata")
        positions = tuple(self.snapshots[f"source[{i}]"].positions[0][1] for i in WIDTH)
        self.say(
            MetadataPublished(checkpoint=number, path=metadata.path, files=(metadata, *states), states=len(SUBTASKS)),
            CheckpointCompleted(checkpoint=number, positions=positions),
        )
        if self.completed:
            self.say(CheckpointDropped(checkpoint=self.completed))
            self.discard(self.completed)
        self.completed, self.recovery = number, self.snapshots
        for name in SUBTASKS:
            self.say(
                NotificationSent(checkpoint=number, subtask=name, completed=True),
                NotificationReceived(checkpoint=number, subtask=name, completed=True),
            )
            for transaction in self.recovery[name].pending_transactions:
                self.precommitted.remove(transaction)
                self.commit(name, transaction)

    def discard(self, number: int) -> None:
        for path in [path for path in self.files if path.startswith(f"chk-{number}/")]:
            del self.files[path]
            self.say(FileDeleted(path=path))

    def commit(self, name: str, transaction: str, *, recovering: bool = False) -> None:
        poll, rows = len(self.units), self.contents[transaction]
        self.units.append(CommittedRows(transaction, poll, rows))
        self.say(
            CommitTried(subtask=name, transaction=transaction, recovering=recovering),
            TransactionCommitted(subtask=name, transaction=transaction),
            RowsVisible(name=transaction, poll=poll, records=len(rows), checksum=1),
        )

    def audit(self) -> None:
        """The reader looks once more; the last checkpoint is restored once more, and the storage listed."""
        self.say(ReaderPolled(polls=1 + len(self.units), interval_ms=5))
        self.say(CheckpointAudited(checkpoint=self.completed))
        for name, snapshot in self.recovery.items():
            self.say(
                SubtaskAudited(
                    checkpoint=self.completed,
                    subtask=name,
                    state=snapshot.state,
                    positions=snapshot.positions,
                    pending_transactions=snapshot.pending_transactions,
                )
            )
        self.say(StorageListed(files=tuple(self.files.values())))


def legal_run(checkpoints: int = 3, dies_after: int = 2, batch: int = 2) -> History:
    """A run that completes some checkpoints, loses a worker during the one after `dies_after`, and drains."""
    script = Script(batch)
    for number in range(1, checkpoints + 3):
        if number == dies_after + 1:
            script.checkpoint(number, sinks_acknowledge=False)
            script.die(1)
            continue
        script.checkpoint(number, quiet=number > checkpoints)
        script.complete(number)
        script.drain()
    script.audit()
    return story(*script.lines, inputs=input_log(*script.positions), units=tuple(script.units))
