"""The feeder of an engine that reads a log holds back what the engine does not come after, and owns up to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.harness.adapter.arrival import LEAST_WINDOW_RECORDS
from holdfast.harness.adapter.log_feeder import LogFeeder
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import InputDelayed
from holdfast.harness.model.records import InputLog, Partition

PER_SECOND = 500


class Fed:
    """A feeder of one partition, and how many records it has appended."""

    def __init__(self, count: int) -> None:
        values = np.arange(count, dtype=np.int64)
        inputs = InputLog(("k",), (Partition(values * 0, values, preloaded=1, records_per_second=PER_SECOND),))
        self.appended = 0
        self.recorder = Recorder()
        self.feeder = LogFeeder(inputs, self._append, self.recorder, "source[0]")

    def _append(self, _partition: int, _first: int, records: Sequence[tuple[str, int]]) -> None:
        self.appended += len(records)

    @property
    def delays(self) -> list[InputDelayed]:
        return [event for event in self.recorder.nodes.get(HARNESS, ()) if isinstance(event, InputDelayed)]


def test_what_is_due_waits_for_the_engine_and_the_delay_is_recorded() -> None:
    fed = Fed(100)
    fed.feeder.persisted((1,), 0)
    fed.feeder.tend(0, ready=True)
    fed.feeder.tend(50, ready=True)
    assert (fed.appended, fed.delays) == (1 + LEAST_WINDOW_RECORDS, [])
    fed.feeder.persisted((1 + LEAST_WINDOW_RECORDS,), 100)
    fed.feeder.tend(120, ready=True)
    assert fed.delays == [], "it still waits"
    fed.feeder.persisted((100,), 200)
    fed.feeder.tend(220, ready=True)
    assert [(delay.partition, delay.since_ns) for delay in fed.delays] == [(0, 50_000_000)]
    assert fed.appended == 100


def test_an_engine_that_comes_after_is_never_waited_for() -> None:
    fed = Fed(100)
    fed.feeder.persisted((1,), 0)
    for now_ms in range(0, 240, 10):
        fed.feeder.tend(now_ms, ready=True)
        fed.feeder.persisted((fed.appended,), now_ms)
    assert (fed.appended, fed.delays) == (100, [])
