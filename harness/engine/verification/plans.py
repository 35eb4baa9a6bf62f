"""Whether each run is of the plan that its case has for its number: a seed cannot be exchanged for one that passes."""

from __future__ import annotations

import msgspec

from holdfast.harness.engine.cases.case import plan_of, system_under_test
from holdfast.harness.engine.cases.case_run import ATTEMPTS, CaseRun
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.certification.agenda import SEEDS
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.digest import plan_digest
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.verification.sent import Judged, Key, SentCertificate
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.model.case import Case
from holdfast.harness.model.journal import RunResult, Status
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.plural import plural


def cases_of(sent: SentCertificate, judged: Judged, statements: Statements) -> dict[Key, Case]:
    """The cases that ran, as they are here; what is unknown is left open."""
    registered = {case.id: case for case in registry.cases()}
    found: dict[Key, Case] = {}
    for result in sent.journal.cases:
        case = registered.get(result.case)
        try:
            if case is None and judged.system is not None:
                case = case_for(judged.system, result.case, result.tier)
        except UsageError:
            case = None
        if case is not None:
            found[result.case, result.tier] = case
        elif result.runs_demanded or {result.status, *result.rules.values()} != {Status.UNTESTED}:
            why = judged.why_not or "no such case is known here"
            statements.leave_open(f"{result.case} on {result.tier} was not recomputed: {why}")
    return found


class Plans:
    """The plans that the runs of a certificate have, as they are drawn or written here.

    Args:
        sent: the certificate.
        judged: its system.
        cases: those that ran.
    """

    def __init__(self, sent: SentCertificate, judged: Judged, cases: dict[Key, Case]) -> None:
        self._judged = judged
        self._cases = cases
        self._runs: dict[Key, CaseRun | None] = {}
        self._first_seed = sent.journal.seed * SEEDS + 1

    def run_of(self, result: RunResult) -> CaseRun | None:
        """How a run of a case took place; None where the system is not known here."""
        key = result.case, result.tier
        if key not in self._runs:
            self._runs[key] = self._run_of(key)
        return self._runs[key]

    def _run_of(self, key: Key) -> CaseRun | None:
        case = self._cases.get(key)
        if case is None or self._judged.system is None:
            return None
        try:
            system = system_under_test(case, self._judged.system, self._first_seed)
        except (UsageError, NotApplicable):
            return None
        return CaseRun(case, system, key[1], registry.toolbox(), self._first_seed)

    def plan_of(self, result: RunResult) -> Plan | None:
        """The plan of a run; None where its system is not known, or it has no number."""
        case_run = self.run_of(result)
        if case_run is None or result.plan_number < 0:
            return None
        plan = plan_of(case_run.case, case_run.system, self._first_seed, result.plan_number)
        tries = range(1 if plan.draw_seed else ATTEMPTS)
        if result.run_seed - plan.run_seed in tries:
            plan = msgspec.structs.replace(plan, run_seed=result.run_seed)
        return plan

    def compare(self, sent: SentCertificate, statements: Statements) -> None:
        """Each run of the log with the plan of its number."""
        checked = open_runs = 0
        for key in sent.log:
            for result in (each.result for each in sent.runs_of(key)):
                plan = self.plan_of(result)
                if plan is None:
                    open_runs += 1
                elif (plan_digest(plan), plan.draw_seed, plan.run_seed) == (
                    result.plan_digest,
                    result.draw_seed,
                    result.run_seed,
                ):
                    checked += 1
                else:
                    statements.contradict(
                        f"run {result.id} is of another plan than number {result.plan_number} of {result.case} under "
                        f"seed {sent.journal.seed}"
                    )
        if checked:
            statements.confirm(f"{plural(checked, 'run is', 'runs are')} of the plan that seed and case give")
        if open_runs:
            why = self._judged.why_not or "the harness broke before it had one"
            statements.leave_open(f"the plans of {plural(open_runs, 'run')}: {why}")
