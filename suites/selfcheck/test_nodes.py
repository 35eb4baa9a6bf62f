"""What a node does in whatever world it stands: events first, gates one after the other, and no read for the past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args
from unittest.mock import Mock

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.coordinator_node import CoordinatorNode
from holdfast.fixtures.reference.drivers.node import Node, ProtocolError
from holdfast.fixtures.reference.drivers.worker_node import WorkerNode
from holdfast.fixtures.reference.protocol.clock import Clock
from holdfast.fixtures.reference.protocol.effects import Effect, Effects, Fetch, Fetched, StopTask
from holdfast.fixtures.reference.protocol.storage.storage import STORAGE_EFFECTS
from holdfast.harness.model.events import CoordinatorSuperseded, Event, NodeStarted
from holdfast.harness.sim.kernel import MILLISECOND_NS

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
    world, worker = Mock(), Mock()
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
    node._stop_task(StopTask(2, SOURCE))
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
