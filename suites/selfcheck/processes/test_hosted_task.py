"""Inputs of a task take turns, what cannot go on waits, and barriers overtake what they may."""

from __future__ import annotations

import pytest

from holdfast.fixtures.reference.drivers.processes.hosted_task import HostedTask, LocalChannel
from holdfast.fixtures.reference.operators.batches import size_bytes
from holdfast.fixtures.reference.protocol.channels.buffers import OutputBuffers
from holdfast.fixtures.reference.protocol.execution_graph import execution_graph
from holdfast.fixtures.reference.protocol.messages import Barrier, Element, Records
from holdfast.harness.model.jobs import REBALANCE
from holdfast.harness.model.plan import Topology
from holdfast.suites.selfcheck.processes.test_channel import CAPACITY, barrier, batch, full, nobody, records


def unattached(*, announces: bool = True) -> tuple[HostedTask, list[str], OutputBuffers]:
    """A task with two inputs that are not there yet, and room for one batch below."""
    graph = execution_graph(REBALANCE, Topology(parallelism=2), chaining=False)
    task = HostedTask(graph.tasks["map[0]"], 2, lambda name: CAPACITY, size_bytes, [], [], announces=announces)
    (edge,) = graph.tasks["map[0]"].outputs
    output = task.outputs[edge.channels[0]] = LocalChannel(1, nobody)
    return task, list(graph.tasks["map[0]"].inputs), output.output


def hosted() -> tuple[HostedTask, list[str], OutputBuffers]:
    """As `unattached`; its inputs are there, and hold two batches and a barrier each."""
    task, names, output = unattached()
    for name in names:
        channel = LocalChannel(CAPACITY, nobody)
        task.attach(name, channel)
        for element in (records(0, name), records(1, name), barrier(1, channel=name)):
            channel.send(element)
    return task, names, output


def take_of(task: HostedTask) -> Element | None:
    element = task.inputs.take()
    if isinstance(element, Records):
        task.grant(element.channel)
    return element


def taken(task: HostedTask) -> tuple[str, int] | None:
    element = take_of(task)
    if element is None:
        return None
    assert isinstance(element, Records | Barrier)
    return element.channel, element.position if isinstance(element, Records) else -element.checkpoint


def set_blocked(task: HostedTask, name: str, blocked: bool) -> None:
    task.inputs.buffers[name].blocked = blocked


def test_what_arrives_makes_its_task_ready() -> None:
    task, (first, _), _ = unattached()
    task.arrive(records(0, first))
    assert task.ready == [task.subtask]


def test_inputs_take_turns_and_what_is_blocked_or_has_no_room_waits() -> None:
    task, (first, second), output = hosted()
    assert [taken(task), taken(task), taken(task)] == [(first, 0), (second, 0), (first, 1)]
    set_blocked(task, second, True)
    assert [taken(task), taken(task)] == [(first, -1), None]
    set_blocked(task, second, False)
    output.offer(records(0))
    assert taken(task) is None, "a batch waits for room"
    output.waiting.clear()
    assert [taken(task), taken(task), taken(task)] == [(second, 1), (second, -1), None]


def test_nothing_is_taken_while_state_is_written_and_what_was_in_flight_comes_first() -> None:
    task, (first, second), _ = hosted()
    task.inputs.buffers[first].restore((records(7, first, origin=1),))
    task.inputs.suspend("map[0]")
    task.inputs.suspend("sink[0]")
    assert not task.inputs.resume("map[0]")
    assert taken(task) is None
    assert task.inputs.resume("sink[0]")
    assert not task.inputs.resume("sink[0]"), "it goes on already"
    element = take_of(task)
    assert isinstance(element, Records)
    assert (element.channel, element.position, element.origin) == (first, 7, 1)
    assert [taken(task), taken(task)] == [(second, 0), (first, 0)]


def test_a_barrier_that_overtakes_needs_no_room_and_brings_what_it_overtook() -> None:
    task, (_, second), output = unattached()
    task.inputs.buffers[second].restore((records(7, second, origin=1),))
    output.offer(records(0))
    channel = LocalChannel(CAPACITY, nobody)
    task.attach(second, channel)
    for sent in (records(0, second), barrier(2, overtakes=True, channel=second)):
        channel.send(sent)
    element = take_of(task)
    assert isinstance(element, Barrier)
    assert (element.channel, element.checkpoint, element.unaligned) == (second, 2, True)
    assert [(each.origin, each.position) for each in element.overtaken] == [(1, 7), (0, 0)]
    assert taken(task) is None, "batches still wait for room"


def test_a_barrier_that_overtakes_comes_before_the_turn_of_others_and_says_what_they_hold() -> None:
    task, (first, second), _ = hosted()
    set_blocked(task, first, True)
    task.arrive(barrier(2, overtakes=True, channel=second))
    element = take_of(task)
    assert isinstance(element, Barrier)
    assert (element.channel, element.checkpoint) == (second, 2)
    assert element.held_bytes == 2 * size_bytes(batch(0)), "what waits behind the barrier of the other input"
    assert [event.checkpoint for event in task.announced] == [1, 1], "one that overtakes is not announced"


@pytest.mark.parametrize("announces", [True, False])
def test_barriers_are_announced_where_checkpoints_may_become_unaligned(*, announces: bool) -> None:
    task, (first, _), _ = unattached(announces=announces)
    task.arrive(barrier(2, channel=first))
    assert [event.checkpoint for event in task.announced] == [2] * announces


def test_what_was_in_flight_is_taken_before_its_channel_is_there_and_uses_buffers() -> None:
    task, (first, _), _ = unattached()
    task.inputs.buffers[first].restore(tuple(records(position, first, origin=1) for position in range(CAPACITY + 1)))
    assert taken(task) == (first, 0)
    channel = LocalChannel(CAPACITY, nobody)
    task.attach(first, channel)
    for position in range(CAPACITY):
        channel.send(records(position, first))
    assert full(channel), "what was restored takes all buffers of the receiver"
    assert [taken(task) for _ in range(CAPACITY)] == [(first, position) for position in range(1, CAPACITY + 1)]
    assert not full(channel)
    assert [taken(task) for _ in range(CAPACITY)] == [(first, position) for position in range(CAPACITY)]
