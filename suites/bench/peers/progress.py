"""How many records an engine had taken at which time, how much processor time it had used, and what follows from that.

Records per second depend on who else uses the machine; records per second of processor time hardly do. Both are
reported, and how many cores the engine really had.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

COLD_S = 5.0
WARM_AFTER_S = 20.0


class Sample(msgspec.Struct, frozen=True, array_like=True):
    """At a time (in seconds on any one clock) so many records had been taken since the start."""

    time_s: float
    records: int


class Spent(msgspec.Struct, frozen=True, array_like=True):
    """At a time (on the clock of the samples) so much processor time had been used by all processes of the engine."""

    time_s: float
    processor_s: float


class Rates(msgspec.Struct, frozen=True):
    """Records per second.

    Attributes:
        cold: in the first seconds after the first record, while a virtual machine still interprets.
        warm: from some time after the first record to the last; not a number if it did not run that long.
        overall: from the first record to the last.
        records: how many there were.
        seconds: from the first record to the last.
        warm_from_s: when that was, on the clock of the samples.
        warm_cores: processor time by time while warm, so how many cores the engine had.
    """

    cold: float
    warm: float
    overall: float
    records: int
    seconds: float
    warm_from_s: float
    warm_cores: float

    @property
    def warm_per_core(self) -> float:
        """Records per second of processor time."""
        return self.warm / self.warm_cores


def rates_of(
    samples: Sequence[Sample], spent: Sequence[Spent], cold_s: float = COLD_S, warm_after_s: float = WARM_AFTER_S
) -> Rates:
    """Rates of a run. The first record came somewhere between the last sample without records and the next one.

    Args:
        samples, spent: what was seen, in the order of time and on one clock.
        cold_s, warm_after_s: what counts as cold and as warm.

    Raises:
        ValueError: no record was taken.
    """
    first = next((index for index, sample in enumerate(samples) if sample.records), 0)
    if not first:
        raise ValueError("the engine took no record between two samples; its rate is unknown.")
    begin, end = samples[first - 1], _first_complete(samples)
    warm = _at(samples, begin.time_s + warm_after_s)
    return Rates(
        cold=_rate(begin, _at(samples, begin.time_s + cold_s)),
        warm=_rate(warm, end),
        overall=_rate(begin, end),
        records=end.records,
        seconds=end.time_s - begin.time_s,
        warm_from_s=warm.time_s,
        warm_cores=_cores(spent, warm.time_s, end.time_s),
    )


def _first_complete(samples: Sequence[Sample]) -> Sample:
    """The first sample with all records: what comes after it is waiting."""
    return next(sample for sample in samples if sample.records == samples[-1].records)


def _at(samples: Sequence[Sample], time_s: float) -> Sample:
    return next((sample for sample in samples if sample.time_s >= time_s), samples[-1])


def _rate(begin: Sample, end: Sample) -> float:
    if end.time_s <= begin.time_s:
        return float("nan")
    return (end.records - begin.records) / (end.time_s - begin.time_s)


def _cores(spent: Sequence[Spent], begin_s: float, end_s: float) -> float:
    times = [each.time_s for each in spent]
    used = [each.processor_s for each in spent]
    if end_s <= begin_s or not spent:
        return float("nan")
    begin, end = np.interp((begin_s, end_s), times, used)
    return float((end - begin) / (end_s - begin_s))
