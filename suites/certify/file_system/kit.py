"""The whole kit: every check, and one test of each for pytest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from holdfast.harness.spi.file_system import FileSystemFactory
from holdfast.suites.certify import plug
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.file_system.checks import DIRECTED
from holdfast.suites.certify.file_system.machine import PROGRAMS
from holdfast.suites.certify.file_system.target import target_of
from holdfast.suites.certify.judge import judge_on
from holdfast.suites.certify.outside.target import Target
from holdfast.suites.certify.verdict import CheckVerdict

CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *PROGRAMS)


def certify(target: Target, checks: Iterable[Check[Bench]] = CHECKS, seed: int = 0) -> Iterator[CheckVerdict]:
    """Every check of a file system, one after the other, as they end.

    Args:
        target: as `target_of` makes it.
        checks: a choice of them.
        seed: of all random programs.
    """
    return (judge(check, target, seed) for check in checks)


def judge(check: Check[Bench], target: Target, seed: int = 0) -> CheckVerdict:
    """One check of one file system; arguments as of `certify`."""
    return judge_on(check, lambda: Bench(target, check.rule, seed), "CFG-05")


def kit(
    factory: FileSystemFactory | str, location: str = "", options: Mapping[str, str] | None = None
) -> Callable[..., None]:
    """A test function, one test for each check: assign it to a name that begins with `test`.

    A check that does not apply is skipped; one that is inconclusive fails as one that is refuted does.

    Args:
        factory: a URI whose scheme is registered, `module:name`, or the factory itself.
        location: URI below which its files may lie; empty: a folder of the kit's own.
        options: of each file system.
    """
    return plug.as_test(CHECKS, lambda check: judge(check, target_of(factory, location, options)))
