"""What a node does in whatever world it stands: events, gates, late answers, and to whom a coordinator listens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args
from unittest.mock import Mock

import msgspec
import pytest

from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.faults.user import command
from holdfast.fixtures.reference.drivers.coordinator_node import CoordinatorNode
from holdfast.fixtures.reference.drivers.node import Node, ProtocolError
from holdfast.fixtures.reference.drivers.worker_node import WorkerNode
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.clock import Clock
from holdfast.fixtures.reference.protocol.effects import (
    CancelJob,
    Effect,
    Effects,
    FailedExternally,
    Fetch,
    Fetched,
    JobRecordPersisted,
    PartitionEnded,
    PersistJobRecord,
    Recover,
    Recovered,
    Started,
    StateRead,
    StateReadFailed,
    StopTask,
    StoredCheckpoint,
    WorkerLost,
)
from holdfast.fixtures.reference.protocol.effects.step import WorkerEvent
from holdfast.fixtures.reference.protocol.job.workers import RESET, WorkerConnections
from holdfast.fixtures.reference.protocol.messages import Pong, RegisterWorker, TaskFailed
from holdfast.fixtures.reference.protocol.storage.storage import STORAGE_EFFECTS
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.events import (
    CoordinatorSuperseded,
    Event,
    JobStatus,
    JobSwitched,
    NodeStarted,
    OperatorFinished,
    RecoveryFailed,
    TaskStopped,
)
from holdfast.harness.model.jobs import FORWARD, bounded
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.sim.kernel import MILLISECOND_NS
from holdfast.suites.conformance.finishing import CHAINED, ending
from holdfast.suites.conformance.plans import RESTART, STATE_IN_FILES, WORKERS, plan

SOURCE, BURDEN_MS = "source[0]", 60


class Act(msgspec.Struct, frozen=True):
    """An effect."""

    name: str


class Scripted:
    """A machine that asks for what it was told, by event."""

    def __init__(self, script: Mapping[str, Sequence[object]]) -> None:
        self.script = script

    def step(self, event: Any, now: float) -> Effects:
        return list(self.script[event])  # type: ignore[arg-type]


class Surroundings:
    """A world that notes what happens in it. Gates are by name of the effect that they hold."""

    def __init__(self, script: Mapping[str, Sequence[object]], gates: Mapping[str, int]) -> None:
        self.noted: list[str] = []
        self.now_ns = 0
        self.time = self.gates = self
        self.misled = False
        self.armed = {number: name for name, number in gates.items()}
        self.forgotten: set[int] = set()
        self.stood: list[int] = []
        self.begin, self.struck, self.die, self.strike_misled = Mock(), Mock(), Mock(), Mock()
        self.node = Node(self, Scripted(script), Clock)
        self.node.executors.on(Act, self.act)

    def wall_ms(self, steady_ms: float) -> float:
        return steady_ms

    def record(self, events: Sequence[Event], decided_ns: int) -> None:
        self.noted += [type(event).__name__ for event in events]

    def take(self, effect: object) -> int:
        number = next((number for number, name in self.armed.items() if effect == Act(name)), 0)
        self.armed.pop(number, None)
        return number

    def stands(self, gate: int) -> bool:
        self.stood.append(gate)
        return gate in self.forgotten

    def act(self, effect: Act) -> None:
        """Carry it out; `again` steps the node at once."""
        self.noted.append(effect.name)
        if effect.name == "again":
            self.node.step("inner")


OUTER = (Act("a"), NodeStarted(), Act("b"), CoordinatorSuperseded(epoch=1), Act("c"))
STARTED, SUPERSEDED = "NodeStarted", "CoordinatorSuperseded"


def test_the_events_of_a_step_come_before_its_consequences() -> None:
    world = Surroundings({"outer": OUTER}, {})
    world.node.step("outer")
    assert world.noted == [STARTED, SUPERSEDED, "a", "b", "c"]


def test_what_comes_behind_a_gate_is_recorded_behind_it() -> None:
    world = Surroundings({"outer": OUTER}, {"b": 7})
    world.node.step("outer")
    assert (world.noted, world.stood) == ([STARTED, "a"], [7])
    world.node.release()
    assert world.noted == [STARTED, "a", SUPERSEDED, "b", "c"]
    assert world.node.held is None


def test_a_node_that_stood_at_its_gate_or_whose_gate_is_forgotten_goes_on_at_once() -> None:
    world = Surroundings({"outer": OUTER}, {"b": 7})
    world.forgotten.add(7)
    world.node.step("outer")
    assert world.noted == [STARTED, "a", SUPERSEDED, "b", "c"]
    assert world.node.held is None


@pytest.mark.parametrize("behind", [{}, {"c": 8}], ids=["alone", "another-gate-behind"])
def test_the_rest_of_a_step_waits_behind_what_its_own_effect_led_to(behind: dict[str, int]) -> None:
    inner = (Act("inner"), CoordinatorSuperseded(epoch=1))
    world = Surroundings({"outer": (Act("again"), NodeStarted(), Act("c")), "inner": inner}, {"inner": 7, **behind})
    world.node.step("outer")
    assert (world.noted, world.stood) == ([STARTED, "again"], [7])
    world.node.release()
    assert world.noted == [STARTED, "again", SUPERSEDED, "inner", *["c"][len(behind) :]]
    assert world.stood == [7, *behind.values()]
    if behind:
        world.node.release()
    assert world.noted == [STARTED, "again", SUPERSEDED, "inner", "c"]
    assert world.node.held is None


def test_a_life_that_is_over_does_nothing_more() -> None:
    world = Surroundings({"outer": (Act("a"), Act("b"))}, {"elsewhere": 7})

    def end(effect: Act) -> None:
        world.act(effect)
        world.node.held = []

    world.node.executors.on(Act, end)
    world.node.step("outer")
    assert world.noted == ["a"]


def test_an_error_of_the_protocol_says_where_it_is() -> None:
    with pytest.raises(ProtocolError, match=r"KeyError: 'unheard' \(test_nodes\.py, line \d+\)"):
        Surroundings({}, {}).node.step("unheard")


def reading(*, one_at_a_time: bool, burden_ms: int = 0) -> tuple[WorkerNode[Any], Mock]:
    """A worker that hosts a source in its second attempt, and its world."""
    world = Mock()
    worker = world.worker
    world.gates.armed, world.misled, world.time.now_ns = {}, False, 5
    world.channels.ready, world.channels.announced, world.channels.received = [], [], {}
    world.channels.has_room.return_value = True
    world.burdens_ms = {SOURCE: burden_ms} if burden_ms else {}
    world.one_at_a_time = one_at_a_time
    worker.attempt_of.return_value = 2
    worker.step.return_value = []
    world.reader.read.side_effect = lambda effect: Fetched(effect.attempt, SOURCE, 0, 0, 1, None)
    return WorkerNode(world, worker, Clock, Mock(), Mock()), world


def test_a_read_for_an_attempt_that_is_over_is_refused() -> None:
    node, world = reading(one_at_a_time=False)
    node.readable(Fetch(1, SOURCE, 0, 0))
    world.reader.read.assert_not_called()
    node.readable(Fetch(2, SOURCE, 0, 0))
    world.reader.read.assert_called_once()


def test_what_waits_for_room_is_forgotten_with_its_attempt() -> None:
    node, world = reading(one_at_a_time=False)
    world.channels.has_room.return_value = False
    node.readable(Fetch(2, SOURCE, 0, 0))
    assert node.waiting[SOURCE]
    world.worker.step.return_value = [StopTask(2, SOURCE)]
    node.step("it stops")
    assert not node.waiting
    world.channels.close.assert_called_once_with(SOURCE, 2)


def test_a_source_that_is_made_slow_reads_nothing_while_it_is_busy() -> None:
    node, world = reading(one_at_a_time=False, burden_ms=BURDEN_MS)
    node.readable(Fetch(2, SOURCE, 0, 0))
    world.wake.assert_called_once_with(SOURCE, BURDEN_MS, -1)
    node.readable(Fetch(2, SOURCE, 0, 1))
    world.reader.read.assert_called_once()
    world.time.now_ns += BURDEN_MS * MILLISECOND_NS
    node.wake(SOURCE)
    assert world.reader.read.call_count == 2


def test_where_others_have_their_turn_each_reads_once() -> None:
    node, world = reading(one_at_a_time=True)
    for offset in range(2):
        node.keep(Fetch(2, SOURCE, 0, offset))
    assert node.turn()
    world.reader.read.assert_called_once()
    assert not node.turn()
    assert world.reader.read.call_count == 2


def test_each_effect_is_bound_to_what_carries_it_out() -> None:
    coordinator, worker = (kind(Mock(), Mock(), Mock(), Mock(), Mock()) for kind in (CoordinatorNode, WorkerNode))
    asked = {kind for kind in get_args(Effect) if not issubclass(kind, Event)}
    bound = [{*node.executors.by_kind} for node in (coordinator, worker)]
    assert bound[0] | bound[1] == asked
    assert bound[0] & bound[1] == set(STORAGE_EFFECTS)


FIRST, SECOND = RegisterWorker(0, 0, "worker-0.0"), RegisterWorker(0, 0, "worker-0.1")
PONG = Pong(0, 0)


class Given:
    """Connections that are strings, and what became of them."""

    def __init__(self) -> None:
        self.seen: list[object] = []
        self.connections: WorkerConnections[str] = WorkerConnections(self.seen.append, self.seen.append)


def test_a_second_registration_closes_the_first() -> None:
    given = Given()
    given.connections.hear("old", FIRST)
    given.connections.hear("new", SECOND)
    given.connections.hear("old", PONG)
    assert given.seen == [FIRST, WorkerLost(0, RESET), "old", SECOND]
    given.connections.lose("old", "it broke")
    given.connections.hear("new", PONG)
    assert given.seen[4:] == [PONG], "what becomes of a closed connection concerns nobody"


def test_a_registration_that_is_repeated_closes_nothing() -> None:
    given = Given()
    given.connections.hear("same", FIRST)
    given.connections.hear("same", FIRST)
    assert given.seen == [FIRST, FIRST]


def test_nobody_listens_to_who_has_not_registered_or_was_given_up() -> None:
    given = Given()
    given.connections.hear("early", PONG)
    given.connections.hear("known", FIRST)
    assert given.connections.give_up(0) == "known"
    assert given.connections.give_up(0) is None
    given.connections.hear("known", PONG)
    assert given.seen == [FIRST]


def test_connections_break_one_by_one_or_together() -> None:
    given = Given()
    names = ["of 0", "of 1", "of 2"]
    for worker, name in enumerate(names):
        given.connections.hear(name, RegisterWorker(0, worker, f"worker-{worker}.0"))
    given.seen.clear()
    given.connections.lose(names[1], "it broke")
    given.connections.lose_all("the stage is over")
    assert given.seen == [
        WorkerLost(1, "it broke"),
        WorkerLost(0, "the stage is over"),
        WorkerLost(2, "the stage is over"),
    ]
    assert given.connections.of(0) is None


def run_with(worker: type[Worker], chosen: Plan) -> Run:
    """A run of the reference runtime with other workers."""
    system = ReferenceSystem("")
    system.parts = replace(REFERENCE, worker=worker)
    return run_plan(chosen, system, registry.toolbox())


@pytest.mark.parametrize("options", [{}, {f"{RESTART}.type": "none"}], ids=["restarts", "fails"])
def test_a_job_that_a_user_ends_does_not_restart_because_its_store_cannot_be_read(options: Mapping[str, str]) -> None:
    """The user comes between the question what is stored and the answer that this cannot be read."""
    run = run_plan(
        plan(
            kill(COORDINATOR, after_checkpoint=2),
            storage_error("read-metadata", 2_000, {"occurrences": 2}, after_checkpoint=2),
            command("cancel", after_checkpoint=2, at_time_ms=143),
            options=options,
            expected_end=ExpectedEnd.CANCELED,
        ),
        registry.system("reference"),
        registry.toolbox(),
    )
    switched = run.history.of(JobSwitched)
    cancelling = next(event for event in switched if event.status is JobStatus.CANCELLING)
    (failed,) = run.history.of(RecoveryFailed)
    assert run.history.position(cancelling) < run.history.position(failed)
    assert [event.status for event in switched[switched.index(cancelling) :]] == ["cancelling", "canceled"]
    assert run.outcome is Outcome.PASS


def test_a_job_that_a_user_ends_does_not_read_again_what_will_not_be_there() -> None:
    """The checkpoint that it was to restore is gone, which the answer says behind the wish of the user."""
    chosen = plan()
    configuration = REFERENCE.configure(chosen)
    graph = REFERENCE.graph(chosen, configuration)
    master = REFERENCE.job_master(graph, configuration, lambda: 0.5, REFERENCE.job_parts)
    master.step(Started(), 0.0)
    master.step(CancelJob(), 1.0)
    gone = StoredCheckpoint(0, "gone", b"", "there is nothing")
    effects = master.step(Recovered(None, (0, 0), (), (), restored=gone, epoch=1), 2.0)
    (persist,) = [effect for effect in effects if isinstance(effect, PersistJobRecord | Recover)]
    assert isinstance(persist, PersistJobRecord)
    effects = master.step(JobRecordPersisted(persist.record), 3.0)
    assert [event.status for event in effects if isinstance(event, JobSwitched)] == ["canceled"]


@pytest.mark.parametrize("found", [True, False])
def test_a_subtask_that_has_failed_does_not_run_when_its_state_is_read(found: bool) -> None:
    """A channel of sum[1] breaks while its state is read; what is read comes, or that it cannot be."""
    reported: Effects = []

    class BreaksBefore(Worker):
        def step(self, event: WorkerEvent, now: float) -> Effects:
            if type(event) is not StateRead or event.subtask != "sum[1]" or reported:
                return super().step(event, now)
            broken = FailedExternally(event.attempt, event.subtask, "the peer closed the connection")
            late = event if found else StateReadFailed(event.attempt, event.subtask, "no answer")
            effects = [*super().step(broken, now), *super().step(late, now)]
            reported.extend(effects)
            return effects

    run = run_with(BreaksBefore, plan(kill(WORKERS[1], after_checkpoint=2), options=STATE_IN_FILES))
    assert [type(each) for each in reported] == [TaskStopped, TaskFailed]
    assert run.outcome is Outcome.PASS


def test_an_operator_that_has_failed_does_not_finish_with_its_chain() -> None:
    """map[0] fails, and before it is cancelled, what calls it comes to its end."""
    behind: list[str] = []

    class FailsBefore(Worker):
        def step(self, event: WorkerEvent, now: float) -> Effects:
            if type(event) is not PartitionEnded or event.subtask != "source[0]" or behind:
                return super().step(event, now)
            effects = self.tasks["map[0]"].fail("it failed")
            late = super().step(event, now)
            behind.extend(
                f"{type(each).__name__} {getattr(each, 'subtask', '')}" for each in late if isinstance(each, Event)
            )
            return [*effects, *late]

    run = run_with(FailsBefore, ending(job=bounded(FORWARD), options=CHAINED))
    assert f"{OperatorFinished.__name__} source[0]" in behind
    assert f"{OperatorFinished.__name__} map[0]" not in behind
    accusing = {anomaly.clause for verdict in run.verdicts for anomaly in verdict.anomalies}
    assert accusing == {"failure-without-cause"}  # The operator failed without one
