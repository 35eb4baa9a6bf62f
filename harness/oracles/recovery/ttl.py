"""TTL: state with a time to live is found until it expires and never behind that, whatever is restored in between
(RULES SBK-02, REC-03)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import Event, KeysLookedUp, SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.recovery.expiry_trace import ExpiryTrace, Written
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS

CLOCK_MS = 1
"""So far behind its event the time may be by which a subtask looks something up, on the one clock of the simulator."""


class TtlOracle:
    """Follows the state of each key from where it is written to where it is looked up."""

    name = "TTL"
    title = "times to live"
    invariant = "State with a time to live is found until it expires, and not after that, over restores as well."
    clauses: Mapping[str, str] = {
        "expired-returned": "state is found that has expired, or was never written",
        "forgotten-early": "state is not found that has not expired",
        "clock-wrong": "a subtask looks up state by another time than its clock shows, or goes back in time",
    }
    evidence: tuple[type[Event], ...] = (KeysLookedUp, SnapshotTaken)
    observed: frozenset[str] = frozenset()

    def applies(self, history: History) -> bool:
        return bool(history.plan.job.of_kind(VertexKind.THROTTLE))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        if not self.applies(history):
            return findings.verdict(history)
        trace = ExpiryTrace(history)
        for lookup in trace.lookups:
            now_ms = lookup.event.now_ms
            lives = lookup.written is not None and now_ms < lookup.written.expires_ms
            findings.check("forgotten-early" if lives else "expired-returned")
            if lookup.found is lives:
                continue
            state = f"state of key {lookup.key!r}, which {_life(lookup.written)},"
            if lookup.found:
                message = f"{lookup.event.subtask} finds {state} at {now_ms} ms"
                findings.violated("expired-returned", message, *lookup.witness)
            else:
                message = f"{lookup.event.subtask} does not find {state} at {now_ms} ms"
                findings.violated("forgotten-early", message, *lookup.witness)
        _judge_clock(history, findings)
        return findings.verdict(history)


def _life(written: Written | None) -> str:
    if written is None:
        return "was not written"
    read = "" if written.read_ms is None else f" (a read at {written.read_ms} ms renews nothing)"
    return f"was written at {written.event.now_ms} ms and has expired from {written.expires_ms} ms on{read}"


def _judge_clock(history: History, findings: Findings) -> None:
    """The time of an event and that of a lookup are read on one clock, but for a machine that others use too."""
    latest: dict[tuple[int, str], KeysLookedUp] = {}
    real_time = exemptions(history).real_time
    for event in history.of(KeysLookedUp):
        findings.check("clock-wrong")
        before = latest.get((event.attempt, event.subtask))
        latest[event.attempt, event.subtask] = event
        if before is not None and event.now_ms < before.now_ms:
            message = f"{event.subtask} looks up state at {event.now_ms} ms, and before that at {before.now_ms} ms"
            findings.violated("clock-wrong", message, before, event)
        elif not real_time and not 0 <= event.time_ns // NS_PER_MS - event.now_ms <= CLOCK_MS:
            shown = event.time_ns // NS_PER_MS
            message = f"{event.subtask} looks up state at {event.now_ms} ms, when its clock shows {shown} ms"
            findings.violated("clock-wrong", message, event)
