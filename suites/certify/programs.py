"""Random programs by Hypothesis, the same for each seed while the same modules are loaded; what breaks is shrunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from sys import exception
from typing import Protocol

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import Flaky, HypothesisException, StopTest
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from holdfast.harness.engine.site.program_share import programs_of
from holdfast.suites.certify import time_limit

MOST_TURNS = 5
"""How often programs are drawn until they have met what they are there for."""


class Seeded(Protocol):
    """What programs run on.

    Attributes:
        seed: of the programs.
        windows: what was met, by name.
        steps: what was done so far: the witness.
    """

    seed: int
    windows: Counter[str]
    steps: list[str]


def run_machine(
    machine: type[RuleBasedStateMachine], bench: Seeded, examples: int, steps: int, windows: Iterable[str] = ()
) -> None:
    """Run random programs, and others if those happen not to meet what they must.

    Args:
        machine: reads `outer`.
        bench: becomes its `outer`.
        examples: number of programs in a thorough run.
        steps: of each.
        windows: what must be met, by name; whatever is still missing after the last turn is for the check to judge.
    """
    wanted = tuple(windows)
    for turn in range(MOST_TURNS):
        _run_programs(machine, bench, examples, steps, turn)
        if all(bench.windows[window] for window in wanted):
            return


def _run_programs(machine: type[RuleBasedStateMachine], bench: Seeded, examples: int, steps: int, turn: int) -> None:
    draws = f"{bench.seed}, turn {turn}" if turn else bench.seed

    raised: list[BaseException] = []

    def begin(self: RuleBasedStateMachine) -> None:
        time_limit.programs.begin()
        try:
            machine.__init__(self)
        except Exception as error:
            raised.append(error)
            raise

    def teardown(self: RuleBasedStateMachine) -> None:
        error = exception()
        if error is not None and not isinstance(error, HypothesisException | StopTest):
            raised.append(error)
        machine.teardown(self)

    own = {"outer": bench, "__init__": begin, "teardown": teardown}
    bound = seed(draws)(type(machine.__name__, (machine,), own))
    chosen = settings(
        max_examples=programs_of(examples),
        stateful_step_count=steps,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    try:
        run_state_machine_as_test(bound, settings=chosen)
    except Flaky as flaky:
        if not raised:
            raise
        bench.steps.append("the same program did not do this again when it was repeated")
        raise raised[0] from flaky
