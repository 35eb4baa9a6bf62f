"""What all kits share: how a factory comes in, where what it makes may lie, and how verdicts go out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from holdfast.harness.model.status import Status
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.words import LONGEST, words_of
from holdfast.suites.certify.check import Check, CheckVerdict

AnyCheck = TypeVar("AnyCheck", bound=Check[Any])
_GOOD = frozenset({Status.PASS, Status.NOT_APPLICABLE})


def loaded(noun: str, name: str, contract: type) -> Callable[..., Any]:
    """The factory of a name.

    Args:
        noun: what it makes, such as `state backend`.
        name: as `module:name`.
        contract: protocol that what it makes keeps.

    Raises:
        ValueError: there is no such module or name, it cannot be called, or it is a class that is none of these.
    """
    module, _, attribute = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{noun} {name!r} cannot be loaded: {error}.") from error
    if not callable(found):
        raise ValueError(f"{noun} {name!r} is a {type(found).__name__}: name a callable that takes a context.")
    require_members(noun, name, found, contract)
    return cast("Callable[..., Any]", found)


def require_members(noun: str, name: str, factory: Callable[..., Any], contract: type) -> None:
    """A factory that is a class has the methods of its contract.

    Args:
        noun, name, contract: as `loaded`.
        factory: of that name.

    Raises:
        ValueError: one of them is missing.
    """
    if not isinstance(factory, type) or hasattr(factory, "__getattr__"):
        return  # What it has is known when it is called.
    missing = [member for member in vars(contract) if not member.startswith("_") and not hasattr(factory, member)]
    if missing:
        raise ValueError(
            f"{noun} {name!r} is a class without {', '.join(missing)}: implement the protocol "
            f"{contract.__module__}.{contract.__name__}."
        )


def as_test(checks: Sequence[Check[Any]], judge: Callable[[Check[Any]], CheckVerdict]) -> Callable[..., None]:
    """A test function, one test for each check.

    A check that does not apply is skipped; one that is inconclusive fails as one that is refuted does.
    """
    import pytest

    @pytest.mark.parametrize("check", checks, ids=lambda check: check.id)
    def test(check: Check[Any]) -> None:
        __tracebackhide__ = True
        verdict = judge(check)
        if verdict.status is Status.NOT_APPLICABLE:
            pytest.skip(verdict.reason)
        if verdict.status not in _GOOD:
            pytest.fail(verdict.text, pytrace=False)

    return cast("Callable[..., None]", test)


def chosen(checks: Sequence[AnyCheck], ids: Set[str]) -> list[AnyCheck]:
    """The checks of these ids; all, if there are none."""
    return [check for check in checks if not ids or check.id in ids]


def always(*ids: str) -> tuple[frozenset[str], ...]:
    """Checks of a floor (spi.kit.HasFloor), each of which applies to everything."""
    return tuple(frozenset({name}) for name in ids)


def listed(checks: Sequence[Check[Any]]) -> tuple[KitCheck, ...]:
    """Checks as the command line lists them before they run."""
    return tuple(KitCheck(check.id, check.purpose, check.rule, Status.UNTESTED) for check in checks)


def shown(verdict: CheckVerdict) -> KitCheck:
    """A verdict as the command line takes it."""
    check, figures = verdict.check, tuple(verdict.figures)
    reason, *witness = (words_of(each, longest=2 * LONGEST) for each in (verdict.reason, *verdict.witness))
    return KitCheck(check.id, check.purpose, verdict.rule, verdict.status, reason, tuple(witness), figures=figures)


def plugged_in(contract: str, factory: str, location: str) -> str:
    """The runtime with what is certified, as a user types it."""
    return f"reference+{contract}={factory}" + (f"@{location}" if location else "")


Factory = Callable[..., Any]


class Contract(NamedTuple):
    """Which contract it keeps.

    Attributes:
        noun: of what is made, such as `checkpoint storage`.
        protocol: that it keeps.
        of_uri: the factory that is registered for the scheme of a URI.
    """

    noun: str
    protocol: type
    of_uri: Callable[[str], Factory]

    def named(self, name: str) -> Factory:
        """The factory of a name, or of the scheme of a URI.

        Raises:
            ValueError: it leads nowhere.
        """
        return self.of_uri(name) if "://" in name else loaded(self.noun, name, self.protocol)

    def name_of(self, factory: Factory) -> str:
        """By which another process finds a factory; empty: it cannot."""
        name = f"{getattr(factory, '__module__', '')}:{getattr(factory, '__qualname__', '')}"
        try:
            return name if self.named(name) is factory else ""
        except ValueError:
            return ""


class Target(msgspec.Struct, frozen=True):
    """The part that is certified.

    Attributes:
        name: by which another process finds the factory; empty: it cannot.
        uri: below which everything lies; empty: a folder of the kit's own.
        options: of everything that is made.
        factory: of it.
    """

    name: str
    uri: str
    options: Mapping[str, str]
    factory: Factory


def target_of(
    contract: Contract, factory: Factory | str, uri: str = "", options: Mapping[str, str] | None = None
) -> Target:
    """
    Args:
        contract: that is certified.
        factory: a URI whose scheme is registered, `module:name`, or the factory itself.
        uri: of `Target`; where `factory` is a URI, it is that one.
        options: of `Target`.

    Raises:
        ValueError: the name leads nowhere, or there are two URIs.
    """
    if not isinstance(factory, str):
        return Target(contract.name_of(factory), uri, options or {}, factory)
    if "://" in factory:
        if uri:
            raise ValueError(f"both {factory!r} and {uri!r} are places: leave out --location.")
        uri = factory
    return Target(factory, uri, options or {}, contract.named(factory))
