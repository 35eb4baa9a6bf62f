"""Random programs by Hypothesis, the same for each seed while the same modules are loaded; what breaks is shrunk."""

from __future__ import annotations

from typing import Protocol

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


class Seeded(Protocol):
    """What programs run on.

    Attributes:
        seed: of the programs.
    """

    seed: int


def run_machine(machine: type[RuleBasedStateMachine], bench: Seeded, examples: int, steps: int) -> None:
    """Run random programs.

    Args:
        machine: reads `outer`.
        bench: becomes its `outer`.
        examples: number of programs.
        steps: of each.
    """
    bound = seed(bench.seed)(type(machine.__name__, (machine,), {"outer": bench}))
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    run_state_machine_as_test(bound, settings=chosen)
