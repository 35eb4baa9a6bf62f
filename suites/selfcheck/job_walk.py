"""A job master in a world that answers in any order, and fails in any way: what no plan has the luck to meet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol import effects as fx
from holdfast.fixtures.reference.protocol import messages
from holdfast.fixtures.reference.protocol.effects.step import CoordinatorEvent
from holdfast.fixtures.reference.protocol.job.job_master import JobMaster
from holdfast.harness.model.checkpoint import StopMode
from holdfast.harness.model.events import Event, FileReference
from holdfast.harness.model.plan import Plan
from holdfast.harness.sim.streams import Stream

STEPS = 300
WORKERS = 4
"""More than the job has at first: it may be rescaled."""
StorageEffect = fx.Recover | fx.PersistJobRecord | fx.PublishMetadata | fx.DeleteFiles


class Deployed:
    """A subtask on its worker.

    Attributes:
        attempt, worker: of it.
        reads: it may end; a source does not before it was started.
        over: it has ended.
    """

    def __init__(self, attempt: int, worker: int, *, reads: bool) -> None:
        self.attempt = attempt
        self.worker = worker
        self.reads = reads
        self.over = False


class JobWalk:
    """The lives of the coordinator of one job, one behind the other.

    Args:
        plan: of the job.
        seed: of what happens.
        master: the class of the job master.

    Attributes:
        events: that the job masters told, each with the life that it is of as its node.
    """

    def __init__(self, plan: Plan, seed: int, master: type[JobMaster] = JobMaster) -> None:
        self.configuration = REFERENCE.configure(plan)
        self.events: list[Event] = []
        self._stream = Stream(seed, "job-walk")
        self._quiet = 0.75 * (seed % 2)
        """The share of steps at which nothing fails, and nobody asks for anything."""
        self._class = master
        self._graph = REFERENCE.graph(plan, self.configuration)
        self._record: fx.JobRecord | None = None
        self._stored: dict[int, fx.StoredCheckpoint] = {}
        self._life = 0

    def run(self) -> list[Event]:
        """
        Returns:
            Its events.
        """
        self._begin()
        for _ in range(STEPS):
            quiet = self._stream.chance(self._quiet)
            self._go_on() if quiet or self._stream.chance(0.9) else self._disturb()
        return self.events

    def _begin(self) -> None:
        """The coordinator begins a life, with all workers."""
        self._life += 1
        parts = REFERENCE.job_parts
        self._master = self._class(self._graph, self.configuration, lambda: 0.5, parts)
        self._storage: list[StorageEffect] = []
        self._timers: list[fx.TimerFired] = []
        self._tasks: dict[str, Deployed] = {}
        self._triggered: set[int] = set()
        self._lines = [
            deque[CoordinatorEvent]([messages.RegisterWorker(0, worker, f"worker-{worker}.{self._life}")])
            for worker in range(WORKERS)
        ]
        self._step(fx.Started())

    def _step(self, event: CoordinatorEvent) -> None:
        for effect in self._master.step(event, float(len(self.events))):
            if isinstance(effect, Event):
                effect.node = f"coordinator.{self._life}"
                self.events.append(effect)
            else:
                self._take(effect)

    def _take(self, effect: object) -> None:
        """An effect reaches whoever carries it out."""
        match effect:
            case fx.Recover() | fx.PersistJobRecord() | fx.PublishMetadata():
                self._storage.append(effect)
            case fx.DeleteFiles() if effect.number:
                self._storage.append(effect)
            case fx.SetTimer():
                self._timers.append(fx.TimerFired(effect.name, effect.number))
            case messages.DeployTask():
                self._deploy(effect)
            case messages.StartSource() if effect.subtask in self._tasks:
                self._tasks[effect.subtask].reads = True
            case messages.CancelTasks():
                gone = [
                    subtask
                    for subtask, task in self._tasks.items()
                    if task.worker == effect.worker and task.attempt <= effect.attempt
                ]
                for subtask in gone:
                    del self._tasks[subtask]
                cancelled = messages.TasksCancelled(effect.attempt, effect.worker, effect.region)
                self._lines[effect.worker].append(cancelled)
            case messages.TriggerCheckpoint() if effect.checkpoint not in self._triggered:
                self._triggered.add(effect.checkpoint)
                for subtask, task in self._tasks.items():
                    self._lines[task.worker].append(self._answer(effect.checkpoint, subtask, task.attempt))

    def _deploy(self, order: messages.DeployTask) -> None:
        graph, chance = self._master.graph, self._stream.random()
        worker = graph.tasks[order.subtask].worker
        self._tasks[order.subtask] = Deployed(order.attempt, worker, reads=order.subtask not in graph.sources)
        self._lines[worker].append(
            messages.TaskRunning(order.attempt, order.subtask)
            if chance < 0.96
            else messages.TaskFailed(order.attempt, order.subtask, "cannot restore", recoverable=chance < 0.999)
        )

    def _answer(self, checkpoint: int, subtask: str, attempt: int) -> CoordinatorEvent:
        if self._stream.chance(0.03):
            return messages.DeclineCheckpoint(attempt, subtask, checkpoint, "cannot")
        return messages.AcknowledgeCheckpoint(attempt, subtask, checkpoint, messages.SubtaskState(subtask))

    # --- what happens ---

    def _go_on(self) -> None:
        """Something that was asked for is done, in any order but that of one line; or a subtask comes to its end."""
        lines = [line for line in self._lines if line]
        chance = self._stream.random()
        if self._storage and chance < 0.4:
            self._step(self._stored_or_not(self._storage.pop(self._stream.below(len(self._storage)))))
        elif lines and chance < 0.9:
            self._step(self._stream.choice(lines).popleft())
        elif self._timers and chance < 0.97:
            self._step(self._timers.pop(self._stream.below(len(self._timers))))
        else:
            self._end_one()

    def _end_one(self) -> None:
        for subtask in self._ready():
            task = self._tasks[subtask]
            task.over = True
            self._lines[task.worker].append(messages.TaskFinished(task.attempt, subtask))
            return

    def _ready(self) -> Iterator[str]:
        """Subtasks that read, and whose inputs have ended."""
        upstream = self._master.graph.upstream
        over = {subtask for subtask, task in self._tasks.items() if task.over}
        for subtask, task in self._tasks.items():
            if task.reads and not task.over and upstream[subtask] & self._tasks.keys() <= over:
                yield subtask

    def _stored_or_not(self, effect: StorageEffect) -> CoordinatorEvent:
        """A storage operation is over: it worked, it did not, or nobody knows."""
        chance = self._stream.random()
        match effect:
            case fx.Recover():
                if chance < 0.25:
                    return fx.RecoverFailed("cannot read")
                stored = tuple(self._stored[checkpoint] for checkpoint in sorted(self._stored))
                return fx.Recovered(self._record, (0,) * 8, stored, (), epoch=self._life)
            case fx.PersistJobRecord():
                if chance > 0.07:
                    self._record = effect.record
                if chance > 0.15:
                    return fx.JobRecordPersisted(effect.record)
                return fx.JobRecordFailed(effect.record, "cannot write")
            case fx.PublishMetadata():
                path = f"{effect.checkpoint}"
                if chance < 0.1:
                    return fx.MetadataNotStored(effect.checkpoint, "cannot write")
                if chance > 0.2 and not effect.folder:
                    self._stored[effect.checkpoint] = fx.StoredCheckpoint(effect.checkpoint, path, effect.content)
                if chance < 0.3:
                    return fx.MetadataUndecided(effect.checkpoint, "no answer")
                return fx.MetadataStored(effect.checkpoint, FileReference(path, 1, 1))
            case fx.DeleteFiles():
                return fx.FilesDeleted(effect.number, "cannot delete" if chance < 0.1 else "")

    def _disturb(self) -> None:
        """Something fails, or a user wants something."""
        chance = self._stream.random()
        if chance < 0.2:
            self._lose(self._stream.below(WORKERS))
        elif chance < 0.35:
            self._step(fx.RescaleJob(self._stream.between(1, WORKERS)))
        elif chance < 0.4:
            self._step(fx.CancelJob() if self._stream.chance(0.5) else fx.SuspendJob())
        elif chance < 0.45:
            self._step(fx.TriggerSavepoint(directory="savepoints", stop=self._stream.choice(list(StopMode))))
        elif chance < 0.6:
            self._begin()
        elif self._tasks:
            subtask, task = self._stream.choice(list(self._tasks.items()))
            self._lines[task.worker].append(messages.TaskFailed(task.attempt, subtask, "failed"))

    def _lose(self, worker: int) -> None:
        """A worker dies, and another one takes its place."""
        for subtask in [subtask for subtask, task in self._tasks.items() if task.worker == worker]:
            del self._tasks[subtask]
        self._lines[worker].clear()
        self._lines[worker].append(messages.RegisterWorker(0, worker, f"worker-{worker}.{self._stream.random()}"))
        self._step(fx.WorkerLost(worker, "lost"))
