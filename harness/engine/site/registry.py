"""Everything that is plugged in, by its kind.

Nothing is imported before it is needed, so that a command that needs no system stays fast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points
from holdfast.harness.engine.site.foreign import loading, require_place_for
from holdfast.harness.engine.site.services import services
from holdfast.harness.spi.parts import part_factories, part_named, part_names, part_problems
from holdfast.harness.spi.service import NeedsServices
from holdfast.harness.spi.suite import Suite

if TYPE_CHECKING:
    from holdfast.harness.model.case import Case, Tier
    from holdfast.harness.model.deviation import DeviationTable
    from holdfast.harness.model.history import History
    from holdfast.harness.model.rule import Rule
    from holdfast.harness.spi.fault import AnyFault
    from holdfast.harness.spi.kit import Kit
    from holdfast.harness.spi.mutant import Mutant
    from holdfast.harness.spi.oracle import Oracle
    from holdfast.harness.spi.reporter import Reporter
    from holdfast.harness.spi.state import KeyedStateBackendFactory
    from holdfast.harness.spi.suite import Scaffold
    from holdfast.harness.spi.system import System
    from holdfast.harness.spi.workload import Workload


_GROUP = "holdfast.suites"


def brought_by_suites(field: str) -> list[EntryPoint]:
    """All of a kind, such as `cases`; nothing of it is loaded."""
    return [EntryPoint(field, reference, _GROUP) for suite in _suites() for reference in getattr(suite, field)]


def named_by_suites(field: str) -> dict[str, EntryPoint]:
    """The entry points of suites for things that a suite brings by name, such as `kits`."""
    found = [each for suite in _suites() for each in getattr(suite, field).items()]
    return {name: EntryPoint(name, reference, _GROUP) for name, reference in sorted(found)}


def one_of_suites(field: str, name: str, noun: str) -> Any:
    """The thing of that name.

    Raises:
        UsageError: it is not registered, or it cannot be loaded.
    """
    known = named_by_suites(field)
    if name not in known:
        raise entry_points.unknown(noun, name, known)
    return entry_points.instantiated(entry_points.loaded(known[name]))


def _suites() -> Iterator[Suite]:
    for each in entry_points.collected(entry_points.entries("suites").values()):
        if not isinstance(each, Suite):
            raise UsageError(f"{each!r} is registered under {_GROUP} and is no Suite: see holdfast.harness.spi.suite.")
        yield each


_WORDS = re.compile(r"[\w-]+(\+([\w-]+|\d+(\.\d+)*))*")
"""Such a name leads to no path and to no module."""
Thing = TypeVar("Thing")
_OUR_FORMATS = {
    "history": "holdfast.harness.model.events:AnyEvent",
    "plan": "holdfast.harness.model.plan:Plan",
    "results": "holdfast.harness.model.journal:Journal",
}
"""What the harness itself reads and writes."""
_SYSTEM_MEMBERS = ("name", "subject", "capabilities", "gates", "profile", "supplied_by_author",
                   "strict", "claims", "evidence", "account", "deploy")  # fmt: skip


class Toolbox(msgspec.Struct, frozen=True):
    """What a run needs beside a plan and a system; one serves a whole campaign.

    Attributes:
        faults: by kind.
        workloads: by name.
        oracles: by entry point, and within one in its own order: the first to name an anomaly is nearest to its cause.
    """

    faults: Mapping[str, AnyFault]
    workloads: Mapping[str, Workload]
    oracles: tuple[Oracle, ...]


@cache
def toolbox() -> Toolbox:
    """All registered faults, workloads and oracles."""
    return Toolbox(
        faults=_faults(),
        workloads={name: entry_points.instantiated(each) for name, each in entry_points.load_all("workloads").items()},
        oracles=tuple(entry_points.collected(entry_points.entries("oracles").values())),
    )


def _faults() -> dict[str, AnyFault]:
    from holdfast.harness.spi.fault import registered_faults

    entry_points.load_all("faults")  # what cannot be imported is said by name
    with loading("a registered fault", "mend it or uninstall its package"):
        try:
            return dict(registered_faults())
        except ValueError as error:
            raise UsageError(str(error)) from error


def system(name: str) -> System:
    """The system of that name: registered or `module:name`, with a variant behind a plus sign (`reference+D1`).

    Raises:
        UsageError: there is no such system or variant, or it is no system.
    """
    require_place_for(entry_points.strangers_in(name))
    base, _, variant = name.partition("+")
    factory = entry_points.imported(base) if ":" in base else entry_points.registered("systems", base, "system")
    if not callable(factory):
        raise UsageError(f"system {base!r} is a {type(factory).__name__}: name a callable that returns a System.")
    advice = "a system is made without arguments: mend that, or name a part of one, as in certify --sink module:name"
    with loading(f"system {name!r}", advice):
        try:
            made = factory(variant) if variant else factory()
        except ValueError as error:
            raise UsageError(f"system {name!r}: {error}") from error
        # A property is not evaluated: it may have to start the system for that.
        missing = [each for each in _SYSTEM_MEMBERS if not (hasattr(type(made), each) or hasattr(made, each))]
        if missing:
            raise UsageError(
                f"system {name!r} is a {type(made).__name__} without {', '.join(missing)}: implement the protocol "
                "holdfast.harness.spi.system.System, or inherit holdfast.harness.adapter.engine.Engine."
            )
        if isinstance(made, NeedsServices):
            made.attach(services)
    return cast("System", made)


def strangers_of(system: System) -> tuple[str, ...]:
    """The third-party code of a system that was made, which may have another name than it was named by."""
    kind = type(system)
    return entry_points.strangers_in(system.name) or entry_points.strangers_in(f"{kind.__module__}:{kind.__qualname__}")


def strangers_in_part(factory: str) -> tuple[str, ...]:
    """The third-party code of a part: named, registered, made of several, or known by the scheme of its URI."""
    named = part_factories(frozenset(re.split(r"\+|://", factory)))
    return tuple(stranger for each in (factory, *sorted(named)) for stranger in entry_points.strangers_in(each))


def needs_trust(name: str, *, repeats: bool) -> bool:
    """Whether a name in a file lets us import or run what no installed package registers.

    Args:
        name: of a system.
        repeats: the system is to run, and not only to be looked up.
    """
    # Who only looks names up imports nothing heavy.
    from holdfast.harness.spi.system import VariantIsProgram

    base, _, variant = name.partition("+")
    if base not in entry_points.entries("systems"):
        return True
    factory = entry_points.registered("systems", base, "system")
    if isinstance(factory, VariantIsProgram) and factory.variant_is_program:
        return repeats and bool(variant)
    return not _WORDS.fullmatch(name)


def stored_system(name: str, source: str | Path, *, trust: bool, repeats: bool = False) -> System:
    """The system that a stored run names.

    Args:
        name: as it stands there.
        source: the run.
        trust: the user allows whatever it names.
        repeats: it is to run.

    Raises:
        UsageError: it is not registered and not trusted, or as `system`.
    """
    _require_trust(name, f"{source}: it was recorded on", "", trust=trust, repeats=repeats)
    return system(name)


def planned_system(name: str, source: Path, *, trust: bool) -> System:
    """The system that a plan file names, to run: the file may be somebody else's, such as that of a stored run.

    Args:
        name: as it stands there.
        source: the file.
        trust: the user allows whatever it names.

    Raises:
        UsageError: it is not registered and not trusted, or as `system`.
    """
    _require_trust(name, f"{source}: it names", ", or name the system with --system", trust=trust, repeats=True)
    return system(name)


def _require_trust(name: str, who: str, otherwise: str, *, trust: bool, repeats: bool) -> None:
    if ":" not in name.partition("+")[0]:
        entry_points.registered("systems", name.partition("+")[0], "system")
    if not trust and needs_trust(name, repeats=repeats):
        raise UsageError(
            f"{who} system {name!r}, whose code would be run; registered systems need no permission: look at that "
            f"code, then add --trust{otherwise}."
        )


def reporters(shown: type[Thing]) -> tuple[Reporter[Thing], ...]:
    """Whoever shows values of a class, in the order of their names; no other one is made.

    Raises:
        UsageError: a reporter cannot be loaded or made, or does not say what it shows.
    """
    found = []
    for name, factory in entry_points.load_all("reporters").items():
        shows = getattr(factory, "shows", None)
        if not isinstance(shows, type):
            raise UsageError(
                f"reporter {name!r} does not say what it shows: give its class shows = Journal, or another class that "
                "holdfast.harness.spi.reporter.Reporter names."
            )
        if shows is shown:
            found.append(entry_points.instantiated(factory))
    return tuple(found)


def kits() -> tuple[str, ...]:
    """The contracts of the SPI that somebody judges, without loading who does."""
    return tuple(named_by_suites("kits"))


def kit(contract: str) -> Kit:
    """The kit that judges a contract of the SPI, by its name.

    Raises:
        UsageError: none is registered.
    """
    return cast("Kit", one_of_suites("kits", contract, "kit"))


def scaffolds() -> tuple[str, ...]:
    """What an author can start from, without loading it."""
    return tuple(named_by_suites("scaffolds"))


def scaffold(kind: str) -> Scaffold:
    """The scaffold that an author of such a part starts from.

    Raises:
        UsageError: none is registered.
    """
    return cast("Scaffold", one_of_suites("scaffolds", kind, "scaffold"))


def formats() -> tuple[str, ...]:
    return tuple(sorted({*_OUR_FORMATS, *_formats_of_systems()}))


def schema_type(name: str) -> Any:
    """The type of a format that has a schema, such as `plan`; a union where it is one of several messages.

    Raises:
        UsageError: there is no such format.
    """
    if name in _OUR_FORMATS:
        return entry_points.imported(_OUR_FORMATS[name])
    found = _formats_of_systems()
    if name not in found:
        raise entry_points.unknown("format", name, (*_OUR_FORMATS, *found))
    return found[name]


def _formats_of_systems() -> dict[str, Any]:
    from holdfast.harness.spi.system import BringsFormats  # As in needs_trust.

    return {name: kind for factory in _factories(BringsFormats) for name, kind in factory.formats.items()}


def _factories(having: type[Thing]) -> Iterator[Thing]:
    """Of registered systems the factories that have something; one that cannot be loaded has nothing."""
    for entry in entry_points.entries("systems").values():
        with suppress(UsageError):
            factory = entry_points.loaded(entry)
            if isinstance(factory, having):
                yield factory


def state_backend(name: str) -> KeyedStateBackendFactory:
    """The factory of that name: registered or `module:name`, with wrappers behind plus signs (`rocksdb+changelog`).

    Raises:
        UsageError: there is no such backend or wrapper, or it cannot be called.
    """
    base, *wrappers = name.split("+")
    factory = entry_points.imported(base) if ":" in base else _part("state-backend", base)
    if not callable(factory):
        raise UsageError(
            f"state backend {base!r} is a {type(factory).__name__}: name a callable that takes a StateContext."
        )
    for wrapper in wrappers:
        factory = _part("state-backend-wrapper", wrapper)(factory)
    return cast("KeyedStateBackendFactory", factory)


def _part(contract: str, name: str) -> Any:
    noun, known = contract.replace("-", " "), part_names(contract)
    if name not in known:
        words = (f"{entry_points.unknown(noun, name, known)} Or give it as module:name.", *part_problems())
        raise UsageError(" ".join(words))
    with loading(f"{noun} {name!r}", "install the package again"):
        return part_named(contract, name)


def kits_deciding(rule: str) -> tuple[str, ...]:
    """Contracts of the SPI whose kit decides a rule, by its id. A kit that lacks what it needs is left out."""
    found = []
    for contract in kits():
        with suppress(UsageError):
            if rule in kit(contract).rules:
                found.append(contract)
    return tuple(found)


@cache
def rules() -> tuple[Rule, ...]:
    """The rules of every registered catalogue, in the order of their ids."""
    return tuple(sorted(entry_points.collected(brought_by_suites("rules")), key=lambda rule: rule.id))


@cache
def cases() -> tuple[Case, ...]:
    """Every registered case, in the order of their ids."""
    return _distinct("case", entry_points.collected(brought_by_suites("cases")), lambda case: case.id)


@cache
def case_costs() -> Mapping[tuple[str, Tier], float]:
    """By case and tier, the recorded seconds of all its runs one after the other, alone on an idle machine."""
    tables = [entry_points.instantiated(entry_points.loaded(each)) for each in brought_by_suites("case_costs")]
    return {key: seconds for table in tables for key, seconds in table.items()}


@cache
def mutants() -> tuple[Mutant, ...]:
    """Every registered mutant, in the order of their names."""
    from holdfast.harness.spi.system import BringsMutants

    found = [mutant for factory in _factories(BringsMutants) for mutant in factory.mutants()]
    return _distinct("mutant", found, lambda each: each.name)


@cache
def cases_by_module() -> Mapping[str, Sequence[Case]]:
    return entry_points.by_module(brought_by_suites("cases"))


@cache
def oracles_by_module() -> Mapping[str, Sequence[Oracle]]:
    """By module that is registered, its oracles; a package stands for all below it."""
    return entry_points.by_module(entry_points.entries("oracles").values())


def history(name: str) -> Callable[[], History] | None:
    """The function that makes the hand-made history of that name."""
    tables = map(entry_points.loaded, brought_by_suites("histories"))
    return next((each[name] for each in tables if name in each), None)


def deviations() -> tuple[DeviationTable, ...]:
    """The table of every system that brings one."""
    from holdfast.harness.spi.system import BringsDeviations

    return tuple(factory.deviations() for factory in _factories(BringsDeviations))


def _distinct(noun: str, things: Iterable[Thing], key: Callable[[Thing], str]) -> tuple[Thing, ...]:
    """In the order of their ids."""
    found = tuple(sorted(things, key=key))
    for before, after in pairwise(map(key, found)):
        if before == after:
            raise UsageError(f"{noun} {after!r} is registered twice: give one of the two another id.")
    return found
