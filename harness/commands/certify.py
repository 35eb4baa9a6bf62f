"""`holdfast certify`: runs everything that applies, writes the report, prints the title. Each part of the system is
judged by its kit, and gets a report of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.apart import run_apart
from holdfast.harness.commands.own_process import is_apart
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.commands.reports import (
    RESULTS,
    load_reporters,
    new_folder,
    point_latest,
    way_back,
    write_reports,
    written_by,
)
from holdfast.harness.engine.artefacts.files import make_folder
from holdfast.harness.engine.artefacts.sweep import names_of
from holdfast.harness.engine.certification.begun import Begun, begun_now, identity_of, working_in
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.kit_journal import JudgedPart, parts_of, subject_reports, why_absent
from holdfast.harness.engine.certification.kit_run import KitRequest, KitRun
from holdfast.harness.engine.certification.request import Request, check_request
from holdfast.harness.engine.certification.result_log import ResultLog
from holdfast.harness.engine.errors import HARNESS_ERROR, UsageError
from holdfast.harness.engine.nights.night_folder import tidy
from holdfast.harness.engine.nights.settings import read_settings
from holdfast.harness.engine.nights.waivers import Waiver, expired_in_words, waived_findings, with_waivers
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.entry_points import strangers_in
from holdfast.harness.engine.site.interruption import Interruption, listening
from holdfast.harness.engine.site.services import require_reachable
from holdfast.harness.engine.site.usage import UsageMeter
from holdfast.harness.model.case import Tier
from holdfast.harness.model.certificate import Scope
from holdfast.harness.model.journal import Journal, Status
from holdfast.harness.spi.reporter import OnTerminal
from holdfast.harness.spi.surroundings import python_path
from holdfast.harness.spi.system import Part

FOLDER = "parts"
QUICK_PROGRAMS = 0.125
"""Of the random programs of each check, how many a quick certificate of a whole system runs."""


class TriedPart(NamedTuple):
    """A part, and the run of its kit.

    Attributes:
        run: None: it is not tried.
        reason: why not, without a full stop.
        broken: the harness itself failed on it.
    """

    part: Part
    run: KitRun | None
    reason: str = ""
    broken: bool = False


def parts_to_try(request: Request) -> list[TriedPart]:
    """Every part of a system, or, where it is narrowed, those whose kits decide a rule that was chosen."""
    parts = parts_of(registry.system(request.system))
    return [_part_to_try(part, request) for part in parts if not request.narrowed or _rules(part, request)]


def with_parts(
    journal: Journal, tried: Sequence[TriedPart], folder: Path, interruption: Interruption, console: Console
) -> Journal:
    """The journal with what the kits say of the parts of its system; their reports lie below its folder.

    Args:
        journal: of the whole system.
        tried: its parts.
        folder: of the report.
        interruption: whether it came to its end.
        console: where a reporter that breaks is named.
    """
    judged = [
        _judged(each, number, journal, folder, interruption, console) for number, each in enumerate(tried, start=1)
    ]
    return msgspec.structs.replace(journal, subjects=subject_reports(journal, judged))


def _part_to_try(part: Part, request: Request) -> TriedPart:
    chosen_tier = not request.tiers or Tier.SIM in request.tiers or part.plugged
    why_not = "" if chosen_tier else f"kits run on tier {Tier.SIM}, which was not chosen"
    if reason := why_not or why_absent(part):
        return TriedPart(part, None, reason)
    try:
        run = KitRun(
            KitRequest(
                part.contract,
                part.factory,
                request.command,
                _rules(part, request) if request.narrowed else frozenset(),
                request.seed,
                part.location,
                part.options,
                frozenset({Tier.SIM}),
                QUICK_PROGRAMS if request.scope is Scope.QUICK else 1.0,
            )
        )
    except UsageError as error:
        return TriedPart(part, None, str(error).rstrip("."), broken=True)
    return TriedPart(part, run)


def _judged(
    tried: TriedPart, number: int, journal: Journal, folder: Path, interruption: Interruption, console: Console
) -> JudgedPart:
    part, run = tried.part, tried.run
    if run is None:
        return JudgedPart(part, None, tried.reason, broken=tried.broken)
    if run.refused:
        return JudgedPart(part, None, run.refused.rstrip("."), broken=True)
    why_not = interruption.reason() or run.why_not
    if not run.checks and why_not:
        return JudgedPart(part, None, why_not)
    ended_by = interruption.signal or (
        "the harness" if interruption.broken else "the time limit" if run.why_not else ""
    )
    place = Path(FOLDER) / f"{number}-{part.contract}"
    if not (folder / place).is_dir():
        make_folder(folder / place)
    own = run.journal(journal.started, ended_by, way_back(folder / place))
    write_reports(own, folder / place, console)
    return JudgedPart(part, own, report=str(place / "report.html"))


def _rules(part: Part, request: Request) -> frozenset[str]:
    """The rules of the kit of a part that were chosen."""
    try:
        known = registry.kit(part.contract).rules
    except UsageError:
        return request.rules  # Whoever runs it says what is wrong.
    return frozenset(each for each in known if each in request.rules or each.partition("-")[0] in request.areas)


EXIT_CODES = {Status.FAIL: 1, Status.INCONCLUSIVE: 2, Status.ERROR: HARNESS_ERROR}


def certify(
    request: Request,
    *,
    json: bool,
    verbose: bool,
    require_certified: bool,
    waivers: Path | None = None,
    begun: Begun | None = None,
    trust: bool = False,
    why_not: str = "",
) -> int:
    """Certify and report. The report is written also after an interruption.

    Args:
        request: what is wanted; the folder of the report is made in its folder.
        json, verbose: how the result is printed.
        require_certified: less than that title is no success.
        waivers: file of the findings that are set aside today.
        begun: its folder is that of a report where this was begun, and what is finished there counts; None: it begins.
        trust: of `begun`: whatever its folder names may be run.
        why_not: nothing runs, for this reason; what is finished is reported. Empty: what is left runs.
    """
    if (names := strangers_in(request.system)) and not is_apart():
        return run_apart(names, request.folder)
    python_path(sys.path)  # Refused before a folder is made, if no process can have it.
    progress = consoles.progress()
    today = datetime.now().date()  # noqa: TID251 - a waiver ends with a day
    aside = _waivers(waivers)
    for sentence in expired_in_words(aside, today):
        progress.print(sentence)
    with UsageMeter() as meter, listening() as interruption:
        check_request(request)
        require_reachable()
        if begun is None:
            begun = begun_now(request, identity_of(request), waivers)
            consoles.offer_sweep(progress, request.folder)
            request = msgspec.structs.replace(request, folder=new_folder(request.folder))
        folder = request.folder
        now = datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - for the report alone
        with working_in(folder, begun) as work:
            if why_not:
                interruption.give_up(why_not)
            with (
                ResultLog(folder, begun.identity, now) as log,
                CaseProgress(progress, request, quiet=json) as observer,
            ):
                load_reporters()
                tidy(folder, log.kept, names_of(request.system), trust=trust)
                parts = parts_to_try(request)
                kits = [each.run for each in parts if each.run is not None]
                journal = Certification(request, observer, interruption, log, kits).run()
                journal = with_waivers(journal, waived_findings(journal, aside, today))
                journal = with_parts(journal, parts, folder, interruption, progress)
                journal = msgspec.structs.replace(journal, usage=meter.usage)
            broken = write_reports(journal, folder, progress)
            point_latest(folder)
            work.complete = not interruption.reason()
    if json:
        consoles.print_json((folder / RESULTS).read_text())
    else:
        _show(journal, folder, verbose=verbose)
    if interruption.signal:
        return interruption.exit_code
    if interruption.broken and not why_not:
        progress.print(f"holdfast: {interruption.broken}.")
        return HARNESS_ERROR
    return HARNESS_ERROR if broken else exit_code(journal, require_certified=require_certified)


def _waivers(file: Path | None) -> Sequence[Waiver]:
    if file is None:
        return ()
    found = read_settings(file, Path()).waivers
    if not found:
        raise UsageError(f"--waivers: {file} waives nothing; write [[waivers]] there, or leave it out.")
    return found


def exit_code(journal: Journal, *, require_certified: bool = False) -> int:
    """0 certified or partial, 1 refuted, 2 inconclusive (also where nothing ran), 4 harness error."""
    return EXIT_CODES.get(journal.status, 2 if require_certified and not journal.is_certified else 0)


def _show(journal: Journal, folder: Path, *, verbose: bool) -> None:
    console = consoles.results()
    html = folder / "report.html"
    report = str(html if html.is_file() else folder / RESULTS)
    if not written_by(OnTerminal(journal, consoles.results(soft_wrap=False), verbose, report), folder):
        console.print(f"{journal.heading}: {report}")
