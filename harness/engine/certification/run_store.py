"""The run store: decides which runs are written to disk, to be looked at and replayed. The others are only counted."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.history_files import MANIFEST
from holdfast.harness.engine.artefacts.json_files import read_plan_file, write_details
from holdfast.harness.engine.artefacts.owner import remove_owner
from holdfast.harness.engine.artefacts.stored_run import HISTORY, close_run_folder, discard_run_folder, store_run
from holdfast.harness.engine.cases.case_run import CaseRun, FinishedRun, run_once
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.executor.run import Run, never_interrupted
from holdfast.harness.engine.executor.run_folder import PLAN
from holdfast.harness.engine.exploration.shrink import MOST_PLANS, needed_faults, shrink, try_plan
from holdfast.harness.engine.pictures.failure import pictures_of_failure
from holdfast.harness.engine.pictures.of_runs import pictures_of, state_machines
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.views.finding import NOT_TRIED, Needed, finding_of
from holdfast.harness.engine.views.recovery import recoveries
from holdfast.harness.engine.views.timeline import checkpoint_history, timeline
from holdfast.harness.model.case import Tier
from holdfast.harness.model.finding import Command, Finding, signature_of
from holdfast.harness.model.journal import Recovery, RunResult
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.run_details import RunDetails
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.fault import AnyFault

RUNS = "runs"
SHRUNK = "shrunk"
SHRINK_TRIES = 120
"""Bounded, because somebody waits for the report."""
LIMITS = {Outcome.FAIL: 5, Outcome.INCONCLUSIVE: 2, Outcome.PASS: 1}
"""How many runs of a case are stored by outcome."""


class Keep(StrEnum):
    """Which runs of a case are stored, within LIMITS."""

    ALL = "all"
    """Failures, what is open and a passing run; on real tiers every run, without a limit."""
    EXAMPLE = "example"
    """Failures, what is open and a passing run."""
    OPEN = "open"
    """Failures and what is open."""


class RunStore:
    """Stores runs below one output folder.

    Args:
        folder: of the whole report.
        faults: registered faults, for their colours.
        keep: which of the runs of the case.

    Attributes:
        runs: where the folders of runs are.
        histories: digest over the manifests of all stored histories.
    """

    def __init__(self, folder: Path, faults: Mapping[str, AnyFault], keep: Keep = Keep.ALL) -> None:
        self.runs = folder / RUNS
        self.histories = hashlib.sha256()
        self._faults = faults
        self._limits = {**LIMITS, Outcome.PASS: 0} if keep is Keep.OPEN else LIMITS
        self._every_real_run = keep is Keep.ALL
        self._kept: Counter[tuple[str, Tier, Outcome]] = Counter()
        self._clauses: set[tuple[str, Tier, str, str]] = set()
        self._informed: set[tuple[str, Tier, str]] = set()
        self._seen = False
        self._explained = 0

    def keep(self, finished: FinishedRun, case_run: CaseRun) -> RunResult | None:
        """Store a run if it is worth a look; its result as the journal lists it, or None. What is not stored is a line
        in the journal: the first of a case, and each on a real tier."""
        result = finished.result
        first = not self._seen
        self._seen = True
        if not self._wanted(result):
            if finished.part is not None:
                discard_run_folder(finished.part)
            return self._line(finished) if first or result.tier is not Tier.SIM else None
        run = finished.run
        if run is None and result.events and not (case_run.interrupted() and result.outcome is not Outcome.FAIL):
            # It took place in another process; the simulator is deterministic, so looking at it is a second run.
            again = msgspec.structs.replace(case_run, interrupted=never_interrupted)
            run = run_once(again, result.draw_seed - case_run.first_seed).run
        folder = self.runs / result.id
        if run is None:
            if finished.part is not None:
                os.replace(finished.part, folder)
                remove_owner(folder)
            return result
        self._store(run, finished.part, folder)
        return self._described(result, run, case_run)

    def shrink(self, failed: RunResult, case_run: CaseRun) -> RunResult | None:
        """Store a run of a smaller plan that leads to the same finding as a simulated run; None if there is none."""
        plan = read_plan_file(self.runs / failed.id / PLAN)
        small = shrink(plan, lambda candidate: self._leads_to(failed, candidate, case_run) is not None, SHRINK_TRIES)
        run = None if small == plan else self._leads_to(failed, small, case_run)
        if run is None:
            return None
        result = msgspec.structs.replace(
            run_result(run, failed.case, 0, 0.0, case_run.case.windows),
            id=f"{failed.id}-{SHRUNK}",
            shrunk_from=failed.id,
        )
        self._store(run, None, self.runs / result.id)
        return self._described(result, run, case_run)

    def _leads_to(self, failed: RunResult, plan: Plan, case_run: CaseRun) -> Run | None:
        """A run of a plan, if it shows a failure of the same signature, and the same damage comes of it."""
        run = try_plan(plan, case_run.system, case_run.tools)
        found = run and self._finding(failed, run, case_run)
        wanted = failed.finding
        if not (found and wanted and found.damage is wanted.damage):
            return None
        return run if signature_of(found, failed.system) == signature_of(wanted, failed.system) else None

    def _described(self, result: RunResult, run: Run, case_run: CaseRun) -> RunResult:
        """A stored run as the journal lists it; what is too large for that is put beside the run, unless somebody
        waits for the end."""
        details = RunDetails()
        if not case_run.interrupted():
            details = RunDetails(
                checkpoint_history=checkpoint_history(run.history),
                pictures=(
                    *pictures_of_failure(run.history, run.verdicts),
                    *pictures_of(case_run.case.pictures, run.history, state_machines(case_run.system)),
                ),
            )
        written = write_details(self.runs / result.id, details)
        return msgspec.structs.replace(
            result,
            artefacts=f"{RUNS}/{result.id}",
            replay=self._command(result).line(),
            timeline=timeline(run.history, self._faults, run.precisions),
            details=f"{RUNS}/{result.id}/{written}" if written else "",
            finding=self._finding(result, run, case_run, self._needed(run, case_run)),
            recoveries=self._recoveries(run),
        )

    def _line(self, finished: FinishedRun) -> RunResult:
        """A run that is not stored, without the verdicts that say nothing but that it passed."""
        result, run = finished.result, finished.run
        telling = (each for each in result.verdicts if each.anomalies or each.information)
        return msgspec.structs.replace(
            result, verdicts=tuple(telling), recoveries=() if run is None else self._recoveries(run)
        )

    def _recoveries(self, run: Run) -> tuple[Recovery, ...]:
        """On real tiers alone: virtual time only repeats the plan's delays."""
        return () if run.tier is Tier.SIM else recoveries(run.history, self._faults)

    def _needed(self, run: Run, case_run: CaseRun) -> Needed:
        """Which faults a failure needs; of a report with many only the first are tried, and none once somebody waits
        for the end."""
        if run.outcome is not Outcome.FAIL or self._explained >= MOST_PLANS or case_run.interrupted():
            return NOT_TRIED
        self._explained += 1
        return needed_faults(run, case_run.system, case_run.tools)

    def _finding(self, result: RunResult, run: Run, case_run: CaseRun, needed: Needed = NOT_TRIED) -> Finding | None:
        if run.outcome is not Outcome.FAIL:
            return None
        return finding_of(result.id, run.history, run.verdicts, case_run.tools.oracles, self._command(result), needed)

    def _command(self, result: RunResult) -> Command:
        return command_of(self.runs.parent.name, result)

    def _wanted(self, result: RunResult) -> bool:
        if result.tier is not Tier.SIM and self._every_real_run:
            return True
        clauses = {
            (result.case, result.tier, verdict.oracle, anomaly.clause)
            for verdict in result.verdicts
            for anomaly in verdict.anomalies
        }
        notes = result.outcome is not Outcome.PASS or self._limits[Outcome.PASS]  # A line has them, too.
        informing = (verdict for verdict in result.verdicts if verdict.information and notes)
        informed = {(result.case, result.tier, verdict.oracle) for verdict in informing}
        key = (result.case, result.tier, result.outcome)
        known = clauses <= self._clauses and informed <= self._informed
        wanted = self._kept[key] < self._limits[result.outcome] or not known
        self._clauses |= clauses
        self._informed |= informed
        self._kept[key] += wanted
        return wanted

    def _store(self, run: Run, part: Path | None, folder: Path) -> None:
        if part is None:
            store_run(folder, run)
        else:
            close_run_folder(part, folder, run)
        self.histories.update((folder / HISTORY / MANIFEST).read_bytes())


def command_of(folder: str, result: RunResult) -> Command:
    """What repeats a stored run.

    Args:
        folder: name of the folder of the report.
        result: of the run.
    """
    return _command(f"{folder}/{RUNS}/{result.id}", result.tier, result.system)


def replay_command(folder: Path, tier: Tier, system: str, *, trust: bool = False) -> str:
    """One line that repeats a run that is stored in a folder; `trust`: its plan names code beside the system."""
    return _command(str(folder), tier, system, trust=trust).line()


def _command(path: str, tier: Tier, system: str, *, trust: bool = False) -> Command:
    """Whoever recorded a run may run the code of its system."""
    trusted = ("--trust",) if trust or registry.needs_trust(system, repeats=True) else ()
    return Command("replay", path, trusted) if tier is Tier.SIM else Command("rerun", path, ("--times", "5", *trusted))
