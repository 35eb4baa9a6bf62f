"""The whole kit: every check, and one test of each for pytest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from holdfast.harness.spi.sink import Sink, SinkContext, SinkFactory
from holdfast.suites.certify import plug
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.connected import HERE, Connected
from holdfast.suites.certify.judge import judge_on
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks import DIRECTED
from holdfast.suites.certify.sink.machines import MACHINES
from holdfast.suites.certify.verdict import CheckVerdict

CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *MACHINES)
Factory = SinkFactory | str


def certify(
    factory: Factory, checks: Iterable[Check[Bench]] = CHECKS, seed: int = 0, connected: Connected = HERE
) -> Iterator[CheckVerdict]:
    """Every check of a sink, one after the other, as they end.

    Args:
        factory: of the sink, or its `module:name`.
        checks: a choice of them.
        seed: of all random programs.
        connected: where it is tried, and with which options.

    Raises:
        ValueError: a name cannot be loaded; one sentence.
    """
    ours = loaded(factory)
    return (judge(check, ours, seed, connected) for check in checks)


def judge(check: Check[Bench], factory: SinkFactory, seed: int = 0, connected: Connected = HERE) -> CheckVerdict:
    """One check of one sink; arguments as of `certify`."""
    return judge_on(check, lambda: Bench(factory, check.rule, seed, connected), "TPC-05")


def supplied_by_author(factory: Factory, connected: Connected = HERE) -> tuple[str, ...]:
    """What of the judgement rests on the word of the sink's author."""
    place = connected.location or "file:///nowhere"
    context = SinkContext(uri=place, job="job", operator="sink", attempt=1, options=connected.options)
    try:
        known = loaded(factory)(context).describe().committed_reader
    except Exception:
        return ()  # Every check says so.
    return ("count of unfinished transactions",) if known else ("committed reader",)


def kit(factory: Factory, connected: Connected = HERE) -> Callable[..., None]:
    """A test function, one test for each check: assign it to a name that begins with `test`.

    A check that does not apply is skipped; one that is inconclusive fails as one that is refuted does.

    Args:
        factory: or its `module:name`.
        connected: where it is tried, and with which options.
    """
    return plug.as_test(CHECKS, lambda check: judge(check, loaded(factory), connected=connected))


def loaded(factory: Factory) -> SinkFactory:
    """The factory itself.

    Raises:
        ValueError: there is no such module or name, or it cannot be called.
    """
    return plug.loaded("sink", factory, Sink) if isinstance(factory, str) else factory
