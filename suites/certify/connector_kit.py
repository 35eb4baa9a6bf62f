"""A kit of connectors, which are tried in a place of theirs: all of it but its checks and its bench; and fault points.

Fault points are what happens at which step outside of something that declares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from msgspec.structs import replace

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify import judge, plug
from holdfast.suites.certify.check import Check, CheckVerdict

_numbers = count(1)


class Connected(NamedTuple):
    """The system that a sink writes to, or a source reads.

    Attributes:
        location: URI below which each check has a place of its own, which must be empty; empty: a folder of the kit's.
        options: of everything that the factory makes.
    """

    location: str = ""
    options: Mapping[str, str] = {}

    def place(self, folder: str) -> str:
        """The URI of a place that no check has used.

        Args:
            folder: of the kit's own, if there is no location.
        """
        return f"{self.location}/{next(_numbers)}" if self.location else f"file://{folder}"


HERE = Connected()
"""A folder of the kit's own, and no options."""


def require_place(location: str) -> None:
    """A URI can say where what is certified is tried.

    Args:
        location: as of Connected.

    Raises:
        ValueError: the temporary folder of this machine has a name that no two readers of a URI take for the same.
    """
    folder = gettempdir()
    if not location and (odd := sorted(set(folder) & set("%#?"))):
        raise ValueError(f"the temporary folder {folder!r} has {' '.join(odd)} in its name: set TMPDIR to another one.")


def folder_of(uri: str) -> Path:
    """The folder of a URI `file://FOLDER`.

    Raises:
        ValueError: it is another one, so that nobody but its author's code can look at it.
    """
    scheme, _, path, *_ = urlsplit(uri)
    if scheme != "file":
        raise ValueError(f"place {uri!r} is no folder, so that its format cannot be one that the kit knows.")
    return Path(path)


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


class Crashed(BaseException):
    """Stands for the end of the process; no `except Exception` stops it."""


class FaultPoints:
    """The points of one process, as the `arrive` of its context reports them; the first is number 0.

    Attributes:
        arrived: names of all points so far.
        strikes: number of the point at which something happens; None: nothing does.
        crash: it is the end of the process, and else an error.
        struck: it has happened.
        held: a call has stood still, as `hold` says.
        broken: what was raised while it stood still, which the call may swallow; None: nothing was.
    """

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self.strikes: int | None = None
        self.crash = False
        self.struck = False
        self.held = False
        self.broken: Exception | None = None
        self._meanwhile: Callable[[], object] | None = None

    def arm(self, number: int, *, crash: bool) -> None:
        """Let the point so many points from here strike."""
        self.arrived.clear()
        self.strikes, self.crash, self.struck = number, crash, False

    def hold(self, number: int, meanwhile: Callable[[], object]) -> None:
        """Let a call stand still at the point so many points from here, until something else was done."""
        self.arrived.clear()
        self.strikes, self._meanwhile, self.held, self.broken = number, meanwhile, False, None

    def disarm(self) -> None:
        """Nothing strikes any more."""
        self.strikes = self._meanwhile = None

    @contextmanager
    def passed_over(self) -> Iterator[None]:
        """Points that are arrived at in here neither strike nor count."""
        strikes, self.strikes, arrived = self.strikes, None, len(self.arrived)
        try:
            yield
        finally:
            self.strikes = strikes
            del self.arrived[arrived:]

    def arrive(self, step: str) -> None:
        number = len(self.arrived)
        self.arrived.append(step)
        if number != self.strikes:
            return
        self.strikes = None
        if self._meanwhile is not None:
            meanwhile, self._meanwhile, self.held = self._meanwhile, None, True
            try:
                meanwhile()
            except Exception as error:
                self.broken = error
                raise
        else:
            self.struck = True
            raise Crashed if self.crash else Transient(f"no answer to {step}")
