"""`holdfast certify --state-backend` and its like: a kit on one factory, rule by rule."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import monotonic  # noqa: TID251 - for the log alone

from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.certify import exit_code
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.commands.reports import RESULTS, load_reporters, new_folder, point_latest, way_back, write_reports
from holdfast.harness.engine.certification.begun import Begun, Work, begun_now, identity_of, working_in
from holdfast.harness.engine.certification.kit_journal import same_cause
from holdfast.harness.engine.certification.kit_run import KitRequest, KitRun, run_kit
from holdfast.harness.engine.certification.request import MOST_SEED, Request, require_numbers
from holdfast.harness.engine.certification.result_log import LoggedCheck, ResultLog
from holdfast.harness.engine.errors import HARNESS_ERROR, UsageError
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.interruption import listening
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal, Status
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.status import STATUS_STYLES
from holdfast.harness.spi.kit import KitCheck, Plugs
from holdfast.harness.spi.surroundings import python_path

STORING = {"checkpoint-storage", "file-system", "sink", "source"}
"""Contracts of parts that take --location and --option."""
_NOTHING_NAMED = """name what to certify:
  holdfast certify SYSTEM                            reference, spark, flink, or module:name of your own
  holdfast certify --state-backend module:factory    a part of a system, by its kit; the other kinds of parts:
                                                     --checkpoint-storage, --file-system, --sink, --source,
                                                     --restart-strategy
All options: holdfast certify --help"""
"""What `holdfast certify` alone leads to."""
_WIDTH = 16
"""Columns of a status."""


def named_part(system: str, parts: Mapping[str, str], *, stores: bool) -> tuple[str, str]:
    """The contract and the factory of the one part that is named in place of a system.

    Args:
        system: empty, unless both are named.
        parts: factories by contract, with underscores as in the names of arguments; empty: not named.
        stores: --location or --option is given.

    Raises:
        UsageError: not exactly one is named, or one that stores nothing is given a place.
    """
    chosen = {contract.replace("_", "-"): factory for contract, factory in parts.items() if factory}
    given = [*(["SYSTEM"] if system else []), *(f"--{contract}" for contract in chosen)]
    if len(given) != 1:
        if not given:
            raise UsageError(_NOTHING_NAMED)
        raise UsageError(
            f"Both {' and '.join(given)} are given: name a system, or a part of one such as "
            "--state-backend module:factory."
        )
    if stores and not chosen.keys() & STORING:
        raise UsageError(
            "--location and --option are for --checkpoint-storage, --file-system, --sink and --source: "
            "add one, or leave them out."
        )
    return next(iter(chosen.items()))


def refuse_for_kits(given: Mapping[str, object]) -> None:
    """Refuse the options of a system, by name, that have a value."""
    for name, value in given.items():
        if value:
            raise UsageError(f"{name} is for a system; a kit runs each of its checks once, here: leave it out.")


def part_request(
    contract: str,
    factory: str,
    *,
    command: str,
    rules: frozenset[str],
    areas: frozenset[str],
    seed: int,
    location: str = "",
    options: Mapping[str, str] | None = None,
    tiers: frozenset[Tier] = frozenset(),
) -> KitRequest:
    """What a kit is to check.

    Args:
        contract: name of the kit, such as `state-backend`.
        factory: as `module:name`, or a URI.
        command: as typed.
        rules, areas: only checks that decide one of these; none: all.
        seed: of all random programs.
        location, options: as Kit.certify.
        tiers: where it may run; empty: everywhere.

    Raises:
        UsageError: there is no such kit, rule or area, or the seed is too large.
    """
    require_numbers(seed=(seed, MOST_SEED))
    chosen = _chosen(registry.kit(contract).rules, rules, areas, contract)
    return KitRequest(contract, factory, command, chosen, seed, location, options or {}, tiers)


def certify_part(
    request: KitRequest,
    out: Path,
    *,
    json: bool,
    require_certified: bool,
    begun: Begun | None = None,
    why_not: str = "",
) -> int:
    """Run a kit, print a line for each rule, and write the certificate, also after an interruption.

    Args:
        request: what it is to check.
        out: where the folder of the report is made; of one that is resumed, that folder.
        json: print results.json and nothing else.
        require_certified: exit with 2 if the title is less.
        begun: in that folder, and what is finished there counts; None: it begins.
        why_not: nothing runs, for this reason; what is finished is reported. Empty: what is left runs.
    """
    python_path(sys.path)  # Refused before a folder is made, if no process can have it.
    now = datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - for the report alone
    run = KitRun(request)
    with listening() as interruption, ExitStack() as stack:
        made = _Made(request, out, now, stack, begun)
        whole = Request(command=request.command, system=request.name, folder=made.folder)
        observer = stack.enter_context(CaseProgress(consoles.progress(), whole, quiet=json))
        load_reporters()
        if begun is not None:
            made.restore(run)
        if why_not:
            interruption.give_up(why_not)

        def ended(check: KitCheck) -> None:
            observer.end_check(request.name, check)
            made.add(check)

        observer.expect_checks(request.name, run.waiting, run.left_s)
        run_kit(run, out, interruption, ended)
        if run.refused and not run.checks:
            made.withdraw()
            raise UsageError(run.refused)
        folder, checks = made.folder, run.checks
        ended_by = interruption.reason() and (interruption.signal or "the harness")
        journal = run.journal(made.log.started, ended_by, way_back(folder))
        broken = write_reports(journal, folder, consoles.progress())
        point_latest(folder)
        made.work.complete = not interruption.reason()
    if json:
        consoles.print_json((folder / RESULTS).read_text())
    else:
        _show(journal, checks, request, folder)
    if interruption.signal:
        return interruption.exit_code
    if interruption.broken and not why_not:
        consoles.progress().print(f"holdfast: {interruption.broken}.")
        return HARNESS_ERROR
    return HARNESS_ERROR if broken else exit_code(journal, require_certified=require_certified)


class _Made:
    """The folder of the report, and its log, which is made when something is put there."""

    def __init__(self, request: KitRequest, out: Path, now: str, stack: ExitStack, begun: Begun | None) -> None:
        self._request = request
        self._is_first = not out.exists()
        self.folder = new_folder(out) if begun is None else out
        self._now = now
        self._stack = stack
        self._begun = begun
        self._start_s = monotonic()
        self.work = Work()

    @cached_property
    def log(self) -> ResultLog:
        begun = self._begun or begun_now(self._request, identity_of(self._request))
        self.work = self._stack.enter_context(working_in(self.folder, begun))
        return self._stack.enter_context(ResultLog(self.folder, begun.identity, self._now))

    def withdraw(self) -> None:
        """Remove an empty folder: a part that cannot be tried leaves none."""
        with suppress(OSError):
            self.folder.rmdir()
            if self._is_first:
                self.folder.parent.rmdir()

    def restore(self, run: KitRun) -> None:
        """Count what is finished."""
        run.earlier_s = self.log.elapsed_s
        for check in self.log.checks.get(self._request.name, ()):
            run.restore(check)

    def add(self, check: KitCheck) -> None:
        elapsed_s = self.log.elapsed_s + monotonic() - self._start_s
        self.log.add(LoggedCheck(elapsed_s, self._request.name, check))


def plugged_into(contract: str, factory: str, location: str, options: Mapping[str, str]) -> str:
    """The system that a part is plugged into, to be certified with it; empty: none is known.

    Args:
        contract, factory, location, options: as of `certify_part`.

    Raises:
        UsageError: this part cannot be plugged in.
    """
    kit = registry.kit(contract)
    if not isinstance(kit, Plugs):
        return ""
    try:
        return kit.plugged(factory, location, options)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _chosen(known: frozenset[str], rules: frozenset[str], areas: frozenset[str], contract: str) -> frozenset[str]:
    """Rules to decide; empty: all."""
    for rule in sorted(rules - known):
        raise entry_points.unknown(f"rule of the kit for {contract}", rule, known)
    of_areas = {rule.partition("-")[0] for rule in known}
    for area in sorted(areas - of_areas):
        raise entry_points.unknown(f"area of the kit for {contract}", area, of_areas)
    return rules | frozenset(rule for rule in known if rule.partition("-")[0] in areas)


def _show(journal: Journal, checks: Sequence[KitCheck], request: KitRequest, folder: Path) -> None:
    """Print the verdict, a line for each rule that a check decides, the failures, and the path of the report."""
    contract, factory = request.contract, request.factory
    console = consoles.results()
    console.print(f"{journal.heading}  {contract} {factory}, {plural(len(checks), 'check')}")
    decided = {check.rule for check in checks} | {check.own_rule for check in checks}
    for result in journal.rules:
        if result.rule.id not in decided:
            continue
        own = [each for each in checks if each.rule == result.rule.id]
        failed = [each for each in own if each.status is Status.FAIL]
        words = f"{plural(len(failed), 'check')} of {len(own)}" if failed else result.reason
        if result.status is Status.PASS:
            words = plural(sum(each.status is Status.PASS for each in own), "check")
        console.print(
            Text(f"{result.rule.id}  ") + Text(f"{result.status:<{_WIDTH}}", STATUS_STYLES[result.status]) + words
        )
        for figure in (words for check in own for words in check.figures):
            console.print(Text(f"    {figure}", "dim"))
        for check, *alike in same_cause(failed):
            console.print(Text(f"    {check.id}: {check.reason}"))
            for step in check.witness if check is failed[0] else ():
                console.print(Text(f"      {step}", "dim"))
            for each in alike:
                console.print(Text(f"    {each.id}: same cause as {check.id}"))
        if failed:
            console.print(f"    again: {request.again(failed[0].own_rule).line()}")
    for sentence in journal.certificate.missing:
        console.print(Text(sentence, "dim"))
    console.print(f"Report: {folder / 'report.html'}")
