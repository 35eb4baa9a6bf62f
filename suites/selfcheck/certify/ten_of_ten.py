"""Each kit ten times, each time with another seed: right ones are accepted, and wrong ones refused, every time.

Run `python -m holdfast.suites.selfcheck.certify.ten_of_ten`, or name some kits behind it. A wrong one counts as refused
where the check that is named for it refutes it: another check that finds it by chance does not help. The command ends
with 1 if anything came out otherwise even once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic  # noqa: TID251 - how long a kit takes is shown
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.mutants import checkpoint_storages as wrong_storages
from holdfast.fixtures.mutants import file_systems as wrong_file_systems
from holdfast.fixtures.mutants import restart_strategies as wrong_strategies
from holdfast.fixtures.mutants import sinks as wrong_sinks
from holdfast.fixtures.mutants import sources as wrong_sources
from holdfast.fixtures.mutants import state_backends as wrong_backends
from holdfast.fixtures.mutants.checkpoint_storages.on_files import OnFiles
from holdfast.fixtures.mutants.file_systems.in_folder import InFolder
from holdfast.fixtures.sinks.memory import MemoryTable
from holdfast.harness.model.status import Status
from holdfast.suites.certify import checkpoint_storage, file_system
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.certify.checkpoint_storage import judge as judge_storage
from holdfast.suites.certify.file_system import judge as judge_file_system
from holdfast.suites.certify.restart_strategy import judge as judge_strategy
from holdfast.suites.certify.sink import judge as judge_sink
from holdfast.suites.certify.source import judge as judge_source
from holdfast.suites.certify.state_backend import judge as judge_backend
from holdfast.suites.certify.state_backend import loaded as loaded_backend
from holdfast.suites.selfcheck.certify import (
    test_file_systems,
    test_restart_strategies,
    test_sinks,
    test_sources,
    test_storages,
    test_wrong_backends,
    test_wrong_storages,
)
from holdfast.suites.selfcheck.certify.strange_storage import MISTAKES

TIMES = 10
ACCEPTED = frozenset({Status.PASS, Status.NOT_APPLICABLE})
STRANGERS = ("stranger:Rows", "stranger_on_rocksdict:RocksDictBackend", "stranger_on_duckdb:DuckDBBackend")
IN_MEMORY = "/dev/shm"
"""What is written here need not survive a loss of power."""


class Kit(NamedTuple):
    """A kit, and what it is tried on.

    Attributes:
        checks: all of it, by id.
        judge: one check of one subject, with a seed.
        right: what it must accept, by name.
        wrong: what it must refuse: name, subject, and id of the check that refutes it.
    """

    checks: Mapping[str, Check[Any]]
    judge: Callable[[Check[Any], Any, int], CheckVerdict]
    right: Mapping[str, Any]
    wrong: Sequence[tuple[str, Any, str]]

    def accepts(self, subject: Any, seed: int) -> str:
        """Why not: the first check that does not pass; empty if all do."""
        for check in self.checks.values():
            verdict = self.judge(check, subject, seed)
            if verdict.status not in ACCEPTED:
                return verdict.text
        return ""

    def only(self, text: str) -> Kit:
        """With those subjects alone whose name contains a text."""
        right = {name: subject for name, subject in self.right.items() if text in name}
        return self._replace(right=right, wrong=[each for each in self.wrong if text in each[0]])

    def refuses(self, subject: Any, check: str, seed: int) -> str:
        """Why not: what its check has instead of a refutation; empty if it refutes."""
        verdict = self.judge(self.checks[check], subject, seed)
        return "" if verdict.status is Status.FAIL else verdict.text


def of_state_backends() -> Kit:
    right = ("hashmap", "named-files", "rocksdb", "hashmap+changelog", "rocksdb+changelog")
    return Kit(
        test_wrong_backends.CHECKS,
        lambda check, backend, seed: judge_backend(check, loaded_backend(backend), HashMapBackend, seed),
        {name: name for name in right} | {name: f"{__package__}.{name}" for name in STRANGERS},
        _wrong(wrong_backends.VARIANTS, test_wrong_backends.KILLED_BY),
    )


def of_checkpoint_storages() -> Kit:
    right = {"OnFiles": OnFiles, "Rows": test_storages.STRANGE}
    right |= {uri: uri for uri in (f"file://{IN_MEMORY}", "memory://certify")}
    by_programs = dict.fromkeys(test_wrong_storages.BY_PROGRAMS, "STO-08/program")
    tables = (test_wrong_storages.KILLED_BY, test_wrong_storages.BY_OTHER_PROCESSES, by_programs)
    mistakes = [(kind.__name__, kind, check) for kind, check in MISTAKES.items()]
    return Kit(
        test_wrong_storages.CHECKS,
        lambda check, storage, seed: judge_storage(check, checkpoint_storage.target_of(storage), seed),
        right,
        [*_wrong(wrong_storages.VARIANTS, *tables), *mistakes],
    )


def of_sinks() -> Kit:
    by_programs = _by_programs(test_sinks.BY_PROGRAMS, "E2E-02/program")
    return Kit(
        test_sinks.CHECKS,
        judge_sink,
        _named((*test_sinks.RIGHT, MemoryTable)),
        _wrong(wrong_sinks.VARIANTS, test_sinks.KILLED_BY, by_programs),
    )


def of_sources() -> Kit:
    by_programs = _by_programs(test_sources.BY_PROGRAMS, "E2E-05/program")
    return Kit(
        test_sources.CHECKS,
        judge_source,
        _named((*test_sources.RIGHT, test_sources.Backwards)),
        _wrong(wrong_sources.VARIANTS, test_sources.KILLED_BY, by_programs),
    )


def of_restart_strategies() -> Kit:
    own = (test_restart_strategies.Fibonacci, test_restart_strategies.Later)
    tables = (test_restart_strategies.KILLED_BY, test_restart_strategies.BY_PROGRAMS)
    return Kit(
        test_restart_strategies.CHECKS,
        judge_strategy,
        _named((*test_restart_strategies.RIGHT, *own)),
        _wrong(wrong_strategies.VARIANTS, *tables),
    )


def of_file_systems() -> Kit:
    return Kit(
        test_file_systems.CHECKS,
        lambda check, files, seed: judge_file_system(check, file_system.target_of(files), seed),
        {"InFolder": InFolder} | {uri: uri for uri in (f"file://{IN_MEMORY}", "memory://certify-files")},
        _wrong(wrong_file_systems.VARIANTS, test_file_systems.KILLED_BY, test_file_systems.BY_OTHER_PROCESSES),
    )


KITS: Mapping[str, Callable[[], Kit]] = {
    "restart-strategy": of_restart_strategies,
    "sink": of_sinks,
    "source": of_sources,
    "state-backend": of_state_backends,
    "file-system": of_file_systems,
    "checkpoint-storage": of_checkpoint_storages,
}


def _named(factories: Sequence[Any]) -> dict[str, Any]:
    return {factory.__name__: factory for factory in factories}


def _by_programs(cases: Sequence[Any], check: str) -> dict[str, str]:
    """The names of some parameters of a test, with the check that all of them are for."""
    return {case if isinstance(case, str) else case.values[0]: check for case in cases}


def _wrong(variants: Mapping[str, Any], *tables: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    return [(name, variants[name], check) for table in tables for name, check in table.items()]


def tried(kit: Kit, seeds: range, notice: Callable[[str], None]) -> tuple[str, str, int]:
    """Every subject with each seed.

    Args:
        kit: and its subjects.
        seeds: of its random programs.
        notice: is called with each time that came out otherwise, and with the seconds that each subject took.

    Returns:
        How many of the right ones were always accepted, how many of the wrong ones were always refused, and how often
        one was not.
    """
    unexpected = 0

    def always(outcomes: Sequence[tuple[str, Callable[[int], str]]]) -> str:
        nonlocal unexpected
        found = 0
        for name, outcome in outcomes:
            begun = monotonic()
            failures = [(seed, why) for seed in seeds if (why := outcome(seed))]
            for seed, why in failures:
                notice(f"{name}, seed {seed}: {why}")
            notice(f"{name}: {len(seeds) - len(failures)} of {len(seeds)} in {monotonic() - begun:.0f} s")
            unexpected += len(failures)
            found += not failures
        return f"{found} of {len(outcomes)}"

    right = always([(name, partial(kit.accepts, each)) for name, each in kit.right.items()])
    wrong = always([(f"{name} by {check}", partial(kit.refuses, each, check)) for name, each, check in kit.wrong])
    return right, wrong, unexpected


def main(arguments: Sequence[str] | None = None) -> int:
    """Try them, and print a table; 0 only if each time came out as expected."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.ten_of_ten", description=__doc__)
    parser.add_argument("kits", nargs="*", metavar="KIT", help=f"of {', '.join(KITS)}; without one: all")
    parser.add_argument("--times", type=int, default=TIMES, help="with so many seeds (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="of the first time (default: %(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="subjects whose name contains it")
    given = parser.parse_args(arguments)
    if unknown := sorted(set(given.kits) - KITS.keys()):
        parser.error(f"kit {unknown[0]!r} is unknown; known: {', '.join(KITS)}.")
    tempfile.tempdir = IN_MEMORY
    seeds = range(given.first, given.first + given.times)
    console = Console(width=120)
    table = Table("kit", "right ones accepted", "wrong ones refused", "seconds", title=f"{given.times} times each")
    unexpected = 0
    for name in given.kits or KITS:
        begun = monotonic()
        right, wrong, otherwise = tried(
            KITS[name]().only(given.only), seeds, lambda line: console.print(line, markup=False)
        )
        table.add_row(name, right, wrong, f"{monotonic() - begun:.0f}")
        unexpected += otherwise
    console.print(table)
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
