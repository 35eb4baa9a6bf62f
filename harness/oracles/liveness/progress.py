"""PROGRESS: the step that a stuck job lacks (RULES: every rule about what happens next)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    OVER,
    AttemptStarted,
    BatchProcessed,
    BatchSent,
    Event,
    JobStatus,
    JobSwitched,
    RescaleRequested,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import DELAYING
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.topology import channel_ends
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.liveness import next_attempt, next_checkpoint, next_records
from holdfast.harness.oracles.liveness.last_state import PATIENCE_NS, LastState
from holdfast.harness.oracles.shared.clocks import SKEW_NS
from holdfast.harness.oracles.shared.options import NS_PER_MS, synchronous_snapshots

_OF_COMMANDS: Mapping[str, str] = {
    "command-ignored": "a user cancels, suspends or rescales a job, and its coordinator does not begin to do so",
    "end-not-finished": "a job that is being cancelled or suspended never has ended",
}


def judge_commands(state: LastState, findings: Findings) -> None:
    """Decide on each order that a coordinator had the time to obey: it lived, and had started an attempt."""
    history = state.history
    over_ns = [event.time_ns for event in history.of(JobSwitched) if event.status in OVER]
    rescales_ns = [event.time_ns for event in history.of(RescaleRequested)]
    started = {event.node for event in history.of(AttemptStarted)}
    if state.exempt.punctual:
        orders = [(order, over_ns) for order in state.exempt.acted(Consequence.ENDS_JOB)]
        orders += [
            (order, [time_ns for time_ns in rescales_ns if time_ns >= order.time_ns - SKEW_NS])
            for order in state.exempt.acted(Consequence.RESCALES_JOB)
        ]
        for order, obeyed_ns in orders:
            death = state.exempt.next_death(started, order.time_ns)
            died_ns = death[0] if death else history.end.ended_ns
            begun = any(time_ns <= died_ns for time_ns in obeyed_ns)
            ran = any(event.time_ns < order.time_ns - PATIENCE_NS // 10 for event in history.of(AttemptStarted))
            if begun:
                findings.check("command-ignored")
            elif ran and died_ns - order.time_ns > PATIENCE_NS:
                findings.violated("command-ignored", f"a user's {order.fault_kind} has no effect", order)
    last = state.switched
    if last is not None and last.status in OVER and last.status is not JobStatus.CANCELLING:
        findings.check("end-not-finished")
    elif last is not None and last.status is JobStatus.CANCELLING and state.everybody and state.is_due(last.time_ns):
        findings.violated("end-not-finished", f"the job is still {last.status}", last)


_OF_MINI_BATCHES: Mapping[str, str] = {
    "held-back-too-long": "what is held back goes out later than the job allows, counted from the first record"
}
SLACK_NS = 10 * NS_PER_MS


def judge_held_back(state: LastState, findings: Findings) -> None:
    """Each time that one hands on what it took, where no fault makes it slow and no snapshot stops it. What it restored
    it has not taken."""
    history, plan = state.history, state.history.plan
    latencies = {vertex.name: vertex.latency_ms * NS_PER_MS for vertex in plan.job.of_kind(*DELAYING)}
    if not latencies or synchronous_snapshots(plan) or state.exempt.stopped_within_steps:
        return
    if state.exempt.acted(Consequence.SLOWS_TASK):
        return
    taken: dict[tuple[int, str], BatchProcessed] = {}
    for event in history.of_kinds((BatchProcessed, BatchSent)):
        if isinstance(event, BatchProcessed):
            subtask = channel_ends(event.channel)[1]
            if event.records and subtask.partition("[")[0] in latencies:
                taken.setdefault((event.attempt, subtask), event)
        elif isinstance(event, BatchSent):
            subtask = channel_ends(event.channel)[0]
            first = taken.pop((event.attempt, subtask), None)
            if first is None:
                continue
            findings.check("held-back-too-long")
            held_ns = event.time_ns - first.time_ns
            if held_ns > latencies[subtask.partition("[")[0]] + SLACK_NS:
                message = f"{subtask} holds back what it has for {held_ns // NS_PER_MS} ms"
                findings.violated("held-back-too-long", message, first, event)


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
        **_OF_MINI_BATCHES,
        **_OF_COMMANDS,
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
