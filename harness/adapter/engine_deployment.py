"""An engine that stands: its workers, the log that it reads, the links that it uses, and the reader of its output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.harness.adapter.child import Child
from holdfast.harness.adapter.committed_output import CommittedOutput
from holdfast.harness.adapter.controls import worker_controls
from holdfast.harness.adapter.deployment import ProcessDeployment
from holdfast.harness.adapter.links import Links
from holdfast.harness.adapter.log_feeder import LogFeeder
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.adapter.strangers import Strangers
from holdfast.harness.adapter.worker import Worker
from holdfast.harness.model.events import InputAcknowledged, ProgramReady
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import process_name, subtask_name
from holdfast.harness.spi.controls.link import MECHANISMS
from holdfast.harness.spi.system import Recording

if TYPE_CHECKING:
    from holdfast.harness.adapter.engine import Engine

_ASK_INTERVAL_MS = 50
"""How often the engine is asked what it has persisted."""
_GROUP = "engine.0"
"""The node of what several workers do together."""


class EngineWorker(Worker):
    """One process of an engine.

    Args:
        engine: whose it is.
        index: which one, from 0.
        persisted: by partition, what is persisted; asked before a life begins.
        logs, recorder: see Worker.
    """

    evidence = Evidence.DERIVED

    def __init__(self, engine: Engine, index: int, persisted: Persisted, logs: Path, recorder: Recorder) -> None:
        process = process_name(Target(Role.WORKER, index))
        super().__init__(process, f"{process} of {engine.name}", engine.place.folder, logs, recorder)
        self._engine = engine
        self._index = index
        self._persisted = persisted
        self._ready_line = engine.ready_line.encode()

    def command(self) -> Sequence[str]:
        return self._engine.command(self._index)

    def environment(self) -> Mapping[str, str]:
        return self._engine.environment(self._index)

    def found(self) -> tuple[int, ...]:
        self._persisted.ask()
        return self._persisted.positions

    def started(self, child: Child) -> None:
        if not self._ready_line:
            self._be_ready()

    def heard(self, line: bytes) -> None:
        with (self._logs / f"{self.node}.out.log").open("ab") as log:
            log.write(line + b"\n")
        if not self.ready and self._ready_line in line:
            self._be_ready()

    def _be_ready(self) -> None:
        self.ready = True
        ready = ProgramReady(positions=self._persisted.positions, attempt=self.lives)
        self._recorder.record(self.node, ready)


class Persisted:
    """What an engine has persisted, as it was last asked.

    Attributes:
        positions: by partition, the next offset whose effect is not persisted.
        problem: why the run says nothing; empty while all is well.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.positions = (0,) * engine.place.partitions
        self.problem = ""

    def ask(self) -> None:
        """Ask. Where nobody can say, it stays as it was."""
        try:
            positions = tuple(self._engine.positions())
        except OSError:
            return
        if len(positions) != len(self.positions):
            self.problem = f"{self._engine.name} gave {len(positions)} positions for {len(self.positions)} partitions."
            return
        self.positions = positions


class EngineDeployment(ProcessDeployment):
    """spi.system.Deployment.

    Args:
        engine: a copy that belongs to this run.
        inputs: what it is fed.
        logs: an empty folder, which takes what its processes write to their standard streams.

    Raises:
        OSError: it cannot stand here.
    """

    def __init__(self, engine: Engine, inputs: InputLog, logs: Path) -> None:
        plan, folder = engine.place.plan, engine.place.folder
        self._engine = engine
        self._settle_ms = plan.bounds.settle_ms
        self._noted = [0] * len(inputs.partitions)
        self._ask_ms = self._progressed_ms = 0.0
        with ExitStack() as begun:
            engine.begin()
            begun.callback(engine.end)
            recorder = Recorder()
            links = Links(engine.links, folder, logs / "links.log") if engine.links else None
            self._strangers = Strangers(dict if links is None else links.refused)
            if links is not None:
                begun.callback(links.close)
                engine.place = replace(engine.place, links={each: links.address(each) for each in engine.links})
            self._persisted = Persisted(engine)
            source = subtask_name(plan.job.of_kind(VertexKind.SOURCE)[0].name, 0)
            self._feeder = LogFeeder(inputs, engine.append, recorder, source, engine.patience_ms)
            reader = engine.reader()
            committed = CommittedOutput(
                reader,
                f"the output of {engine.name}",
                len(inputs.partitions),
                recorder,
                folder,
                logs / "reader.log",
                engine.look_interval_ms,
            )
            begun.callback(committed.close)
            workers = [
                EngineWorker(engine, index, self._persisted, logs, recorder) for index in range(engine.place.workers)
            ]
            controls = worker_controls(workers, recorder.acting)
            if links is not None:
                for mechanism in MECHANISMS:
                    controls.offer(mechanism, links, stamps=False)
            engine.controls(controls)
            recorder.start_clock()
            self._end = begun.pop_all()
        super().__init__(workers, committed, recorder, controls, folder)

    def stop(self, *, audit: bool) -> Recording:
        for event in self._strangers.events():
            self.record(event)
        return super().stop(audit=audit)

    @property
    def problem(self) -> str:
        return super().problem or self._persisted.problem

    @property
    def next_ms(self) -> float:
        return min(self._ask_ms, self._feeder.next_ms(self.now_ms))

    def tend(self) -> None:
        now_ms = self.now_ms
        if now_ms >= self._ask_ms:
            self._persisted.ask()
            self._note()
            self._ask_ms = self.now_ms + _ASK_INTERVAL_MS
        self._feeder.tend(now_ms, ready=any(worker.alive for worker in self._workers))

    def feed_markers(self) -> None:
        self._feeder.feed_markers()

    def drained(self) -> bool:
        """What is persisted covers all input, and the output has shown it, or has been quiet for long; and nothing has
        changed for the settle window of the plan."""
        if not (self._feeder.covered and any(worker.alive for worker in self._workers) and self._engine.idle()):
            return False
        return self._committed.settled(self._feeder.limits, self._progressed_ms, self._settle_ms)

    def close(self) -> None:
        super().close()
        self._end.close()

    def _note(self) -> None:
        """Record what was persisted since the last time."""
        now, [first, *others] = self._persisted.positions, self._workers
        node = _GROUP if others else first.node
        progressed = [partition for partition, new in enumerate(now) if new > self._noted[partition]]
        for partition in progressed:
            self._noted[partition] = now[partition]
            acknowledged = InputAcknowledged(partition=partition, next_offset=now[partition], attempt=first.lives)
            self._recorder.record(node, acknowledged, Evidence.DERIVED)
        if progressed:
            self._progressed_ms = self.now_ms
            for worker in self._workers:
                worker.deaths.acknowledge()
        self._feeder.persisted(now, self.now_ms)
