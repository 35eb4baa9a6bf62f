"""Drawn programs: one that fails is shrunk, and its violation is never lost by that."""

from __future__ import annotations

from collections import Counter

import pytest

from holdfast.harness.sim.streams import Stream
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry, Violation
from holdfast.suites.certify.drawing import Program, Step, play_drawn

WRONG, NEEDED = Step("wrong", (0,)), Step("needed", (0,))


class World:
    def __init__(self) -> None:
        self.seed = 0
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self.answers = Answers("SBK-01")

    def close(self) -> list[Exception]:
        return []


def drawn(stream: Stream, number: int) -> Program:
    return [Step("other", (0,)), NEEDED, Step("other", (0,)), WRONG]


def test_a_smaller_program_that_cannot_be_tried_hides_no_violation() -> None:
    played: list[Program] = []

    def play(program: Program, number: int) -> None:
        played.append(program)
        if NEEDED not in program:
            raise CannotTry("it lacks what it needs")
        if WRONG in program:
            raise Violation("SBK-01", "it is wrong.")

    with pytest.raises(Violation, match="it is wrong"):
        play_drawn(World(), "label", 1, drawn, play)
    assert played[-1] == [NEEDED, WRONG]


def test_nor_does_one_that_cannot_be_tried_when_it_is_repeated() -> None:
    times = iter(range(1_000))

    def play(program: Program, number: int) -> None:
        if next(times):
            raise CannotTry("it is gone")
        raise Violation("SBK-01", "it is wrong.")

    world = World()
    with pytest.raises(Violation, match="it is wrong"):
        play_drawn(world, "label", 1, drawn, play)
    assert "not do this again" in world.steps[-1]


def test_what_cannot_be_tried_at_all_does_not_apply() -> None:
    def play(program: Program, number: int) -> None:
        raise CannotTry("it is too large")

    with pytest.raises(CannotTry):
        play_drawn(World(), "label", 1, drawn, play)
