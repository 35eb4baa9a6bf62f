"""A kit of connectors, which are tried in a place of theirs: all of it but its checks and its bench."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from msgspec.structs import replace

from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify import judge, plug
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.certify.connected import HERE, Connected, require_place

BenchT = TypeVar("BenchT", bound=judge.Bench)
FactoryT = TypeVar("FactoryT", bound=Callable[..., Any])
TriedT = TypeVar("TriedT", bound=Callable[..., Any], contravariant=True)


class Contract(Protocol[TriedT]):
    """What connectors of a kind implement.

    Attributes:
        noun: of one, such as `sink`.
        implemented: the protocol.
        rule: broken where nothing can be made.
    """

    noun: str
    implemented: type
    rule: str

    def supplied_by_author(self, factory: TriedT, place: str, options: Mapping[str, str]) -> Sequence[str]:
        """What of the judgement rests on the word of its author; a factory that fails may raise anything."""


class ConnectorKit(Generic[BenchT, FactoryT]):
    """
    Args:
        contract: of what is certified.
        checks: all that there are.
        bench: makes the world of a check: of a factory, a rule, a seed and a place.
    """

    def __init__(
        self,
        contract: Contract[FactoryT],
        checks: tuple[Check[BenchT], ...],
        bench: Callable[[FactoryT, str, int, Connected], BenchT],
    ) -> None:
        self.checks = checks
        self._contract = contract
        self._bench = bench

    def certify(
        self,
        factory: FactoryT | str,
        checks: Iterable[Check[BenchT]] | None = None,
        seed: int = 0,
        connected: Connected = HERE,
    ) -> Iterator[CheckVerdict]:
        """Every check, one after the other, as they end.

        Args:
            factory: or its `module:name`.
            checks: a choice of them; None: all.
            seed: of all random programs.
            connected: where it is tried, and with which options.

        Raises:
            ValueError: a name cannot be loaded; one sentence.
        """
        ours = self.loaded(factory)
        return (self.judge(check, ours, seed, connected) for check in (self.checks if checks is None else checks))

    def judge(
        self, check: Check[BenchT], factory: FactoryT, seed: int = 0, connected: Connected = HERE
    ) -> CheckVerdict:
        """One check; arguments as of `certify`."""
        return judge.judge_on(check, lambda: self._bench(factory, check.rule, seed, connected), self._contract.rule)

    def supplied_by_author(self, factory: FactoryT | str, connected: Connected = HERE) -> tuple[str, ...]:
        """What of the judgement rests on the word of its author."""
        place = connected.location or "file:///nowhere"
        try:
            return tuple(self._contract.supplied_by_author(self.loaded(factory), place, connected.options))
        except Exception:
            return ()  # Every check says so.

    def kit(self, factory: FactoryT | str, connected: Connected = HERE) -> Callable[..., None]:
        """A test function, one test for each check: assign it to a name that begins with `test`.

        A check that does not apply is skipped; one that is inconclusive fails as one that is refuted does.

        Args:
            factory: or its `module:name`.
            connected: where it is tried, and with which options.
        """
        return plug.as_test(self.checks, lambda check: self.judge(check, self.loaded(factory), connected=connected))

    def loaded(self, factory: FactoryT | str) -> FactoryT:
        """The factory itself.

        Raises:
            ValueError: there is no such module or name, or it cannot be called.
        """
        if not isinstance(factory, str):
            return factory
        return cast("FactoryT", plug.loaded(self._contract.noun, factory, self._contract.implemented))


class RegisteredConnectorKit:
    """What the command line finds of such a kit (spi.kit.Kit); a subclass names the kit and its subject."""

    whole: ClassVar[ConnectorKit[Any, Any]]

    def certify(
        self,
        factory: str,
        checks: Set[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        require_place(location)
        connected = Connected(location, options or {})
        chosen = plug.chosen(self.whole.checks, checks)
        verdicts = self.whole.certify(factory, chosen, seed, connected)
        supplied = self.whole.supplied_by_author(factory, connected)
        return (replace(plug.shown(verdict), supplied_by_author=supplied) for verdict in verdicts)
