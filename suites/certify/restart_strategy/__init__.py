"""The kit for restart strategies; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import restart_strategy

test_my_strategy = restart_strategy.kit("mypkg.restart:Strategy")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.restart_strategy import RestartStrategy, RestartStrategyFactory
from holdfast.suites.certify import plug
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.certify.judge import judge_on
from holdfast.suites.certify.plug import always, chosen, listed, shown
from holdfast.suites.certify.restart_strategy import attempts_and_delays, contract
from holdfast.suites.certify.restart_strategy.bench import Bench
from holdfast.suites.certify.restart_strategy.machines import MACHINES

__all__ = ["CHECKS", "certify", "kit"]


DIRECTED: tuple[Check[Bench], ...] = (*attempts_and_delays.CHECKS, *contract.CHECKS)
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


class RestartStrategyKit:
    """Restart strategies."""

    subject = Subject.RESTART_STRATEGY
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = always(
        "RST-07/unrecoverable",
        "RST-07/description",
        "RST-07/repeatable",
        "RST-07/moment",
        "RST-07/apart",
        "RST-07/far-moments",
    )

    def certify(
        self,
        factory: str,
        checks: Set[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        if location or options:
            raise ValueError("--location and --option are not for restart strategies: leave them out.")
        return map(shown, certify(factory, checks=chosen(CHECKS, checks), seed=seed))
