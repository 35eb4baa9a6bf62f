"""Random programs go on until they have met what they are there for, and no longer than that."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import msgspec
import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from holdfast.harness.engine.certification.kit_run import KitRequest, KitRun
from holdfast.harness.engine.site.program_share import LEAST, fewer_programs
from holdfast.suites.certify.programs import MOST_TURNS, run_machine

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
