"""`holdfast nightly`: every system of the settings on every tier, until the budget is used, from one seed."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.folders import point_latest
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.commands.reports import load_reporters, write_reports
from holdfast.harness.commands.trend import write_night_reports
from holdfast.harness.engine.artefacts.files import make_folder
from holdfast.harness.engine.artefacts.sweep import names_of
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.request import Request, check_request
from holdfast.harness.engine.certification.result_log import ResultLog
from holdfast.harness.engine.errors import HARNESS_ERROR, UsageError
from holdfast.harness.engine.nights.night_folder import NightFolder, identity_of, tidy
from holdfast.harness.engine.nights.record import system_night
from holdfast.harness.engine.nights.reruns import rerun_findings
from holdfast.harness.engine.nights.settings import Settings
from holdfast.harness.engine.nights.waivers import expired_in_words, waived_findings, with_waivers
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption, listening
from holdfast.harness.engine.site.machine import processors
from holdfast.harness.engine.site.services import require_reachable
from holdfast.harness.engine.site.versions import versions
from holdfast.harness.model.appearance import STATUS_STYLES
from holdfast.harness.model.journal import Title
from holdfast.harness.model.night import Night, NightFinding, SystemNight
from holdfast.harness.model.plural import plural
from holdfast.harness.model.status import Status


def run_night(settings: Settings, out: Path, seed: int | None, *, command: str, json: bool) -> int:
    """Run, or go on with, the night of today; the reports are written also after an interruption."""
    today = datetime.now().date()  # noqa: TID251 - a night is named after its day
    seed = int(f"{today:%Y%m%d}") if seed is None else seed
    _check(settings, seed)
    require_reachable()
    now = datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - for the report alone
    progress = consoles.progress()
    with listening() as interruption, NightFolder(out, today.isoformat(), identity_of(settings, seed), now) as folder:
        load_reporters()
        progress.print(f"{folder.path}: {'goes on with' if folder.resumed else 'begins with'} seed {seed}")
        night_run = _NightRun(settings, folder, seed, today, command, interruption, progress, quiet=json)
        night = night_run.run()
        folder.write(night, complete=not interruption.reason())
    point_latest(folder.path)
    broken = night_run.broken + write_night_reports(out, folder.path, progress)
    if json:
        consoles.print_json((folder.path / "night.json").read_text())
    else:
        _show(night, folder.path, out, consoles.results())
    if interruption.signal:
        return interruption.exit_code
    if interruption.broken:
        progress.print(f"holdfast: {interruption.broken}.")
        return HARNESS_ERROR
    return HARNESS_ERROR if broken else exit_code(night)


def exit_code(night: Night) -> int:
    """0 nothing refuted that is not waived, 1 refuted, 4 harness error, 2 inconclusive."""
    if any(finding.counts for system in night.systems for finding in system.findings):
        return 1
    titles = {system.title for system in night.systems}
    if Title.REFUSED in titles:
        return 1
    if any(system.errors for system in night.systems):
        return HARNESS_ERROR
    return 2 if Title.INCONCLUSIVE in titles else 0


def _check(settings: Settings, seed: int) -> None:
    """Refuse what can never be answered here, before anything runs."""
    if not settings.systems:
        raise UsageError(
            'no system is named; write systems = ["SYSTEM"] in holdfast.toml, or [tool.holdfast] of pyproject.toml, '
            "or name it with --system."
        )
    for name in settings.systems:
        capabilities = registry.system(name).capabilities
        if settings.tiers and capabilities.keys().isdisjoint(settings.tiers):
            raise UsageError(
                f"system {name!r} runs on none of the tiers {', '.join(settings.tiers)}; allowed are "
                f"{', '.join(capabilities)}: add one of these, or leave the system out."
            )
    check_request(Request(command="", system="", folder=Path(), seed=seed, tiers=frozenset(settings.tiers)))


class _NightRun:
    """One invocation of a night; `broken` counts reporters that broke."""

    def __init__(
        self,
        settings: Settings,
        folder: NightFolder,
        seed: int,
        today: date,
        command: str,
        interruption: Interruption,
        progress: Console,
        *,
        quiet: bool,
    ) -> None:
        self.broken = 0
        self._settings = settings
        self._folder = folder
        self._seed = seed
        self._today = today
        self._command = command
        self._interruption = interruption
        self._progress = progress
        self._quiet = quiet

    def run(self) -> Night:
        """Each system, one after the other."""
        done: list[SystemNight] = []
        for index, system in enumerate(self._settings.systems):
            if self._interruption.reason():
                break
            used_s = sum(each.duration_s for each in done)
            share_s = max(1.0, (self._settings.budget_s - used_s) / (len(self._settings.systems) - index))
            done.append(self._folder.finished(system) or self._certify(system, share_s))
        return Night(
            name=self._folder.path.name,
            seed=self._seed,
            started=self._folder.started,
            duration_s=sum(each.duration_s for each in done),
            budget_s=self._settings.budget_s,
            interrupted=self._interruption.signal,
            command=self._command,
            versions=versions(),
            systems=tuple(done),
            expired=expired_in_words(self._settings.waivers, self._today),
        )

    def _certify(self, system: str, budget_s: float) -> SystemNight:
        settings, folder = self._settings, self._folder.of(system)
        request = Request(
            command=self._command,
            system=system,
            folder=folder,
            seed=self._seed,
            tiers=frozenset(settings.tiers),
            runs=1,  # Of drawn plans as many as there is time for; the certificate says how many that were.
            budget_s=budget_s,
            drawn_everywhere=True,
            thorough=True,
            jobs=settings.workers or processors(),
        )
        if not folder.exists():
            make_folder(folder)
        now = datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - for the report alone
        self._progress.print(f"{system}: at most {budget_s / 60:.0f} min, then what failed once more")
        with (
            ResultLog(folder, f"{system} {self._seed}", now) as log,
            CaseProgress(self._progress, request, quiet=self._quiet) as observer,
        ):
            tidy(folder, log.kept, names_of(system))
            certification = Certification(request, observer, self._interruption, log)
            journal = certification.run()
        waived = waived_findings(journal, settings.waivers, self._today)
        journal = with_waivers(journal, waived)
        reruns = rerun_findings(
            journal,
            folder,
            settings.reruns,
            self._interruption,
            lambda signature, found: self._progress.print(f"{found} showed {signature}"),
        )
        self.broken += write_reports(journal, folder, self._progress)
        found = system_night(journal, folder.name, certification.tallies(), reruns, waived)
        if not self._interruption.reason():
            self._folder.finish(found)
        return found


def _show(night: Night, folder: Path, out: Path, console: Console) -> None:
    """Each system in a line, with its findings below."""
    for system in night.systems:
        refuted = [each for each in system.findings if each.counts]
        status = Status.FAIL if refuted else Status.INCONCLUSIVE if system.title is Title.INCONCLUSIVE else Status.PASS
        head = Text(system.heading, STATUS_STYLES[status])
        runs = plural(system.total_runs, "run")
        console.print(head + Text(f"  {system.system}: {runs}, {system.inconclusive_runs} inconclusive"))
        for finding in system.findings:
            console.print(_line(finding))
    if night.interrupted:
        console.print(f"interrupted by {night.interrupted}: this is what was found until then")
    for sentence in night.expired:
        console.print(sentence)
    console.print(f"{folder / 'report.html'}; over all nights: {out / 'trend.html'}")


def _line(finding: NightFinding) -> Text:
    again = f", again in {finding.reruns}" if finding.reruns is not None else ""
    line = f"  {finding.signature.label}: {finding.what} ({plural(finding.runs, 'run')}{again})"
    if finding.waived is None:
        return Text(line)
    words = "waiver expired on" if finding.waived.expired else "waived until"
    return Text(f"{line}; {words} {finding.waived.expires}: {finding.waived.reason}")


def settings_with(
    settings: Settings,
    *,
    systems: tuple[str, ...] = (),
    tiers: tuple[object, ...] = (),
    budget_s: float | None = None,
    workers: int | None = None,
    reruns: int | None = None,
) -> Settings:
    """The settings with what the command line says in place of the file."""
    said = {"systems": systems, "tiers": tiers, "budget_s": budget_s, "workers": workers, "reruns": reruns}
    return msgspec.structs.replace(settings, **{name: each for name, each in said.items() if each not in ((), None)})
