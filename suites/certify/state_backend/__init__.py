"""The kit for keyed state backends; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import state_backend

test_my_backend = state_backend.kit("mypkg.backend:Backend")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.state import KeyedStateBackend, KeyedStateBackendFactory
from holdfast.suites.certify import plug
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.certify.judge import judge_on
from holdfast.suites.certify.plug import always, chosen, listed, shown
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.checks import DIRECTED
from holdfast.suites.certify.state_backend.programs import PROGRAMS

__all__ = ["CHECKS", "certify", "kit"]


CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *PROGRAMS)
Factory = KeyedStateBackendFactory | str


def certify(
    factory: Factory, other: Factory = HashMapBackend, checks: Iterable[Check[Bench]] = CHECKS, seed: int = 0
) -> Iterator[CheckVerdict]:
    """Every check of a backend, one after the other, as they end.

    Args:
        factory: of the backend, its registered name, or its `module:name`.
        other: of another one, between which state moves in canonical form.
        checks: a choice of them.
        seed: of all random programs.

    Raises:
        ValueError: a name cannot be loaded; one sentence.
    """
    ours, others = loaded(factory), loaded(other)
    return (judge(check, ours, others, seed) for check in checks)


def judge(
    check: Check[Bench], factory: KeyedStateBackendFactory, other: KeyedStateBackendFactory, seed: int = 0
) -> CheckVerdict:
    """One check of one backend; arguments as of `certify`."""
    return judge_on(check, lambda: Bench(factory, other, check.rule, seed), "SBK-09")


def kit(
    factory: Factory, other: Factory = HashMapBackend, checks: Iterable[Check[Bench]] = CHECKS
) -> Callable[..., None]:
    """A test function, one test for each check: assign it to a name that begins with `test`.

    Args:
        factory, other, checks: as `certify`.

    A check that does not apply is skipped; one that is inconclusive fails as one that is refuted does.
    """
    return plug.as_test(tuple(checks), lambda check: judge(check, loaded(factory), loaded(other)))


def loaded(factory: Factory) -> KeyedStateBackendFactory:
    """The factory itself.

    Raises:
        ValueError: nobody registered it, there is no such module or name, it cannot be called, or it is a class that is
            no backend.
    """
    if not isinstance(factory, str):
        return factory
    try:
        found = registry.state_backend(factory)
    except UsageError as error:
        raise ValueError(str(error)) from error
    plug.require_members("state backend", factory, found, KeyedStateBackend)
    return found


class StateBackendKit:
    """Keyed state backends."""

    subject = Subject.STATE_BACKEND
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = always(
        "ASY-06/closed",
        "INC-01/program",
        "INC-02/program",
        "INC-03/program",
        "REC-09/program",
        "RSC-01/scaling",
        "SBK-01/program",
        "SBK-02/program",
        "SBK-03/program",
        "SBK-04/incompatible",
        "SBK-05/program",
        "SBK-09/description",
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
            raise ValueError("--location and --option are not for state backends: leave them out.")
        return map(shown, certify(factory, checks=chosen(CHECKS, checks), seed=seed))

    def plugged(self, factory: str, location: str, options: Mapping[str, str]) -> str:
        if ":" not in factory:
            raise ValueError(f"state backend {factory!r} is one of ours: certify reference, or name module:factory.")
        return f"reference+state-backend={factory}"
