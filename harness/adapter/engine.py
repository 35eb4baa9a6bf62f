"""An engine that runs as processes, as a system under test: the base that an adapter inherits."""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
from msgspec.structs import replace

from holdfast.harness.adapter.child import Child
from holdfast.harness.adapter.committed_output import CommittedOutput
from holdfast.harness.adapter.controls import CrewProcesses
from holdfast.harness.adapter.feeder import PATIENCE_MS
from holdfast.harness.adapter.links import LinkOf, Links, Strangers, offer_links
from holdfast.harness.adapter.log_feeder import Calls, LogFeeder
from holdfast.harness.adapter.member import Nodes
from holdfast.harness.adapter.reader import Reader
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.adapter.relay_process import RelayProcess
from holdfast.harness.adapter.stand import ProcessDeployment
from holdfast.harness.adapter.worker import Crew, Worker
from holdfast.harness.model.capability import EXACTLY_ONCE, Capability, Claims, Evidence, Guarantee, OutputMode
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import InputAcknowledged, ProgramReady
from holdfast.harness.model.job import Contract, VertexKind
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import process_name, subtask_name
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.controls.process import MembershipControl, ProcessControl
from holdfast.harness.spi.system import Deployment, OptionAccount, OptionUse, Recording, SystemCode


class Place(msgspec.Struct, frozen=True):
    """One run.

    Attributes:
        folder: exists, is empty at first, and survives the processes of the engine; they work in it.
        workers: how many processes there are, from 0.
        partitions: how many the input has, from 0.
        digest_key: of the identity hash (harness/adapter/README.md).
        plan: what is run, with its options.
        links: by link that the engine has declared, `host:port` to connect to in place of the service.
    """

    folder: Path
    workers: int
    partitions: int
    digest_key: int
    plan: Plan
    links: Mapping[Target, str] = {}


STATE = "state"
"""The folder of a run in which an engine works."""
_BOUNDARY = (
    "node_started", "node_died", "fault_injected", "fault_healed", "input_delayed", "source_emitted", "program_ready",
    "rows_visible", "rows_changed", "reader_polled",
)  # fmt: skip
_DERIVED = ("state_found", "input_acknowledged")
_ABLE = (
    Capability.KILL_WORKER, Capability.PAUSE_WORKER, Capability.ACKNOWLEDGES_INPUT, Capability.READS_LOG,
)  # fmt: skip
_OF_LINKS = {
    Role.BROKER: Capability.IMPAIR_BROKER,
    Role.STORAGE: Capability.IMPAIR_STORAGE,
    Role.SINK_SYSTEM: Capability.IMPAIR_SINK,
}

_KINDS: Mapping[str, tuple[type, ...]] = {
    "name": (str,), "workers": (int,), "claimed": (frozenset,), "mode": (OutputMode,), "ready_line": (str,),
    "patience_ms": (int, float), "look_interval_ms": (int, float), "links": (Mapping,), "applied": (frozenset,),
    "offers": (frozenset,),
}  # fmt: skip
"""What an attribute of an engine may be; an adapter that means something else by such a name is refused at once."""


class Engine(ABC):
    """spi.system.System. The four abstract methods are all that an engine must have; each run works on a copy of the
    object, so what `begin` puts there belongs to one run.

    Args:
        variant: what stands behind the plus sign of its name; an engine that has variants takes it in `__init__`.

    Attributes:
        name: as the user types it; `module:Class` where it is not registered.
        workers: most processes that a plan may ask for, by `topology.parallelism`.
        claimed: what it claims of its committed output.
        mode: how that changes, see OutputMode. Each row of a table that is new or differs is a row of its own: APPEND.
        ready_line: what a line on the standard output of a worker contains once it can do its work; empty: it can at
            once.
        patience_ms: how long it may persist nothing before it gets more input; longer where a restart takes long.
        look_interval_ms: how often its output is looked at.
        links: services that it connects to, `host:port`; a fault can act on what goes through such a link. Set in
            `begin` where it is known there only; then at least the targets must be here.
        applied: options of a plan, by Flink's key, that it is started with.
        offers: more capabilities, of what `controls` offers.
        place: the run; set before `begin`.
    """

    name = ""
    workers = 1
    claimed: frozenset[Guarantee] = EXACTLY_ONCE
    mode = OutputMode.APPEND
    ready_line = ""
    patience_ms: float = PATIENCE_MS
    look_interval_ms = 20
    links: Mapping[Target, str] = {}
    applied: frozenset[str] = frozenset()
    offers: frozenset[str] = frozenset()
    place: Place

    subject = "RT"
    gates: frozenset[str] = frozenset()
    profile = "none"
    supplied_by_author: tuple[str, ...] = ("committed reader", "positions")
    strict = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, kinds in _KINDS.items():
            value = cls.__dict__.get(name)
            if value is not None and not isinstance(value, (*kinds, property)):
                raise TypeError(
                    f"{cls.__name__}.{name} is {value!r}: an engine's {name} is of type {kinds[0].__name__}; "
                    "give it one, or call what is yours otherwise."
                )

    def __init__(self, variant: str = "") -> None:
        self.name = self.name or f"{type(self).__module__}:{type(self).__qualname__}"
        if variant:
            raise ValueError(f"{self.name} has no variants: remove '+{variant}'.")

    def begin(self) -> None:  # noqa: B027 - it may be left as it is.
        """Get ready for a run, before its clock starts: make folders, tables, topics.

        Raises:
            OSError: it cannot stand here (a missing program, a port in use); one sentence that says what to do.
        """

    @abstractmethod
    def command(self, worker: int) -> Sequence[str]:
        """How a worker is started: a program as an absolute path, with its arguments. It dies by SIGKILL, leaves by
        SIGTERM, and is started again by the same command."""

    def environment(self, worker: int) -> Mapping[str, str]:
        """Variables that it gets beside those that every program needs."""
        return {}

    @abstractmethod
    def append(self, partition: int, offset: int, records: Sequence[tuple[str, int]]) -> None:
        """Append records to the log that the engine reads: the first has this offset in its partition, and a record is
        a key and a value. Offsets are dense from 0. It raises OSError where the log does not take them."""

    def undelivered(self) -> int:
        """How many records that were appended are not known to be in the log yet. It is called again and again.

        Raises:
            OSError: the log refused one, or put it elsewhere than at its offset; the run is inconclusive then.
        """
        return 0

    @abstractmethod
    def positions(self) -> Sequence[int]:
        """By partition, the next offset whose effect is not persisted: where a worker that is started now goes on. Read
        from what the engine has stored, from outside.

        Raises:
            OSError: that cannot be read at the moment.
        """

    @abstractmethod
    def reader(self) -> Reader:
        """How its committed output is read."""

    def idle(self) -> bool:
        """Whether nothing is under way between input and output, as far as the engine reports; positions that cover all
        input may be ahead of the output."""
        return True

    def controls(self, controls: Controls) -> None:  # noqa: B027 - it may be left as it is.
        """Offer more mechanisms than those of processes and links."""

    def end(self) -> None:  # noqa: B027 - it may be left as it is.
        """Free what `begin` took. Called once, unless that failed."""

    @property
    def capabilities(self) -> Mapping[Tier, frozenset[str]]:
        able: set[str] = {*_ABLE, *self.offers}
        able |= {_OF_LINKS[link.role] for link in self.links}
        if self.workers > 1:
            able.add(Capability.MEMBERSHIP)
        return {Tier.PROCESS: frozenset(able)}

    def claims(self, plan: Plan) -> Claims:
        return Claims(output=self.claimed, mode=self.mode)

    def code(self) -> SystemCode:
        """See spi.system.ShowsCode."""
        return SystemCode(variant=(Path(inspect.getfile(type(self))),))

    def evidence(self) -> Mapping[str, Evidence]:
        return {**dict.fromkeys(_BOUNDARY, Evidence.BOUNDARY), **dict.fromkeys(_DERIVED, Evidence.DERIVED)}

    def account(self, plan: Plan) -> Sequence[OptionAccount]:
        if plan.job.contract is not Contract.FOLD:
            raise ValueError(f"job.contract is {plan.job.contract}: this engine sums by key, use {Contract.FOLD}.")
        if not 1 <= plan.topology.parallelism <= self.workers:
            raise ValueError(f"topology.parallelism is {plan.topology.parallelism}: use 1 to {self.workers}.")
        return [
            OptionAccount(key, OptionUse.APPLIED if key in self.applied else OptionUse.UNSUPPORTED)
            for key in plan.options
        ]

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        if folder is None:
            raise OSError(f"system {self.name!r} needs a folder: run it on tier {Tier.PROCESS}.")
        state, logs = folder.resolve() / STATE, folder / "logs"
        state.mkdir()
        logs.mkdir()
        engine = copy.copy(self)
        engine.place = Place(state, plan.topology.parallelism, len(inputs.partitions), plan.digest_key, plan)
        return EngineDeployment(engine, inputs, logs)


_ASK_INTERVAL_MS = 50
"""How often the persisted positions of the engine are read."""
_GROUP = "engine.0"
"""The node of what several workers do together."""


class EngineWorker(Worker):
    """One process of an engine.

    Args:
        engine: whose it is.
        index: which one, from 0.
        persisted: by partition, what is persisted; called before a life begins.
        logs, nodes: see Worker.
    """

    evidence = Evidence.DERIVED

    def __init__(self, engine: Engine, index: int, persisted: Persisted, logs: Path, nodes: Nodes) -> None:
        process = process_name(Target(Role.WORKER, index))
        super().__init__(process, f"{process} of {engine.name}", engine.place.folder, logs, nodes)
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
        ready = ProgramReady(positions=self._persisted.positions, attempt=self.attempt)
        self._recorder.record(self.node, ready)


class Persisted:
    """What an engine has persisted, as it was last read.

    Attributes:
        positions: by partition, the next offset whose effect is not persisted.
        problem: why the run decides nothing; empty while all is well.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.positions = (0,) * engine.place.partitions
        self.problem = ""

    def ask(self) -> None:
        """Read the positions. Where they cannot be read, they stay as they were."""
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
            relay = None
            if engine.links:
                targets = {str(link): service for link, service in engine.links.items()}
                relay = RelayProcess(targets, folder, logs / "links.log")
                begun.callback(relay.kill)
                engine.place = replace(engine.place, links={each: relay.address(str(each)) for each in engine.links})
            self._strangers = [Strangers(dict if relay is None else relay.refused)]
            self._persisted = Persisted(engine)
            source = subtask_name(plan.job.of_kind(VertexKind.SOURCE)[0].name, 0)
            log = Calls(engine.append, engine.undelivered)
            self._feeder = LogFeeder(inputs, log, recorder, source, engine.patience_ms)
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
            nodes = Nodes(recorder)
            workers = range(engine.place.workers)
            crew = Crew([EngineWorker(engine, index, self._persisted, logs, nodes) for index in workers])
            controls, processes = Controls(recorder.acting), CrewProcesses(crew)
            controls.offer(ProcessControl, processes)
            controls.offer(MembershipControl, processes)
            if relay is not None:
                offer_links(controls, _declared(Links(relay), engine.links))
            engine.controls(controls)
            recorder.start_clock()
            self._end = begun.pop_all()
        super().__init__(crew, committed, recorder, controls, folder)

    def stop(self, *, audit: bool) -> Recording:
        self._feeder.finish()
        return super().stop(audit=audit)

    @property
    def problem(self) -> str:
        return super().problem or self._persisted.problem or self._feeder.problem

    @property
    def next_ms(self) -> float:
        return min(super().next_ms, self._ask_ms, self._feeder.next_ms(self.now_ms))

    def tend(self) -> None:
        super().tend()
        now_ms = self.now_ms
        if now_ms >= self._ask_ms:
            self._persisted.ask()
            self._note()
            self._ask_ms = self.now_ms + _ASK_INTERVAL_MS
        self._feeder.tend(now_ms, ready=self._crew.alive)

    def feed_markers(self) -> None:
        self._feeder.feed_markers()

    def drained(self) -> bool:
        """Whether what is persisted covers all input, the output has shown it or has been quiet for long, and nothing
        has changed for the settle window of the plan."""
        if not (self._feeder.covered and self._crew.alive and self._engine.idle()):
            return False
        return self._committed.settled(self._feeder.limits, self._progressed_ms, self._settle_ms)

    def close(self) -> None:
        super().close()
        self._end.close()

    def _note(self) -> None:
        """Record what was persisted since the last time."""
        now, [first, *others] = self._persisted.positions, self._crew.members
        node = _GROUP if others else first.node
        progressed = [partition for partition, new in enumerate(now) if new > self._noted[partition]]
        for partition in progressed:
            self._noted[partition] = now[partition]
            acknowledged = InputAcknowledged(partition=partition, next_offset=now[partition], attempt=first.attempt)
            self._recorder.record(node, acknowledged, Evidence.DERIVED)
        if progressed:
            self._progressed_ms = self.now_ms
            for worker in self._crew.members:
                worker.deaths.acknowledge()
        self._feeder.persisted(now, self.now_ms)


def _declared(links: Links, declared: Mapping[Target, str]) -> LinkOf:

    def of(target: Target) -> tuple[Links, str]:
        if target not in declared:
            raise ValueError(f"link {target} is unknown; known are {', '.join(map(str, declared))}.")
        return links, str(target)

    return of
