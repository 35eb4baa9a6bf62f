"""`holdfast certify`: runs everything that applies, writes the report, says the title."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.folders import RESULTS, point_latest
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.engine.artefacts.files import make_folder
from holdfast.harness.engine.artefacts.journal_file import write_journal
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.engine.site.interruption import listening
from holdfast.harness.engine.site.services import require_reachable
from holdfast.harness.model.journal import Journal, Status, Title

HARNESS_ERROR = 4


def certify(request: Request, *, json: bool, verbose: bool, require_certified: bool) -> int:
    """Certify and report. The report is written also after an interruption."""
    progress = consoles.progress()
    consoles.offer_sweep(progress, request.folder.parent)
    with listening() as interruption, CaseProgress(progress, request, quiet=json) as observer:
        certification = Certification(request, observer, interruption)
        require_reachable()
        make_folder(request.folder)
        journal = certification.run()
        broken = write_reports(journal, request.folder, progress)
        point_latest(request.folder)
    if json:
        consoles.results().out((request.folder / RESULTS).read_text(), highlight=False, end="")
    else:
        _show(journal, request.folder, verbose=verbose)
    if interruption.signal:
        return interruption.exit_code
    return HARNESS_ERROR if broken else exit_code(journal, require_certified=require_certified)


def exit_code(journal: Journal, *, require_certified: bool = False) -> int:
    """0 certified or partial, 1 refuted, 2 inconclusive (also where nothing ran), 4 harness error."""
    title = journal.certificate.title
    if title is Title.REFUSED:
        return 1
    if Status.ERROR in {each.status for each in journal.cases} | {each.status for each in journal.rules}:
        return HARNESS_ERROR
    if title is Title.INCONCLUSIVE:
        return 2
    return 2 if require_certified and title is not Title.CERTIFIED else 0


def write_reports(journal: Journal, folder: Path, progress: Console) -> bool:
    """Write every report; one that breaks is named and keeps no other from being written."""
    write_journal(folder / RESULTS, journal)
    broken = False
    for reporter in registry.reporters():
        try:
            with foreign(f"reporter {reporter.name}"):
                reporter.render(journal, folder)
        except Exception as error:  # A reporter is somebody's plug-in.
            progress.print(f"reporter {reporter.name} broke: {type(error).__name__}: {error}")
            broken = True
    return broken


def _show(journal: Journal, folder: Path, *, verbose: bool) -> None:
    console = consoles.results()
    html = folder / "report.html"
    report = str(html if html.is_file() else folder / RESULTS)
    summary = registry.summary()
    if summary is None:
        console.print(f"{journal.certificate.title.value}: {report}")
    else:
        summary(journal, consoles.results(soft_wrap=False), verbose, report)
