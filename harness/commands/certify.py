"""`holdfast certify`: runs everything that applies, writes the report, says the title."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.folders import RESULTS, point_latest
from holdfast.harness.commands.parts import with_parts
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.commands.reports import write_reports
from holdfast.harness.engine.artefacts.files import make_folder
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.nights.waivers import Waiver, expired_in_words, waived_findings, with_waivers
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import listening
from holdfast.harness.engine.site.services import require_reachable
from holdfast.harness.model.journal import Journal, Status, Title

HARNESS_ERROR = 4


def certify(
    request: Request, *, json: bool, verbose: bool, require_certified: bool, waivers: Sequence[Waiver] = ()
) -> int:
    """Certify and report. The report is written also after an interruption.

    Args:
        request: what is wanted.
        json, verbose: how the result is printed.
        require_certified: less than that title is no success.
        waivers: of findings that are set aside today.
    """
    progress = consoles.progress()
    today = datetime.now().date()  # noqa: TID251 - a waiver ends with a day
    for sentence in expired_in_words(waivers, today):
        progress.print(sentence)
    consoles.offer_sweep(progress, request.folder.parent)
    with listening() as interruption, CaseProgress(progress, request, quiet=json) as observer:
        certification = Certification(request, observer, interruption)
        require_reachable()
        make_folder(request.folder)
        journal = certification.run()
        journal = with_waivers(journal, waived_findings(journal, waivers, today))
        journal = with_parts(journal, request, interruption, progress)
        broken = write_reports(journal, request.folder, progress)
        point_latest(request.folder)
    if json:
        consoles.print_json((request.folder / RESULTS).read_text())
    else:
        _show(journal, request.folder, verbose=verbose)
    if interruption.signal:
        return interruption.exit_code
    return HARNESS_ERROR if broken else exit_code(journal, require_certified=require_certified)


def exit_code(journal: Journal, *, require_certified: bool = False) -> int:
    """0 certified or partial, 1 refuted, 2 inconclusive (also where nothing ran), 4 harness error."""
    if Title.REFUSED in journal.titles:
        return 1
    if Status.ERROR in {each.status for each in journal.cases} | {each.status for each in journal.rules}:
        return HARNESS_ERROR
    if Title.INCONCLUSIVE in journal.titles:
        return 2
    return 2 if require_certified and set(journal.titles) != {Title.CERTIFIED} else 0


def _show(journal: Journal, folder: Path, *, verbose: bool) -> None:
    console = consoles.results()
    html = folder / "report.html"
    report = str(html if html.is_file() else folder / RESULTS)
    summary = registry.summary()
    if summary is None:
        console.print(f"{journal.certificate.title.value}: {report}")
    else:
        summary(journal, consoles.results(soft_wrap=False), verbose, report)
