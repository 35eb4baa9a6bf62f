"""Random programs by Hypothesis: the same ones for each seed; what breaks is shrunk."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def run_machine(
    machine: type[RuleBasedStateMachine], bench: object, examples: int, steps: int, number: int = 0
) -> None:
    """Run random programs.

    Args:
        machine: reads `outer`.
        bench: becomes its `outer`.
        examples: number of programs.
        steps: of each.
        number: the seed.
    """
    bound = seed(number)(type(machine.__name__, (machine,), {"outer": bench}))
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
