"""What a part answers is looked at: its type, that it stays what it is, and who raised what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import msgspec
import pytest
from hypothesis import reject

from holdfast.fixtures.backends.hashmap import HashMapBackend, HashMapSnapshot
from holdfast.fixtures.backends.heap import HeapCells
from holdfast.fixtures.backends.table import CellTable
from holdfast.fixtures.sinks.memory import MemoryReader, MemorySink, MemoryWriter
from holdfast.fixtures.sources.log import LogSource
from holdfast.fixtures.sources.splits import Reader
from holdfast.harness.model.status import Status
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.restart_strategy import Failure, RestartContext, RestartStrategy
from holdfast.harness.spi.sink import Committable, Outcome, Row, SinkContext, SinkFactory
from holdfast.harness.spi.source import Batch
from holdfast.harness.spi.state import Reduce, SnapshotKind, StateDescriptor
from holdfast.suites.certify import restart_strategy, sink, source, state_backend
from holdfast.suites.certify.check import CannotTry, CheckVerdict
from holdfast.suites.certify.plug import shown
from holdfast.suites.certify.restart_strategy import judge as judge_strategy
from holdfast.suites.certify.scaffolds.restart_strategy.right import Strategy
from holdfast.suites.certify.sink import judge as judge_sink
from holdfast.suites.certify.source import judge as judge_source
from holdfast.suites.certify.state_backend import judge as judge_backend

BACKEND_CHECKS = {check.id: check for check in state_backend.CHECKS}
SINK_CHECKS = {check.id: check for check in sink.CHECKS}
SOURCE_CHECKS = {check.id: check for check in source.CHECKS}
STRATEGY_CHECKS = {check.id: check for check in restart_strategy.CHECKS}


class AnswersNone(MemorySink):
    """It commits, and returns nothing."""

    def commit(self, committables: Sequence[Committable], *, now_ms: int) -> Sequence[Outcome]:
        super().commit(committables, now_ms=now_ms)
        return None  # type: ignore[return-value]


def test_none_for_a_list_is_blamed_on_the_part() -> None:
    """It was an error of the harness."""
    verdict = judge_sink(SINK_CHECKS["FIN-03/program"], AnswersNone)
    assert (verdict.status, verdict.reason) == (Status.FAIL, "commit() returned None; a sequence is right.")


class LacksConfirmed:
    """A right backend without one method."""

    def __init__(self, *given: object) -> None:
        self._right = HashMapBackend(*given)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        if name == "confirmed":
            raise AttributeError(name)
        return getattr(self._right, name)


def test_a_method_that_is_missing_is_blamed_on_the_part() -> None:
    verdict = judge_backend(BACKEND_CHECKS["SBK-02/program"], LacksConfirmed, HashMapBackend)  # type: ignore[arg-type]
    assert verdict.status is Status.FAIL
    assert verdict.reason == "LacksConfirmed has no confirmed(), which its contract has."


class OtherArguments(MemorySink):
    """`commit` has no time."""

    def commit(self, committables: Sequence[Committable]) -> Sequence[Outcome]:  # type: ignore[override]
        return super().commit(committables, now_ms=0)


def test_a_call_that_cannot_be_made_is_blamed_on_the_part() -> None:
    verdict = judge_sink(SINK_CHECKS["FIN-03/program"], cast("SinkFactory", OtherArguments))
    assert verdict.status is Status.FAIL
    assert verdict.reason.startswith("commit() cannot be called as its contract says: ")


class RaisesOnce(HashMapBackend):
    """The twentieth snapshot of a process raises, and no other does."""

    calls = 0

    def make_snapshot(self, checkpoint: int, kind: SnapshotKind) -> HashMapSnapshot:
        RaisesOnce.calls += 1
        if RaisesOnce.calls == 20:
            raise ValueError("once")
        return super().make_snapshot(checkpoint, kind)


def test_what_is_raised_once_is_shown_as_it_was_raised() -> None:
    verdict = judge_backend(BACKEND_CHECKS["SBK-03/program"], RaisesOnce, HashMapBackend)
    assert verdict.status is Status.FAIL
    assert verdict.reason.startswith("snapshot() raised ValueError: once (test_answers.py:")
    assert any("did not do this again" in line for line in verdict.witness)


class ReusesItsBatch(LogSource):
    """Every batch has the same list of records."""

    def reader(self, subtask: int) -> Reader:
        class Reuses(Reader):
            records: list[object] = []

            def poll(self, most: int, *, now_ms: int) -> Batch:
                batch = super().poll(most, now_ms=now_ms)
                self.records[:] = batch.records
                return Batch(self.records, batch.status)  # type: ignore[arg-type]

        return Reuses(self, subtask)


def test_an_answer_that_changes_later_is_refuted() -> None:
    verdict = judge_source(SOURCE_CHECKS["E2E-05/again"], ReusesItsBatch)
    assert verdict.status is Status.FAIL
    assert "returned was changed by a later call: it was " in verdict.reason


class KeepsTheList(MemorySink):
    """Rows are taken from the list of the caller when they are prepared."""

    def writer(self, subtask: int, *, now_ms: int) -> MemoryWriter:
        class Keeps(MemoryWriter):
            given: Sequence[Row] = ()

            def append(self, rows: Sequence[Row]) -> None:
                super().append(self.given)
                self.given = rows

            def prepare(self, checkpoint: int, *, now_ms: int) -> Sequence[Committable]:
                super().append(self.given)
                self.given = ()
                return super().prepare(checkpoint, now_ms=now_ms)

        return Keeps(self, subtask)


def test_what_is_handed_in_belongs_to_the_caller_again() -> None:
    verdict = judge_sink(SINK_CHECKS["FIN-03/program"], KeepsTheList)
    assert verdict.status is Status.FAIL
    assert "is not visible" in verdict.reason


class EqualsAnything(bytes):
    """A value that says that it is what it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = bytes.__hash__


class Flatters(HashMapBackend):
    """Its tables answer what says that it is right."""

    def make_table(self, descriptor: StateDescriptor, reduce: Reduce | None) -> CellTable[HeapCells]:
        class Table(CellTable[HeapCells]):
            def get(self, key_group: int, namespace: bytes, keys: Sequence[bytes], *, now_ms: int) -> Sequence[bytes]:
                super().get(key_group, namespace, keys, now_ms=now_ms)
                return [EqualsAnything(b"wrong") for _ in keys]

        return Table(self.parts(), descriptor, reduce)


class FlattersReader(MemoryReader):
    """Every row is another one, of a type of its own."""

    def rows(self) -> Sequence[Row]:
        class AnyRow(Row):
            def __eq__(self, other: object) -> bool:
                return True

            __hash__ = Row.__hash__

        return [AnyRow(b"wrong", b"wrong") for _ in super().rows()]


class FlattersSink(MemorySink):
    """Its reader reads what says that it is right."""

    def committed_reader(self) -> FlattersReader:
        return FlattersReader(self.place)


def test_an_answer_that_says_that_it_is_right_is_not_believed() -> None:
    """Such a backend was certified."""
    verdict = judge_backend(BACKEND_CHECKS["SBK-02/program"], Flatters, HashMapBackend)
    assert verdict.status is Status.FAIL
    assert "b'wrong'" in verdict.reason
    verdict = judge_sink(SINK_CHECKS["FIN-03/program"], FlattersSink)
    assert verdict.status is Status.FAIL
    assert "is not visible" in verdict.reason


class LeavesOut(HashMapBackend):
    """Where it would have to have a snapshot, it says what kits say of what they do not try."""

    def make_snapshot(self, checkpoint: int, kind: SnapshotKind) -> HashMapSnapshot:
        raise CannotTry("there is no time")


class Rejects(HashMapBackend):
    """Random programs with a snapshot are not the right ones for it."""

    def make_snapshot(self, checkpoint: int, kind: SnapshotKind) -> HashMapSnapshot:
        reject()


class NeverMade(MemorySink):
    """It cannot be tried at all."""

    def __init__(self, context: SinkContext) -> None:
        raise CannotTry("there is no time")


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (lambda: judge_backend(BACKEND_CHECKS["SBK-02/program"], LeavesOut, HashMapBackend), "snapshot() raised"),
        (lambda: judge_backend(BACKEND_CHECKS["SBK-03/program"], Rejects, HashMapBackend), "snapshot() raised"),
        (lambda: judge_sink(SINK_CHECKS["FIN-03/program"], NeverMade), "the factory raised"),
    ],
    ids=("not tried", "rejected", "factory"),
)
def test_a_part_ends_no_check_with_the_words_of_a_kit(verdict: Callable[[], CheckVerdict], words: str) -> None:
    """It was not applicable, or the program did not count."""
    found = verdict()
    assert found.status is Status.FAIL, found
    assert words in found.reason
    assert "with which a kit ends a check or a program" in found.reason


class Wordless(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")

    __repr__ = __str__


class Number(Exception):
    def __str__(self) -> str:
        return cast("str", 5)

    __repr__ = __str__


class SaysThatItIsANumber:
    __class__ = int  # type: ignore[assignment]


class Shapeless:
    def __repr__(self) -> str:
        return cast("str", None)


def answering(answer: object) -> type[RestartStrategy]:
    """A strategy that answers this, or raises it."""

    class Answering(Strategy):
        def failed(self, failure: Failure, now_ms: float) -> int | None:
            if isinstance(answer, BaseException):
                raise answer
            return cast("int", answer)

    return Answering


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Wordless(), "failed() raised Wordless: <a Wordless that cannot be shown> (test_answers.py:"),
        (Number(), "failed() raised Number: <a Number that cannot be shown> (test_answers.py:"),
        (ValueError("\udc80"), "failed() raised ValueError: \\udc80 (test_answers.py:"),
        (10**5_000, "failed() returned <a int that cannot be shown>, a int; a number of 64 bits is right."),
        (10**400, "(401 characters), a int; a number of 64 bits is right."),
        (SaysThatItIsANumber(), "failed() returned a SaysThatItIsANumber that cannot be looked at: "),
        (Shapeless(), "failed() returned <a Shapeless that cannot be shown>, a Shapeless; int is right."),
    ],
    ids=["words", "number", "surrogate", "digits", "large", "class", "shape"],
)
def test_what_cannot_be_shown_is_blamed_on_the_part(answer: object, words: str) -> None:
    """The kit broke on it, and the command ended with 4."""
    verdict = judge_strategy(STRATEGY_CHECKS["RST-07/unrecoverable"], answering(answer))
    reported = shown(verdict)
    assert (reported.status, reported.rule) == (Status.FAIL, "RST-07")
    assert words in reported.reason
    assert msgspec.json.decode(msgspec.json.encode(reported), type=KitCheck) == reported


def test_a_factory_that_cannot_say_what_is_wrong_is_refuted() -> None:
    def factory(context: RestartContext) -> RestartStrategy:
        raise Wordless

    verdict = judge_strategy(STRATEGY_CHECKS["RST-07/unrecoverable"], factory)
    assert (verdict.status, verdict.reason) == (Status.FAIL, "the factory raised <a Wordless that cannot be shown>")


def test_a_long_complaint_is_cut() -> None:
    """It filled the memory of the harness, and every report."""
    reported = shown(judge_strategy(STRATEGY_CHECKS["RST-07/unrecoverable"], answering(ValueError("x" * 1_000_000))))
    assert reported.status is Status.FAIL
    assert "... (1000000 characters) (test_answers.py:" in reported.reason
    assert len(msgspec.json.encode(reported)) < 10_000
