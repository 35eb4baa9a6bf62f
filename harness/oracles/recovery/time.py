"""TIME: a timer that is set is taken once, when its time has come, whatever is restored in between (RULES REC-07)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.events import Event, RecordsDropped, SnapshotTaken, SourceEmitted, TimersFired, TimersSet
from holdfast.harness.model.history import History
from holdfast.harness.model.job import DELAYING, TIMED
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.recovery.timer_trace import SubtaskTimers, Timer, TimerTrace
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.expected_windows import with_split_watermarks
from holdfast.harness.oracles.shared.options import NS_PER_MS

OVERDUE_MS = 100
"""So long behind its time a timer in processing time is never taken, at the end of a run that is well."""


class TimeOracle:
    """Follows each timer from where it is set to where it is taken."""

    name = "TIME"
    title = "timers in time"
    invariant = "Every timer is taken once, not before its time, and none that is due is left behind."
    clauses: Mapping[str, str] = {
        "timer-lost": "a timer that is due is never taken, though its subtask takes later ones, or the run has ended",
        "timer-repeated": "a timer is taken twice in one attempt, and was not set again in between",
        "timer-unknown": "a timer is taken that was not set, and is not in the restored checkpoint",
        "timer-early": "a timer is taken before its time",
        "dropped-early": "a record is dropped as late from a window that its own split, never idle, had not passed",
    }
    evidence: tuple[type[Event], ...] = (TimersSet, TimersFired, SnapshotTaken)
    observed: frozenset[str] = frozenset()

    def applies(self, history: History) -> bool:
        return bool(history.plan.job.of_kind(*TIMED))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        trace = TimerTrace(history)
        for fired in trace.fired:
            findings.check("timer-early")
            early = [timer for timer in fired.timers if timer[1] > fired.time_ms]
            if early and not fired.final:
                message = f"{fired.subtask} takes timer {describe_timer(early[0])} at {fired.time_ms} ms"
                findings.violated("timer-early", message, fired)
        for subtask in trace.subtasks.values():
            _judge_taken(subtask, findings)
        for (attempt, name), subtask in trace.subtasks.items():
            for timer, latest in _left_behind(subtask):
                message = f"{name} never takes timer {describe_timer(timer)} in attempt {attempt}"
                findings.violated("timer-lost", f"{message}, and takes later ones", subtask.started, latest)
        _judge_end(history, trace, findings)
        _judge_dropped(history, findings)
        return findings.verdict(history)


def describe_timer(timer: Timer) -> str:
    return f"{timer[0]!r} of {timer[1]} ms"


def _judge_taken(subtask: SubtaskTimers, findings: Findings) -> None:
    name = subtask.started.subtask
    for clause in ("timer-repeated", "timer-unknown", "timer-lost"):
        findings.check(clause, len(subtask.taken))
    for timer, event in subtask.again:
        message = f"{name} takes timer {describe_timer(timer)} again"
        findings.violated("timer-repeated", message, subtask.taken[timer], event)
    for timer, event in subtask.unknown:
        message = f"{name} takes timer {describe_timer(timer)}, which was not set"
        findings.violated("timer-unknown", message, subtask.started, event)


def _left_behind(subtask: SubtaskTimers) -> Iterator[tuple[Timer, TimersFired]]:
    """Timers of its own that were due when it took others."""
    latest = subtask.latest
    if latest is not None:
        for timer in sorted(subtask.waiting, key=lambda each: (each[1], each[0])):
            if timer[1] <= latest.time_ms:
                yield timer, latest


def _judge_end(history: History, trace: TimerTrace, findings: Findings) -> None:
    """In processing time, at the end of a run that goes on well: nothing is overdue. The end of the run and that time
    are read on the one clock of the simulator."""
    end = history.end
    if not end.reached or history.plan.expected_end is not ExpectedEnd.RUNNING or exemptions(history).real_time:
        return
    delaying = {vertex.name for vertex in history.plan.job.of_kind(*DELAYING)}
    newest = max((attempt for attempt, _ in trace.subtasks), default=0)
    taken = {timer for (attempt, _), each in trace.subtasks.items() if attempt == newest for timer in each.taken}
    for (attempt, name), subtask in trace.subtasks.items():
        if attempt != newest or name.partition("[")[0] not in delaying:
            continue
        for timer in sorted(subtask.waiting | (subtask.pool - taken - subtask.deleted)):
            if timer[1] + OVERDUE_MS < end.ended_ns // NS_PER_MS:
                message = f"{name} has not taken timer {describe_timer(timer)} when the run ends"
                findings.violated("timer-lost", message, subtask.started)


def _judge_dropped(history: History, findings: Findings) -> None:
    """The watermark of an operator is that of the split that is furthest behind, whether it has one yet, but
    for splits that may have been idle. Where effects may be repeated, it may be restored from behind the position that
    its split is read again from, so that what comes again is late."""
    windows = with_split_watermarks(history)
    if windows is None:
        return
    repeats = Guarantee.NO_DUPLICATE not in history.claims.state
    for dropped in history.of(RecordsDropped):
        findings.check("dropped-early", len(dropped.records))
        read = _read_before(history, dropped.attempt) if repeats else {}
        for partition, offset, window, watermark_ms in dropped.records:
            seen = max(offset, read.get(partition, 0))
            if not windows.is_late(partition, offset, window, seen):
                record = history.inputs.named(partition, offset)
                message = f"{dropped.subtask} drops {record} from window {window} at watermark {watermark_ms} ms"
                findings.violated("dropped-early", message, dropped)


def _read_before(history: History, attempt: int) -> dict[int, int]:
    """By partition, one past the last record that earlier attempts have read."""
    read: dict[int, int] = {}
    for emitted in history.of(SourceEmitted):
        if emitted.attempt < attempt:
            read[emitted.partition] = max(read.get(emitted.partition, 0), emitted.next_offset)
    return read
