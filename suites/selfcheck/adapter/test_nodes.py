"""A process through its lives: each one is a node, also one that is left behind, or was never seen to begin."""

from __future__ import annotations

from holdfast.harness.adapter.member import Nodes
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import FaultStruck, NodeDied, NodeStarted


def test_each_life_is_a_node() -> None:
    nodes = Nodes(Recorder())
    assert (nodes.begun("a"), nodes.next("a")) == (0, "a.0")
    nodes.begin("a", attempt=3)
    assert (nodes.begun("a"), nodes.last("a"), nodes.next("a")) == (1, "a.0", "a.0")
    nodes.bury("a", "exit code 1", by_error=True)
    assert (nodes.begun("a"), nodes.last("a"), nodes.next("a")) == (1, "a.0", "a.1")
    nodes.begin("a")
    assert (nodes.begun("a"), nodes.last("a"), nodes.next("a")) == (2, "a.1", "a.1")
    [started] = nodes.recorder.nodes["a.0"]
    [died] = nodes.recorder.nodes[HARNESS]
    assert isinstance(started, NodeStarted)
    assert isinstance(died, NodeDied)
    assert (started.attempt, died.dead_node, died.cause, died.by_error) == (3, "a.0", "exit code 1", True)


def test_one_that_is_left_behind_has_a_successor() -> None:
    nodes = Nodes(Recorder())
    nodes.begin("a")
    nodes.begin("a")
    nodes.bury("a", "exit")
    [died] = nodes.recorder.nodes[HARNESS]
    assert isinstance(died, NodeDied)
    assert (nodes.begun("a"), died.dead_node, nodes.next("a")) == (2, "a.1", "a.2")


def test_what_only_dies_is_counted_too() -> None:
    nodes = Nodes(Recorder())
    nodes.bury("a/part", "exit")
    nodes.bury("a/part", "exit")
    assert [each.dead_node for each in nodes.recorder.nodes[HARNESS] if isinstance(each, NodeDied)] == [
        "a/part.0",
        "a/part.1",
    ]


def test_a_death_by_the_harness_is_an_effect_of_the_fault_that_acts() -> None:
    nodes = Nodes(Recorder())
    nodes.recorder.acting.fault = 2
    nodes.begin("a")
    nodes.bury("a", "SIGKILL")
    nodes.begin("a")
    nodes.bury("a", "kill")
    kinds = [type(each) for each in nodes.recorder.nodes[HARNESS]]
    assert kinds == [NodeDied, FaultStruck, NodeDied]
