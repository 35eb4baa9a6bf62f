"""What a mini-batch or a delayed sum holds back: from the first record on, for as long as the job says."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import BatchProcessed, BatchSent
from holdfast.harness.model.job import DELAYING
from holdfast.harness.model.topology import channel_ends
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.liveness.last_state import LastState
from holdfast.harness.oracles.shared.options import NS_PER_MS, synchronous_snapshots

CLAUSES: Mapping[str, str] = {
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
