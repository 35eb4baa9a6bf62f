"""The order in which a task takes what waits at its inputs, whatever brought it there."""

from __future__ import annotations

from holdfast.fixtures.reference.protocol.channels.buffers import InputBuffers, TaskInputs
from holdfast.fixtures.reference.protocol.messages import Barrier, Element, Records

CHANNELS = ("a", "b", "c")


class Inputs(TaskInputs):
    """Those of a task with three channels, and room in its outputs until that is taken away."""

    def __init__(self) -> None:
        self.room = True
        buffers = {channel: InputBuffers(4) for channel in CHANNELS}
        super().__init__("sum[0]", buffers, lambda: self.room, lambda batch: 0, announces=False)

    def bring(self, *elements: Element) -> None:
        for element in elements:
            self.arrive(element)

    def taken(self) -> list[str]:
        """All that can be taken now, by channel; of a barrier in capitals."""
        found = []
        while (element := self.take()) is not None:
            found.append(element.channel.upper() if isinstance(element, Barrier) else element.channel)
        return found


def batch(channel: str, position: int = 0, origin: int = 0) -> Records:
    return Records(1, channel, position, None, origin)


def test_inputs_take_turns_however_much_waits_at_one() -> None:
    inputs = Inputs()
    inputs.bring(*(batch("a", position) for position in range(3)), batch("b"), batch("c"), batch("c", 1))
    assert inputs.taken() == ["a", "b", "c", "a", "c", "a"]


def test_the_turn_goes_on_behind_the_input_that_was_served_last() -> None:
    inputs = Inputs()
    inputs.bring(batch("a"), batch("b"))
    assert inputs.taken() == ["a", "b"]
    inputs.bring(batch("a", 1), batch("c"))
    assert inputs.taken() == ["c", "a"]


def test_a_barrier_that_overtakes_is_taken_first_and_names_what_it_overtook() -> None:
    inputs = Inputs()
    inputs.bring(batch("a"), batch("c"), batch("c", 1), Barrier(1, "c", 7, overtakes=True))
    barrier = inputs.take()
    assert isinstance(barrier, Barrier)
    assert barrier.overtaken == (batch("c"), batch("c", 1))
    assert inputs.taken() == ["a", "c", "c"]


def test_a_barrier_that_does_not_keeps_its_place() -> None:
    inputs = Inputs()
    inputs.bring(batch("a"), batch("c"), batch("c", 1), Barrier(1, "c", 7))
    assert inputs.taken() == ["a", "c", "c", "C"]


def test_batches_wait_for_room_and_barriers_do_not() -> None:
    inputs = Inputs()
    inputs.room = False
    inputs.bring(batch("a"), Barrier(1, "b", 7), batch("b"))
    assert inputs.taken() == ["B"]
    inputs.room = True
    assert inputs.taken() == ["a", "b"]


def test_nothing_is_taken_of_a_blocked_input_nor_by_a_suspended_task() -> None:
    inputs = Inputs()
    inputs.buffers["a"].blocked = True
    inputs.bring(batch("a"), batch("b"))
    inputs.suspend("sum[0]")
    assert inputs.taken() == []
    inputs.resume("sum[0]")
    assert inputs.taken() == ["b"]


def test_what_was_in_flight_at_the_restored_cut_comes_before_anything_new() -> None:
    inputs = Inputs()
    inputs.restored_first = True
    inputs.bring(batch("a"), batch("b", 3, origin=1), batch("b", 4, origin=1), batch("c"))
    assert inputs.taken() == ["b", "b", "c", "a"]
