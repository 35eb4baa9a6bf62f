"""TREND: a job that goes on for long goes on as it began (RULES CRD-14).

In every attempt of a run without faults each checkpoint is measured, up to the first that does not complete. The first
third of the measures and the last are compared by ranks (Wilcoxon, Mann and Whitney), which asks nothing of how they
are spread; growth that the sum of ranks shows to be beyond chance, and that is worth a word, refutes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import median

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay

FEWEST = 300
"""Checkpoints of an attempt that say something about a trend."""
BEYOND_CHANCE = 6.0
"""Standard deviations by which a sum of ranks exceeds its mean: by chance once in a thousand million series."""
WORTH_A_WORD = 1.25
"""How many times the median of the first third the median of the last one is."""
_ACK, _DURATION, _FILES, _VERSIONS = "acks-slow-down", "duration-grows", "files-grow", "versions-grow"
_WORDS = {
    _ACK: "milliseconds from the trigger to the last ack",
    _DURATION: "milliseconds from the trigger to the completion",
    _FILES: "files in the storage of checkpoints",
    _VERSIONS: "versions of state that snapshots keep",
}


class TrendOracle:
    """Measures every checkpoint of a long run."""

    name = "TREND"
    title = "steadiness of long runs"
    invariant = "However long a job runs, its checkpoints take as long and leave as much as in the beginning."
    clauses: Mapping[str, str] = {
        _ACK: "in the last third of many checkpoints the last ack comes later than in the first",
        _DURATION: "checkpoints of the last third take longer than those of the first",
        _FILES: "more files are stored in the last third than in the first",
        _VERSIONS: "more versions of state are kept for snapshots in the last third than in the first",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.CheckpointTriggered,
        events.AckReceived,
        events.CheckpointCompleted,
    )

    def applies(self, history: History) -> bool:
        return not history.plan.faults and len(history.of(events.CheckpointCompleted)) >= FEWEST

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        for measures in _Measures(history).by_attempt.values():
            for clause, series in measures.items():
                if len(series) >= FEWEST:
                    _judge(clause, series, findings)
        return findings.verdict(history)


def _judge(clause: str, series: Sequence[float], findings: Findings) -> None:
    third = len(series) // 3
    first, last = series[:third], series[-third:]
    findings.check(clause)
    before, after = median(first), median(last)
    if after > WORTH_A_WORD * before and excess(first, last) > BEYOND_CHANCE:
        message = (
            f"{_WORDS[clause]}: {after:g} in the last {third} of {len(series)} checkpoints, {before:g} in the first"
        )
        findings.violated(clause, message)


def excess(first: Sequence[float], last: Sequence[float]) -> float:
    """By how many standard deviations the ranks of the last measures exceed what chance gives them; 0 if all measures
    are alike."""
    count = len(first) + len(last)
    ordered = sorted([(value, 0) for value in first] + [(value, 1) for value in last])
    ranks, ties, start = 0.0, 0, 0
    while start < count:
        end = start
        while end < count and ordered[end][0] == ordered[start][0]:
            end += 1
        alike = end - start
        ranks += (start + end + 1) / 2 * sum(late for _, late in ordered[start:end])
        ties += alike**3 - alike
        start = end
    mean = len(last) * (count + 1) / 2
    variance = len(first) * len(last) / 12 * (count + 1 - ties / (count * (count - 1)))
    return (ranks - mean) / sqrt(variance) if variance > 0 else 0.0


class _Measures:
    """What each checkpoint was like when it completed.

    Attributes:
        by_attempt: by clause, one measure for each checkpoint up to the first that was aborted.
    """

    def __init__(self, history: History) -> None:
        self.by_attempt: dict[int, dict[str, list[float]]] = {}
        self._triggered: dict[int, events.CheckpointTriggered] = {}
        self._last_ack: dict[int, events.AckReceived] = {}
        self._files: set[str] = set()
        self._versions = 0
        self._over: set[int] = set()
        self._of_versions = bool(history.of(events.SnapshotReleased))
        self._of_files = bool(history.of(events.FileWritten))
        replay(
            history,
            {
                events.CheckpointTriggered: self._begun,
                events.AckReceived: self._acknowledged,
                events.CheckpointAborted: self._aborted,
                events.CheckpointCompleted: self._completed,
                events.FileWritten: self._written,
                events.FileDeleted: self._deleted,
                events.SnapshotTaken: self._taken,
                events.SnapshotReleased: self._released,
            },
        )

    def _begun(self, event: events.CheckpointTriggered) -> None:
        self._triggered[event.checkpoint] = event

    def _acknowledged(self, event: events.AckReceived) -> None:
        if event.outcome is events.AckOutcome.SUCCESS:
            self._last_ack[event.checkpoint] = event

    def _aborted(self, event: events.CheckpointAborted) -> None:
        self._over.add(event.attempt)

    def _written(self, event: events.FileWritten) -> None:
        self._files.add(event.file.path)

    def _deleted(self, event: events.FileDeleted) -> None:
        self._files.discard(event.path)

    def _taken(self, event: events.SnapshotTaken) -> None:
        self._versions += event.state is not None

    def _released(self, event: events.SnapshotReleased) -> None:
        self._versions -= 1

    def _completed(self, event: events.CheckpointCompleted) -> None:
        triggered = self._triggered.pop(event.checkpoint, None)
        last_ack = self._last_ack.pop(event.checkpoint, None)
        if triggered is None or last_ack is None or event.attempt in self._over or triggered.node != event.node:
            return
        measures = self.by_attempt.setdefault(event.attempt, {clause: [] for clause in _WORDS})
        measures[_ACK].append((last_ack.time_ns - triggered.time_ns) / 1e6)
        measures[_DURATION].append((event.time_ns - triggered.time_ns) / 1e6)
        if self._of_files:
            measures[_FILES].append(len(self._files))
        if self._of_versions:
            measures[_VERSIONS].append(self._versions)
