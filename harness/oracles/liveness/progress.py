"""PROGRESS: the step that a standing job lacks (RULES: every rule that says what happens next)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import AttemptStarted, Event
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.liveness import next_attempt, next_checkpoint, next_records
from holdfast.harness.oracles.liveness.held_back import CLAUSES as OF_MINI_BATCHES
from holdfast.harness.oracles.liveness.held_back import judge_held_back
from holdfast.harness.oracles.liveness.last_state import LastState
from holdfast.harness.oracles.liveness.user_commands import CLAUSES as OF_COMMANDS
from holdfast.harness.oracles.liveness.user_commands import judge_commands

_NEVER_STARTS = frozenset({ExpectedEnd.REFUSED, ExpectedEnd.ACCEPTED})


class ProgressOracle:
    """Judges how a run stood when it ended, half a second or more after anything was in its way.

    On the simulator only: elsewhere a process may wait for a processor for longer. The end of the run, and the time
    since which nothing was in the way, are read on the one clock of the simulator.
    """

    name = "PROGRESS"
    title = "the next step"
    invariant = "A job takes its next step while nothing is in its way."
    clauses: Mapping[str, str] = {
        **next_attempt.CLAUSES,
        **next_checkpoint.CLAUSES,
        **next_records.CLAUSES,
        **OF_MINI_BATCHES,
        **OF_COMMANDS,
    }
    evidence: tuple[type[Event], ...] = (AttemptStarted,)

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        if not history.end.problem and history.plan.expected_end not in _NEVER_STARTS:
            state = LastState(history)
            if not state.exempt.real_time:
                next_attempt.judge(state, findings)
                next_checkpoint.judge(state, findings)
                next_records.judge(state, findings)
                judge_held_back(state, findings)
                judge_commands(state, findings)
        return findings.verdict(history)
