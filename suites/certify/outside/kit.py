"""A kit whose checks reach what is certified in other processes, too: all of it but its checks and its bench."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from holdfast.harness.engine.site.interruption import note_hanging
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify import plug
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.certify.judge import CHECK_LIMIT_S, judge_on, overdue
from holdfast.suites.certify.outside.bench import OutsideBench
from holdfast.suites.certify.plug import Contract, Factory, Target, target_of

BenchT = TypeVar("BenchT", bound=OutsideBench)
AT_ONCE = {"hdfs": 4}
"""By scheme, how many checks are tried at once. A client of HDFS waits half a second wherever a file is closed: it asks
the NameNode before the DataNode has reported the last block, and asks again then."""
_FACTORY_RULE = "CFG-05"
"""Broken where nothing can be made."""


def _side_by_side(
    judge: Callable[[Check[BenchT]], CheckVerdict], checks: Iterable[Check[BenchT]], at_once: int
) -> Iterator[CheckVerdict]:
    """In the order of the checks. Each has a world of its own, so none sees another one. One that is kept waiting is
    left where it is."""
    chosen, hangs = tuple(checks), False
    pool = ThreadPoolExecutor(at_once)
    try:
        for check, verdict in [(each, pool.submit(judge, each)) for each in chosen]:
            try:
                yield verdict.result(CHECK_LIMIT_S)
            except TimeoutError:
                hangs = True
                note_hanging(check.id)
                yield overdue(check, "the check")
    finally:
        pool.shutdown(wait=not hangs, cancel_futures=True)


class OutsideKit(Generic[BenchT]):
    """
    Args:
        checks: all that there are.
        bench: makes the world of a check: of a target, a rule and a seed.
        contract: that is certified.
    """

    def __init__(
        self,
        checks: tuple[Check[BenchT], ...],
        bench: Callable[[Target, str, int], BenchT],
        contract: Contract,
    ) -> None:
        self.checks = checks
        self._bench = bench
        self._contract = contract

    def target_of(self, factory: Factory | str, uri: str = "", options: Mapping[str, str] | None = None) -> Target:
        """See `outside.target.target_of`."""
        return target_of(self._contract, factory, uri, options)

    def certify(
        self, target: Target, checks: Iterable[Check[BenchT]] | None = None, seed: int = 0
    ) -> Iterator[CheckVerdict]:
        """Every check, in their order: one after the other, or some at once where they do nothing but wait.

        Args:
            target: as `target_of` makes it.
            checks: a choice of them; None: all.
            seed: of all random programs.
        """
        chosen = self.checks if checks is None else tuple(checks)
        at_once = AT_ONCE.get(target.uri.partition("://")[0], 1)
        if at_once == 1:
            return (self.judge(check, target, seed) for check in chosen)
        return _side_by_side(partial(self.judge, target=target, seed=seed), chosen, at_once)

    def judge(self, check: Check[BenchT], target: Target, seed: int = 0) -> CheckVerdict:
        """One check; arguments as of `certify`."""
        return judge_on(check, lambda: self._bench(target, check.rule, seed), _FACTORY_RULE)

    def kit(
        self, factory: Factory | str, location: str = "", options: Mapping[str, str] | None = None
    ) -> Callable[..., None]:
        """A test function, one test for each check: assign it to a name that begins with `test`.

        A check that does not apply is skipped; one that is inconclusive fails as one that is refuted does.

        Args:
            factory: a URI whose scheme is registered, `module:name`, or the factory itself.
            location: URI below which what it makes may lie; empty: a folder of the kit's own.
            options: of everything that it makes.
        """
        return plug.as_test(self.checks, lambda check: self.judge(check, self.target_of(factory, location, options)))


class RegisteredOutsideKit:
    """What the command line finds of such a kit (spi.kit.Kit); a subclass names the kit and its subject."""

    whole: ClassVar[OutsideKit[Any]]

    def certify(
        self,
        factory: str,
        checks: Set[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        target = self.whole.target_of(factory, location, options)
        return map(plug.shown, self.whole.certify(target, plug.chosen(self.whole.checks, checks), seed))
