"""The whole kit: every check, and one test of each for pytest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import cast

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.harness.model.status import Status
from holdfast.harness.spi.state import KeyedStateBackendFactory
from holdfast.suites.certify.state_backend.check import Check
from holdfast.suites.certify.state_backend.checks import DIRECTED
from holdfast.suites.certify.state_backend.judge import judge
from holdfast.suites.certify.state_backend.machines import MACHINES
from holdfast.suites.certify.state_backend.verdict import CheckVerdict

CHECKS: tuple[Check, ...] = (*DIRECTED, *MACHINES)
Factory = KeyedStateBackendFactory | str
_GOOD = frozenset({Status.PASS, Status.NOT_APPLICABLE})


def certify(
    factory: Factory, other: Factory = HashMapBackend, checks: Iterable[Check] = CHECKS, seed: int = 0
) -> Iterator[CheckVerdict]:
    """Every check of a backend, one after the other, as they end.

    Args:
        factory: of the backend, or its `module:name`.
        other: of another one, between which state moves in canonical form.
        checks: a choice of them.
        seed: of all random programs.

    Raises:
        ValueError: a name cannot be loaded; one sentence.
    """
    ours, others = loaded(factory), loaded(other)
    return (judge(check, ours, others, seed) for check in checks)


def kit(factory: Factory, other: Factory = HashMapBackend) -> Callable[..., None]:
    """A test function, one test for each check: assign it to a name that begins with `test`.

    A check that does not apply is skipped; one that is inconclusive fails as one that is refuted does.
    """
    import pytest

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
    def test(check: Check) -> None:
        __tracebackhide__ = True
        verdict = judge(check, loaded(factory), loaded(other))
        if verdict.status is Status.NOT_APPLICABLE:
            pytest.skip(verdict.reason)
        if verdict.status not in _GOOD:
            pytest.fail(verdict.text, pytrace=False)

    return cast("Callable[..., None]", test)


def loaded(factory: Factory) -> KeyedStateBackendFactory:
    """The factory itself.

    Raises:
        ValueError: there is no such module or name, or it cannot be called.
    """
    if not isinstance(factory, str):
        return factory
    module, _, name = factory.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"state backend {factory!r} cannot be loaded: {error}.") from error
    if not callable(found):
        raise ValueError(
            f"state backend {factory!r} is a {type(found).__name__}: name a callable that takes a context."
        )
    return cast("KeyedStateBackendFactory", found)
