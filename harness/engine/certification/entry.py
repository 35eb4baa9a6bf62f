"""One case on one tier within a certification."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.engine.cases.case_run import CaseRun
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.certification.result_log import LoggedCase, LoggedRun
from holdfast.harness.engine.certification.worker import RunEnded
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, RunResult


class Entry:
    """One case on one tier, and what came of it.

    Attributes:
        case_run: from the time when it was begun.
        tally: of its runs.
        kept: those that were stored.
        histories: digest over these.
        result: once it is over.
        again: whether it, or a rule of it, is open: it is run again with no other case beside it.
        rounds: how often it was begun.
        stalled: runs in which the machine was too busy before the last round.
        first_number: of drawn plans, the first that did not run before an interruption.
    """

    def __init__(self, case: Case, tier: Tier) -> None:
        self.case = case
        self.tier = tier
        self.case_run: CaseRun | None = None
        self.demanded = 0
        self.tally = Tally()
        self.kept: list[RunResult] = []
        self.histories = ""
        self.result: CaseResult | None = None
        self.again = False
        self.rounds = 0
        self.stalled = 0
        self.first_number = 0

    @property
    def waits(self) -> bool:
        """Whether it has neither begun nor ended."""
        return self.case_run is None and self.result is None

    def take(self, ended: RunEnded) -> None:
        self.tally.add(ended.result)
        if ended.kept is not None:
            self.kept.append(ended.kept)

    def restore(self, logged: Iterable[LoggedRun | LoggedCase]) -> None:
        """Count the runs of an invocation that was interrupted."""
        for each in logged:
            if isinstance(each, LoggedCase):
                self.result, self.histories, self.demanded = each.result, each.histories, each.result.runs_demanded
                continue
            self.take(RunEnded(each.result, each.kept))
            if each.result.draw_seed:
                self.first_number = max(self.first_number, each.result.plan_number + 1)
