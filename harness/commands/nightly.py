"""`holdfast nightly`: every system of the settings on every tier, until the budget is used, from one seed.
`holdfast trend`: what the nights in a folder add up to. `holdfast diff`: what changed from one night, or
certificate, to another."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.commands.reports import load_reporters, point_latest, write_each, write_reports
from holdfast.harness.engine.artefacts.files import make_folder
from holdfast.harness.engine.artefacts.json_files import read_plan_file
from holdfast.harness.engine.artefacts.sweep import names_of
from holdfast.harness.engine.cases.case_run import run_and_store
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.request import Request, check_request
from holdfast.harness.engine.certification.result_log import ResultLog
from holdfast.harness.engine.errors import HARNESS_ERROR, UsageError
from holdfast.harness.engine.executor.run_folder import PLAN
from holdfast.harness.engine.nights.comparison import Comparison, SystemComparison, compare
from holdfast.harness.engine.nights.night_folder import (
    NIGHT,
    NightFolder,
    identity_of,
    read_comparable,
    read_night,
    read_nights,
    system_night,
    tidy,
)
from holdfast.harness.engine.nights.settings import Settings
from holdfast.harness.engine.nights.waivers import expired_in_words, waived_findings, with_waivers
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption, listening
from holdfast.harness.engine.site.machine import processors, versions
from holdfast.harness.engine.site.services import require_reachable
from holdfast.harness.engine.views.finding import finding_of
from holdfast.harness.model.case import Tier
from holdfast.harness.model.finding import Finding, Signature, signature_of
from holdfast.harness.model.journal import Journal, RunResult, Title
from holdfast.harness.model.night import AllNights, LatestNight, Night, NightFinding, Reruns, SystemNight
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.status import STATUS_STYLES, Status


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
        _show_night(night, folder.path, out, consoles.results())
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


def _show_night(night: Night, folder: Path, out: Path, console: Console) -> None:
    """Print a line for each system, with its findings below."""
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
    """The settings, in which the command line overrides the file."""
    said = {"systems": systems, "tiers": tiers, "budget_s": budget_s, "workers": workers, "reruns": reruns}
    return msgspec.structs.replace(settings, **{name: each for name, each in said.items() if each not in ((), None)})


RERUNS = "reruns"
MOST_RERUN = 10
"""Signatures of one system whose plans are run again; further ones are listed without."""


def rerun_findings(
    journal: Journal,
    folder: Path,
    times: int,
    interruption: Interruption,
    say: Callable[[Signature, Reruns], None],
) -> dict[Signature, Reruns]:
    """Run the plan of each refuted finding again.

    Args:
        journal: of a certificate; its FAIL findings are run again.
        folder: of that certificate.
        times: how often each. On the simulator each time with other random numbers, because one more run with the
            same ones is the same run.
        interruption: ends it; a signature that was not run so often is left out.
        say: called with what came of each signature.
    """
    shutil.rmtree(folder / RERUNS, ignore_errors=True)  # Those of an interrupted night are run again.
    runs = {run.id: run for run in journal.runs}
    failed = [each for each in journal.findings if each.status is Status.FAIL and each.run in runs]
    found: dict[Signature, Reruns] = {}
    for finding in failed[: MOST_RERUN if times else 0]:
        signature, run = signature_of(finding, journal.system), runs[finding.run]
        if not run.artefacts:
            continue
        plan = read_plan_file(folder / run.artefacts / PLAN)
        shown = sum(
            _signature(_varied(plan, run, number), run, folder / RERUNS / f"{run.id}-{number}", interruption)
            == signature
            for number in range(1, times + 1)
            if not interruption.signal
        )
        if interruption.signal:
            break
        found[signature] = Reruns(shown, times, seeded=run.tier is Tier.SIM)
        say(signature, found[signature])
    return found


def _varied(plan: Plan, run: RunResult, number: int) -> Plan:
    return msgspec.structs.replace(plan, run_seed=plan.run_seed + number) if run.tier is Tier.SIM else plan


def _signature(plan: Plan, result: RunResult, folder: Path, interruption: Interruption) -> Signature | None:
    """What a run of a plan shows; None: nothing, or the harness broke."""
    system, tools = registry.system(plan.system), registry.toolbox()
    try:
        run, _ = run_and_store(plan, system, tools, result.tier, folder, interruption)
    except Exception:  # It shows nothing; the other runs still count.
        return None
    finding: Finding | None = finding_of(result.id, run.history, run.verdicts, tools.oracles, None)
    return signature_of(finding, plan.system) if finding is not None else None


def show_trend(folder: Path) -> int:
    """Write the pages over all nights of a folder."""
    nights = read_nights(folder)
    if write_each(AllNights(nights), folder, consoles.progress()):
        return HARNESS_ERROR
    written = ", ".join(str(folder / each.writes) for each in registry.reporters(AllNights))
    consoles.results().print(f"{plural(len(nights), 'night')}: {written}")
    return 0


def write_night_reports(out: Path, folder: Path, progress: Console) -> int:
    """The reports of a night in its folder, with those before it, and the trend beside it; how many reporters broke."""
    night = read_night(folder / NIGHT)
    nights = read_nights(out)
    earlier = tuple(each for each in nights if (each.started, each.name) <= (night.started, night.name))
    return write_each(LatestNight(earlier), folder, progress) + write_each(AllNights(nights), out, progress)


WORSE = 1


def show_difference(old: Path, new: Path, *, json: bool) -> int:
    """Print it; 1 if something is newly refuted, else 0."""
    comparison = compare(read_comparable(old), read_comparable(new))
    if not comparison.systems:
        raise UsageError(
            f"{old} and {new} have no system in common: {', '.join(comparison.only_before) or 'none'} and "
            f"{', '.join(comparison.only_after) or 'none'}; name two nights of the same systems."
        )
    if json:
        content = {"worse": comparison.worse, **msgspec.to_builtins(comparison)}
        consoles.print_json(msgspec.json.format(msgspec.json.encode(content)).decode())
    else:
        _show(comparison, consoles.results())
    return WORSE if comparison.worse else 0


def _show(comparison: Comparison, console: Console) -> None:
    for each in comparison.systems:
        _show_system(each, console)
    for name in comparison.only_before:
        console.print(f"{name}: only in the older one")
    for name in comparison.only_after:
        console.print(f"{name}: only in the newer one")


def _show_system(system: SystemComparison, console: Console) -> None:
    renamed = f", compared with {system.before_system}" if system.before_system != system.system else ""
    verdict = Text("worse", "bold red") if system.newly_refuted else Text("nothing newly refuted", "green")
    console.print(Text(f"{system.system}{renamed}: ") + verdict)
    for title, labels in (
        ("newly refuted", system.newly_refuted),
        ("new findings", system.new),
        ("gone", system.gone),
        ("not covered", system.not_covered),
        ("still there", system.still),
        ("rules no longer decided", system.rules_lost),
        ("windows no longer hit", system.windows_lost),
        ("faults that no longer took effect", system.faults_lost),
    ):
        for label in labels:
            console.print(Text(f"  {title:<34}{label}"))
    for rule in system.rules:
        console.print(Text(f"  {'status changed':<34}{rule.rule}: {rule.before} -> {rule.after}"))
    for part in system.parts:
        console.print(Text(f"  {'status of a part changed':<34}{part.part}: {part.before} -> {part.after}"))
    if system.title[0] is not system.title[1]:
        console.print(Text(f"  {'title changed':<34}{system.title[0]} -> {system.title[1]}"))
    before, now = system.inconclusive
    console.print(Text(f"  {'inconclusive runs':<34}{before:.1%} -> {now:.1%}"))
