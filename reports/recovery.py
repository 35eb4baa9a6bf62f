"""Recoveries regrouped for showing: by fault and tier, the systems of a journal side by side."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal, Recovery, RunResult
from holdfast.harness.model.units import duration
from holdfast.harness.model.verdict import Outcome
from holdfast.reports import text

MOST_MS = 1e11
"""Three years: what is longer is no measurement."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One fault that was recovered from."""

    run: str
    target: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Row:
    """What one kind of fault led to on one system and tier.

    Attributes:
        series: number of the system, from 1, in the order in which the journal names them.
        faults: how many landed, measured or not.
        samples: fault to new committed output, the fastest first.
        running: milliseconds from fault to RUNNING, ascending.
    """

    attack: str
    tier: Tier
    system: str
    series: int
    faults: int
    samples: tuple[Sample, ...]
    running: tuple[float, ...]

    @property
    def values(self) -> list[float]:
        """Milliseconds from fault to new committed output, ascending."""
        return [sample.milliseconds for sample in self.samples]

    @property
    def median(self) -> float | None:
        return _middle(self.values)

    @property
    def middle_running(self) -> float | None:
        return _middle(self.running)

    @property
    def p95(self) -> float | None:
        """The smallest value that 95 % do not exceed: one that was really seen."""
        values = self.values
        return values[math.ceil(len(values) * 0.95) - 1] if values else None

    @property
    def worst(self) -> float | None:
        return max(self.values, default=None)

    @property
    def untold(self) -> int:
        """After how many faults nothing was measured: the next one or the end came before new output."""
        return self.faults - len(self.samples)

    @property
    def in_words(self) -> str:
        """The figures in one line."""
        if self.median is None or self.p95 is None:
            return (
                f"not measured after {text.plural(self.faults, 'fault')}: no new output before the next one or the end"
            )
        return f"median {duration(self.median)}, p95 {duration(self.p95)} (n = {len(self.samples)})"


def groups(journal: Journal) -> list[list[Row]]:
    """By fault and tier, those with the most samples first, a row for each system.

    A run that was refuted has not recovered, whatever it put out.
    """
    found: dict[tuple[str, Tier, str], list[tuple[RunResult, Recovery]]] = {}
    for run, recovery in _told(journal):
        found.setdefault((recovery.attack, run.tier, run.system), []).append((run, recovery))
    systems = list(dict.fromkeys(system for _, _, system in found))
    grouped: dict[tuple[str, Tier], list[Row]] = {}
    for (attack, tier, system), recoveries in sorted(found.items(), key=lambda item: systems.index(item[0][2])):
        row = _row(attack, tier, system, systems.index(system) + 1, recoveries)
        grouped.setdefault((attack, tier), []).append(row)
    return sorted(grouped.values(), key=lambda group: -sum(len(row.samples) for row in group))


def refuted(journal: Journal) -> int:
    """How many recoveries are left out, because the run was refuted."""
    return sum(len(run.recoveries) for run in journal.runs if run.outcome is Outcome.FAIL)


def _middle(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _told(journal: Journal) -> Iterator[tuple[RunResult, Recovery]]:
    for run in journal.runs:
        if run.outcome is not Outcome.FAIL:
            for recovery in run.recoveries:
                yield run, recovery


def _row(attack: str, tier: Tier, system: str, series: int, found: list[tuple[RunResult, Recovery]]) -> Row:
    samples = [
        Sample(run.id, each.target, each.to_committed_ms)
        for run, each in found
        if each.to_committed_ms is not None and _is_duration(each.to_committed_ms)
    ]
    running = [each.to_running_ms for _, each in found if each.to_running_ms is not None]
    return Row(
        attack,
        tier,
        system,
        series,
        len(found),
        tuple(sorted(samples, key=lambda sample: sample.milliseconds)),
        tuple(sorted(filter(_is_duration, running))),
    )


def _is_duration(milliseconds: float) -> bool:
    """Whether it can be drawn; a journal may hold anything."""
    return 0 <= milliseconds <= MOST_MS
