"""Random programs go on until they have met what they are there for; one that fails is shrunk and stays a violation."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import msgspec
import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from holdfast.harness.engine.certification.kit_run import KitRequest, KitRun
from holdfast.harness.engine.site.program_share import LEAST, fewer_programs
from holdfast.harness.sim.streams import Stream
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry, Violation
from holdfast.suites.certify.programs import MOST_TURNS, Program, Step, play_drawn, run_machine

EXAMPLES = 4


class World:
    seed = 0

    def __init__(self, rare_behind: int) -> None:
        self.windows: Counter[str] = Counter()
        self.steps: list[str] = []
        self.rare_behind = rare_behind


class Programs(RuleBasedStateMachine):
    outer: ClassVar[World]

    @rule()
    def step(self) -> None:
        pass

    def teardown(self) -> None:
        windows = self.outer.windows
        windows["programs"] += 1
        if windows["programs"] > self.outer.rare_behind:
            windows["rare"] += 1


@pytest.mark.parametrize(
    ("rare_behind", "windows", "turns"),
    [(0, ("rare",), 1), (EXAMPLES, ("rare",), 2), (1_000, ("rare",), MOST_TURNS), (1_000, (), 1)],
)
def test_programs_are_drawn_until_they_meet_what_they_must(
    rare_behind: int, windows: tuple[str, ...], turns: int
) -> None:
    world = World(rare_behind)
    run_machine(Programs, world, EXAMPLES, 2, windows)
    assert world.windows["programs"] == turns * EXAMPLES


@pytest.mark.parametrize(("share", "number", "programs"), [(1.0, 80, 80), (0.5, 80, 40), (0.1, 80, LEAST), (0.1, 4, 4)])
def test_a_share_of_many_programs_is_run(share: float, number: int, programs: int) -> None:
    world = World(0)
    with fewer_programs(share):
        run_machine(Programs, world, number, 1)
    assert world.windows["programs"] == programs


def test_a_kit_runs_all_programs_unless_it_is_asked_for_fewer() -> None:
    request = KitRequest("source", "holdfast.fixtures.sources.log:LogSource", "")
    whole, few = KitRun(request).assignment(), KitRun(msgspec.structs.replace(request, program_share=0.5)).assignment()
    assert whole is not None
    assert few is not None
    assert (whole.program_share, few.program_share) == (1.0, 0.5)


WRONG, NEEDED = Step("wrong", (0,)), Step("needed", (0,))


class DrawnWorld:
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
        play_drawn(DrawnWorld(), "label", 1, drawn, play)
    assert played[-1] == [NEEDED, WRONG]


def test_nor_does_one_that_cannot_be_tried_when_it_is_repeated() -> None:
    times = iter(range(1_000))

    def play(program: Program, number: int) -> None:
        if next(times):
            raise CannotTry("it is gone")
        raise Violation("SBK-01", "it is wrong.")

    world = DrawnWorld()
    with pytest.raises(Violation, match="it is wrong"):
        play_drawn(world, "label", 1, drawn, play)
    assert "not do this again" in world.steps[-1]


def test_what_cannot_be_tried_at_all_does_not_apply() -> None:
    def play(program: Program, number: int) -> None:
        raise CannotTry("it is too large")

    with pytest.raises(CannotTry):
        play_drawn(DrawnWorld(), "label", 1, drawn, play)
