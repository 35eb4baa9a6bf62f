"""The feeder of an engine that reads a log holds back what the engine does not come after, and owns up to it."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.harness.adapter.feeder import LEAST_WINDOW_RECORDS, Records
from holdfast.harness.adapter.log_feeder import LogFeeder
from holdfast.harness.adapter.recorder import HARNESS, SOURCE, Recorder
from holdfast.harness.model.events import InputDelayed, SourceEmitted
from holdfast.harness.model.records import InputLog, Partition

PER_SECOND = 500


class Fed:
    """A feeder of one partition, and how many records it has appended."""

    def __init__(self, count: int) -> None:
        values = np.arange(count, dtype=np.int64)
        inputs = InputLog(("k",), (Partition(values * 0, values, preloaded=1, records_per_second=PER_SECOND),))
        self.appended, self.room, self.refused = 0, count, ""
        self.recorder = Recorder()
        self.feeder = LogFeeder(inputs, self, self.recorder, "source[0]")

    def append(self, partition: int, first: int, records: Records) -> int:
        assert (partition, first) == (0, self.appended)
        taken = min(len(records), self.room)
        self.appended += taken
        return taken

    def settle(self) -> int:
        if self.refused:
            raise OSError(self.refused)
        return 0

    def close(self) -> None:
        """Nothing is held."""

    @property
    def emitted(self) -> list[tuple[int, int]]:
        events = self.recorder.nodes.get(SOURCE, ())
        return [(event.first_offset, event.next_offset) for event in events if isinstance(event, SourceEmitted)]

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


def test_what_the_log_has_no_room_for_is_appended_with_the_next_step() -> None:
    fed = Fed(100)
    fed.feeder.persisted((1,), 0)
    fed.room = 4
    fed.feeder.tend(0, ready=True)
    fed.feeder.tend(20, ready=True)
    fed.room = 100
    fed.feeder.tend(40, ready=True)
    assert fed.emitted == [(0, 1), (1, 5), (5, 17)]
    assert fed.delays == [], "its window is full, and it still waits"


def test_a_record_that_the_log_refused_is_no_loss_of_the_engine() -> None:
    """It ends the run, whether anything is due just now or not, and whether the engine has begun or not."""
    fed = Fed(100)
    fed.feeder.finish()
    assert fed.feeder.problem == ""
    fed.refused = "topic input does not take a record: too large."
    with pytest.raises(OSError, match=fed.refused):
        fed.feeder.tend(0, ready=False)
    fed.feeder.finish()
    assert fed.feeder.problem == fed.refused
