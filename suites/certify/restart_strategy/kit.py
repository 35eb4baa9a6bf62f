"""The whole kit: every check, and one test of each for pytest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from holdfast.harness.spi.restart_strategy import RestartStrategy, RestartStrategyFactory
from holdfast.suites.certify import plug
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.certify.judge import judge_on
from holdfast.suites.certify.restart_strategy.bench import Bench
from holdfast.suites.certify.restart_strategy.checks import DIRECTED
from holdfast.suites.certify.restart_strategy.machines import MACHINES

CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *MACHINES)
Factory = RestartStrategyFactory | str


def certify(factory: Factory, checks: Iterable[Check[Bench]] = CHECKS, seed: int = 0) -> Iterator[CheckVerdict]:
    """Every check of a restart strategy, one after the other, as they end.

    Args:
        factory: of the strategy, or its `module:name`.
        checks: a choice of them.
        seed: of all random programs.

    Raises:
        ValueError: a name cannot be loaded; one sentence.
    """
    ours = loaded(factory)
    return (judge(check, ours, seed) for check in checks)


def judge(check: Check[Bench], factory: RestartStrategyFactory, seed: int = 0) -> CheckVerdict:
    """One check of one strategy; arguments as of `certify`."""
    return judge_on(check, lambda: Bench(factory, check.rule, seed), "RST-07")


def kit(factory: Factory) -> Callable[..., None]:
    """A test function, one test for each check: assign it to a name that begins with `test`.

    A check that does not apply is skipped; one that is inconclusive fails as one that is refuted does.
    """
    return plug.as_test(CHECKS, lambda check: judge(check, loaded(factory)))


def loaded(factory: Factory) -> RestartStrategyFactory:
    """The factory itself.

    Raises:
        ValueError: there is no such module or name, or it cannot be called.
    """
    return plug.loaded("restart strategy", factory, RestartStrategy) if isinstance(factory, str) else factory
