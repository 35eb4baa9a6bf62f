"""The keeper: which runs are stored, so that they can be looked at and replayed; the others are only counted."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.history_files import MANIFEST
from holdfast.harness.engine.artefacts.owner import remove_owner
from holdfast.harness.engine.artefacts.plan_file import read_plan_file, write_plan
from holdfast.harness.engine.artefacts.stored_run import HISTORY, close_run_folder, store_run
from holdfast.harness.engine.cases.question import Answer, Question, ask
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.executor.run_folder import PLAN
from holdfast.harness.engine.exploration.shrink import shows, shrink
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.engine.views.checkpoint_history import checkpoint_history
from holdfast.harness.engine.views.pictures import pictures_of, state_machines
from holdfast.harness.engine.views.recovery import recoveries
from holdfast.harness.engine.views.timeline import timeline
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.fault import Fault
from holdfast.harness.spi.system import System

RUNS = "runs"
SHRUNK = "shrunk.json"
SHRINK_TRIES = 150
"""Bounded, because a report is waited for; `shrink` alone takes its time."""
LIMITS = {Outcome.FAIL: 5, Outcome.INCONCLUSIVE: 2, Outcome.PASS: 1}
"""How many simulated runs of a case are kept by outcome; runs on real tiers are kept all."""


class Keeper:
    """Stores runs below one output folder.

    Args:
        folder: of the whole report.
        faults: registered faults, for their colours.

    Attributes:
        runs: where the folders of runs are.
        histories: digest over the manifests of all stored histories.
    """

    def __init__(self, folder: Path, faults: Mapping[str, Fault]) -> None:
        self.runs = folder / RUNS
        self.histories = hashlib.sha256()
        self._faults = faults
        self._kept: Counter[tuple[str, Tier, Outcome]] = Counter()
        self._clauses: set[tuple[str, Tier, str, str]] = set()
        self._informed: set[tuple[str, Tier, str]] = set()

    def keep(self, answer: Answer, question: Question) -> RunResult | None:
        """Store a run if somebody will want to look at it; its result as the journal lists it, or None."""
        result = answer.result
        if not self._wanted(result):
            return None
        run = answer.run
        if run is None and result.events:
            # It took place in another process; the simulator is deterministic, so looking at it is a second run.
            run = ask(question, result.draw_seed - question.first_seed).run
        folder = self.runs / result.id
        if run is None:
            if answer.part is not None:
                os.replace(answer.part, folder)
                remove_owner(folder)
            return result
        self._store(run, answer.part, folder)
        return msgspec.structs.replace(
            result,
            artefacts=f"{RUNS}/{result.id}",
            replay=replay_command(folder, result.tier, result.system),
            timeline=timeline(run.history, self._faults, run.precisions),
            checkpoint_history=checkpoint_history(run.history),
            pictures=pictures_of(question.case.pictures, run.history, state_machines(question.system)),
            recoveries=() if run.tier is Tier.SIM else recoveries(run.history, self._faults),
        )

    def shrink(self, result: RunResult, system: System, tools: Toolbox) -> Path | None:
        """Store beside a simulated run that failed a smaller plan that shows the same; None if there is no smaller."""
        folder = self.runs / result.id
        plan = read_plan_file(folder / PLAN)
        oracle, clause = next(
            (verdict.oracle, verdict.anomalies[0].clause) for verdict in result.verdicts if verdict.anomalies
        )
        small = shrink(plan, lambda candidate: shows(candidate, system, tools, oracle, clause), SHRINK_TRIES)
        if small == plan:
            return None
        write_plan(folder / SHRUNK, small)
        return folder / SHRUNK

    def _wanted(self, result: RunResult) -> bool:
        if result.tier is not Tier.SIM:
            return True
        clauses = {
            (result.case, result.tier, verdict.oracle, anomaly.clause)
            for verdict in result.verdicts
            for anomaly in verdict.anomalies
        }
        informed = {(result.case, result.tier, verdict.oracle) for verdict in result.verdicts if verdict.information}
        key = (result.case, result.tier, result.outcome)
        told = clauses <= self._clauses and informed <= self._informed
        wanted = self._kept[key] < LIMITS[result.outcome] or not told
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


def replay_command(folder: Path, tier: Tier, system: str) -> str:
    """One line that repeats a stored run; whoever recorded it may run the code of its system."""
    trust = " --trust" if registry.needs_trust(system, repeats=True) else ""
    if tier is Tier.SIM:
        return f"holdfast replay {shlex.quote(str(folder))}{trust}"
    return f"holdfast rerun {shlex.quote(str(folder))} --times 5{trust}"
