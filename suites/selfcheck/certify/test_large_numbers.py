"""Parts that are right in the first ten, the first 255 or a number of 32 bits are refuted; odd right ones are not."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Thread

import pytest
from msgspec.structs import replace

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.heap import HeapCells, HeapTimers
from holdfast.fixtures.backends.table import CellTable
from holdfast.fixtures.mutants.sources.enumerators import with_enumerator
from holdfast.fixtures.mutants.state_backends.tables import with_table, with_timers
from holdfast.fixtures.reference.protocol.restart_strategies import FixedDelay
from holdfast.fixtures.sinks.memory import MemorySink, MemoryWriter
from holdfast.fixtures.sinks.transaction import Transaction, restored
from holdfast.fixtures.sources.splits import Enumerator, known_of
from holdfast.harness.model.status import Status
from holdfast.harness.spi.restart_strategy import Failure, RestartStrategyFactory
from holdfast.harness.spi.sink import Committable, Outcome, Row, SinkFactory
from holdfast.harness.spi.source import EnumeratorState, SourceFactory, SourceSplit
from holdfast.harness.spi.state import KeyedStateBackendFactory, StateContext, Timer
from holdfast.suites.certify import restart_strategy, sink, source, state_backend
from holdfast.suites.certify.restart_strategy import judge as judge_strategy
from holdfast.suites.certify.sink import judge as judge_sink
from holdfast.suites.certify.source import judge as judge_source
from holdfast.suites.certify.state_backend import judge as judge_backend


class ExpiryOf32Bits(CellTable[HeapCells]):
    """The end of a life is a number of 32 bits."""

    def expiry(self, now_ms: int) -> int:
        expires_ms = super().expiry(now_ms)
        return expires_ms if expires_ms < 0 else expires_ms & 0x7FFFFFFF


class TimersOfAnyLength(HeapTimers):
    """The declared limits are not looked at."""

    def register(self, timers: Sequence[Timer]) -> int:
        no_limits = replace(self.parts.limits, max_key_bytes=1 << 40, max_namespace_bytes=1 << 40)
        parts, self.parts = self.parts, type(self.parts)(self.parts.cells, no_limits, self.parts.require)
        try:
            return super().register(timers)
        finally:
            self.parts = parts


class CommitsAsText(MemorySink):
    """The tenth transaction is committed before the second."""

    def commit(self, committables: Sequence[Committable], *, now_ms: int) -> Sequence[Outcome]:
        transactions = restored(committables)
        in_order = sorted(transactions, key=lambda each: str(each.number))
        outcomes = {each: super(CommitsAsText, self).commit([each.committable], now_ms=now_ms)[0] for each in in_order}
        return [outcomes[each] for each in transactions]


class RemembersTwenty(MemorySink):
    """The oldest of more than twenty commits is forgotten."""

    def commit_one(self, transaction: Transaction, now_ms: int) -> Outcome:
        outcome = super().commit_one(transaction, now_ms)
        for old in sorted(each for each in self.place.committed if each[:2] == self.owner)[:-20]:
            self.place.committed.discard(old)
        return outcome


class AbortsTheOthers(MemorySink):
    """The first commit of an attempt takes what it does not name for aborted."""

    def commit(self, committables: Sequence[Committable], *, now_ms: int) -> Sequence[Outcome]:
        outcomes = super().commit(committables, now_ms=now_ms)
        for each in [each for each in self.place.prepared if self.is_orphan(each)]:
            del self.place.prepared[each]
        return outcomes


class ClosesOthers(MemorySink):
    """Who closes frees what is open, whoever wrote it."""

    def close(self) -> None:
        for each in [each for each in self.place.open if each[:3] == (*self.owner, self.context.attempt)]:
            del self.place.open[each]


class BoundedWriter(MemoryWriter):
    """The buffer has room for 2,048 rows."""

    def append(self, rows: Sequence[Row]) -> None:
        super().append(rows)
        del self.sink.place.open[self.transaction][2_048:]


class BoundedSink(MemorySink):
    def writer(self, subtask: int, *, now_ms: int) -> MemoryWriter:
        return BoundedWriter(self, subtask)


class Knows255(Enumerator):
    """Of what was found the last 255 are in the state."""

    def snapshot(self, checkpoint: int) -> EnumeratorState:
        known = known_of(super().snapshot(checkpoint))
        return replace(known, found=known.found[-255:]).state


class TakesEightBack(Enumerator):
    """Of splits that are given back the first eight are taken."""

    def give_back(self, splits: Sequence[SourceSplit]) -> None:
        super().give_back(splits[:8])


class CountsInAByte(FixedDelay):
    """At most 255 restarts are allowed."""

    def failed(self, failure: Failure, now_ms: float) -> int | None:
        self.attempts = min(self.attempts, 255)
        return super().failed(failure, now_ms)


class NeedsASubtask(FixedDelay):
    """A failure of the job as a whole is final."""

    def failed(self, failure: Failure, now_ms: float) -> int | None:
        return super().failed(failure, now_ms) if failure.subtask else None


class RunsBehindAFailure(FixedDelay):
    """The first `running` of a job is unexpected."""

    def running(self, now_ms: float) -> None:
        if not self.restarts:
            raise RuntimeError("it runs, and has never failed")


BACKENDS: dict[str, KeyedStateBackendFactory] = {
    "SBK-01/program": with_table(ExpiryOf32Bits),
    "SBK-01/timer-lengths": with_timers(TimersOfAnyLength),
}
SINKS: dict[str, SinkFactory] = {
    "E2E-06/program": CommitsAsText,
    "TPC-08/program": RemembersTwenty,
    "TPC-04/program": AbortsTheOthers,
    "TPC-01/program": ClosesOthers,
    "E2E-03/program": BoundedSink,
}
SOURCES: dict[str, SourceFactory] = {
    "RSC-05/hundreds": with_enumerator(Knows255),
    "RSC-05/given-back": with_enumerator(TakesEightBack),
}
STRATEGIES: list[tuple[str, RestartStrategyFactory]] = [
    ("RST-03/hundreds", CountsInAByte),
    ("RST-07/any-failure", NeedsASubtask),
    ("RST-07/any-failure", RunsBehindAFailure),
]


@pytest.mark.parametrize(("check", "wrong"), BACKENDS.items())
def test_a_wrong_backend_is_refuted(check: str, wrong: KeyedStateBackendFactory) -> None:
    [tried] = [each for each in state_backend.CHECKS if each.id == check]
    assert judge_backend(tried, wrong, HashMapBackend).status is Status.FAIL


@pytest.mark.parametrize(("check", "wrong"), SINKS.items())
def test_a_wrong_sink_is_refuted(check: str, wrong: SinkFactory) -> None:
    [tried] = [each for each in sink.CHECKS if each.id == check]
    assert judge_sink(tried, wrong).status is Status.FAIL


@pytest.mark.parametrize(("check", "wrong"), SOURCES.items())
def test_a_wrong_source_is_refuted(check: str, wrong: SourceFactory) -> None:
    [tried] = [each for each in source.CHECKS if each.id == check]
    assert judge_source(tried, wrong).status is Status.FAIL


@pytest.mark.parametrize(("check", "wrong"), STRATEGIES)
def test_a_wrong_strategy_is_refuted(check: str, wrong: RestartStrategyFactory) -> None:
    [tried] = [each for each in restart_strategy.CHECKS if each.id == check]
    assert judge_strategy(tried, wrong).status is Status.FAIL


class EndsItsThread(HashMapBackend):
    """A right one: its thread ends a moment behind `close`."""

    def __init__(self, context: StateContext) -> None:
        super().__init__(context)
        self.closing = Event()
        Thread(target=self.closing.wait).start()

    def close(self) -> None:
        super().close()
        self.closing.set()


def test_a_thread_that_ends_behind_close_is_right() -> None:
    [tried] = [each for each in state_backend.CHECKS if each.id == "ASY-06/closed"]
    assert judge_backend(tried, EndsItsThread, HashMapBackend).status is Status.PASS
