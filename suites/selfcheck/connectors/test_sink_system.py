"""Sinks behind the SPI: begun once, fenced, committed as what wrote the rows, and seen as changes of a table."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any

import pytest

from holdfast.fixtures.reference.connectors.row_records import to_rows
from holdfast.fixtures.reference.connectors.table_changes import TableChanges
from holdfast.fixtures.reference.drivers.processes.run_context import OwnThread
from holdfast.fixtures.reference.operators.plain import decode_rows, encode_rows
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.reference.protocol.effects import AbortTransactions, Commit, CommitRefused, Precommit
from holdfast.fixtures.reference.protocol.effects.tasks import Promised
from holdfast.fixtures.reference.protocol.storage.file_layout import FileLayout
from holdfast.fixtures.reference.protocol.storage.sink_system import SameThread, Sinks
from holdfast.fixtures.reference.protocol.storage.storage import TaskStorage
from holdfast.fixtures.sinks.memory import MemorySink, place_of
from holdfast.harness.model.events import StorageFailed
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import IdentityRow
from holdfast.harness.spi.errors import Damaged, Transient
from holdfast.harness.spi.sink import Committable, Outcome, OutcomeKind, Row, SinkContext, SinkFactory
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.storing import TestWorld, outcome_of

SINK, OTHER = "sink[0]", "sink[1]"
_numbers = count()


def rows_of(content: bytes) -> list[Row]:
    return to_rows(decode_rows(content, Contract.RECORDS))


class World:
    """A sink system, and processes that write to it."""

    def __init__(self) -> None:
        self.uri = f"memory:///sessions-{next(_numbers)}"
        self.place = place_of(self.uri)

    def process(self, factory: SinkFactory = MemorySink, lane: type[SameThread | OwnThread] = SameThread) -> Sinks:
        """The sinks of another process."""
        return Sinks(factory, self.uri, rows_of, lambda: 1_000, lane)

    def precommit(self, process: Sinks, subtask: str, attempt: int, offset: int) -> Promised:
        """One row; what the checkpoint promises."""
        transaction = f"{subtask}-{attempt:06d}-{offset:06d}"
        effect = Precommit(attempt, subtask, transaction, offset, ())
        content = encode_rows(([IdentityRow(0, offset)],))
        return ((transaction, process.precommit(effect, content)),)

    def commit(self, process: Sinks, subtask: str, attempt: int, promised: Promised) -> bool:
        [(transaction, committables)] = promised
        effect = Commit(attempt, subtask, transaction, committables, promised)
        return process.commit(effect)

    def abort(self, process: Sinks, subtask: str, attempt: int, promised: Promised) -> None:
        process.abort(AbortTransactions(attempt, subtask, promised))

    @property
    def keys(self) -> list[str]:
        """Of the visible rows."""
        return [row.key.decode() for row in self.place.visible]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(params=[SameThread, OwnThread])
def process(world: World, request: pytest.FixtureRequest) -> Iterator[Sinks]:
    made = world.process(lane=request.param)
    yield made
    made.close()
    made.close()


def test_rows_wait_for_their_commit(world: World, process: Sinks) -> None:
    promised = world.precommit(process, SINK, 1, 7)
    assert world.keys == []
    assert world.commit(process, SINK, 1, promised) is False
    assert world.commit(process, SINK, 1, promised) is True
    assert world.keys == ["0/7"]


def test_a_restart_keeps_what_its_checkpoint_promises_and_nothing_else(world: World) -> None:
    dead, living = world.process(), world.process()
    promised = world.precommit(dead, SINK, 1, 1)
    world.precommit(dead, SINK, 1, 2)
    world.abort(living, SINK, 2, promised)
    assert world.commit(living, SINK, 2, promised) is False
    assert world.keys == ["0/1"]
    assert not world.place.prepared


def test_a_commit_may_come_before_the_others_are_thrown_away(world: World) -> None:
    promised = world.precommit(world.process(), SINK, 1, 1)
    living = world.process()
    assert world.commit(living, SINK, 2, promised) is False
    world.abort(living, SINK, 2, promised)
    assert world.commit(living, SINK, 2, promised) is True


def test_one_subtask_commits_what_another_one_left(world: World) -> None:
    promised = world.precommit(world.process(), OTHER, 1, 3)
    living = world.process()
    for subtask in (SINK, OTHER):
        world.abort(living, subtask, 2, promised)
    assert world.commit(living, SINK, 2, promised) is False
    assert world.keys == ["0/3"]


def test_a_subtask_begins_without_fencing_another(world: World) -> None:
    first, second = world.process(), world.process()
    promised = world.precommit(first, SINK, 1, 1)
    world.abort(second, OTHER, 2, ())
    assert world.commit(first, SINK, 1, promised) is False


def test_an_old_attempt_is_fenced(world: World) -> None:
    old = world.process()
    promised = world.precommit(old, SINK, 1, 1)
    world.abort(world.process(), SINK, 2, promised)
    with pytest.raises(OSError, match="attempt 2 of job has begun"):
        world.precommit(old, SINK, 1, 2)
    with pytest.raises(OSError, match="attempt 2 of job has begun"):
        world.commit(old, SINK, 1, promised)


def test_an_old_attempt_of_the_same_process_is_fenced(world: World, process: Sinks) -> None:
    promised = world.precommit(process, SINK, 1, 1)
    world.abort(process, SINK, 2, promised)
    with pytest.raises(OSError, match=r"attempt 1 of sink\[0\] is fenced: attempt 2 has begun"):
        world.commit(process, SINK, 1, promised)


def answering(*outcomes: Outcome) -> SinkFactory:
    """A sink that says this of a commit."""

    class Answering(MemorySink):
        def commit(self, committables: Sequence[Committable], *, now_ms: int) -> Sequence[Outcome]:
            return outcomes

    return Answering


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([Outcome(OutcomeKind.FAILED, "it has expired.")], r"rows of sink\[0\]-\S+ are lost: it has expired"),
        ([Outcome(OutcomeKind.RETRY, "it is busy.")], "is to be committed again: it is busy"),
        ([], "reports 0 outcomes of 1 committables"),
    ],
)
def test_what_is_not_committed_fails_the_task(world: World, outcomes: Sequence[Outcome], said: str) -> None:
    process = world.process(answering(*outcomes))
    with pytest.raises(OSError, match=said):
        world.commit(process, SINK, 1, world.precommit(process, SINK, 1, 1))


@pytest.mark.parametrize("error", [Transient("no answer"), Damaged("no content"), ZeroDivisionError("a mistake")])
def test_every_error_of_a_sink_is_an_error_of_the_storage(world: World, error: Exception) -> None:
    class Raising(MemorySink):
        def begin(self, restored_ones: Sequence[Committable], *, now_ms: int) -> None:
            raise error

    with pytest.raises(OSError, match=str(error)):
        world.precommit(world.process(Raising), SINK, 1, 1)


def commit_of(process: Sinks, promised: Promised) -> list[type]:
    """What comes of a commit of the first attempt, as an operation of the tasks' storage."""
    parts: Any = None  # of which a commit uses none
    storage = TaskStorage(FileLayout(), parts, process, configure(plan()), parts, TestWorld())
    [(transaction, committables)] = promised
    commit = Commit(1, SINK, transaction, committables, promised)
    return [type(each) for each in outcome_of(storage.commit(commit))]


def test_who_is_fenced_off_is_refused_though_the_sink_system_has_not_failed(world: World) -> None:
    old = world.process()
    promised = world.precommit(old, SINK, 1, 1)
    world.abort(world.process(), SINK, 2, ())
    assert commit_of(old, promised) == [CommitRefused]


def test_a_sink_system_that_does_not_answer_has_failed(world: World) -> None:
    class Silent(MemorySink):
        def commit(self, committables: Sequence[Committable], *, now_ms: int) -> Sequence[Outcome]:
            raise Transient("no answer")

    process = world.process(Silent)
    assert commit_of(process, world.precommit(process, SINK, 1, 1)) == [StorageFailed, CommitRefused]


def test_each_sink_object_has_a_thread_of_its_own(world: World) -> None:
    threads: dict[int, set[int]] = {}

    class Noting(MemorySink):
        def step(self, name: str, effect: object) -> object:  # type: ignore[override]
            threads.setdefault(id(self), set()).add(threading.get_ident())
            return super().step(name, effect)  # type: ignore[arg-type]

    process = world.process(Noting, OwnThread)
    for offset in range(3):
        world.commit(process, SINK, 1, world.precommit(process, SINK, 1, offset))
    process.close()
    assert [len(each) for each in threads.values()] == [1, 1]
    assert threading.get_ident() not in set.union(*threads.values())


@pytest.mark.parametrize("fails", ["the sink that commits", "the beginning"])
def test_an_attempt_that_cannot_begin_leaves_nothing_open(world: World, fails: str) -> None:
    """The sink that writes stayed open, and its thread, where the one that commits could not be made."""
    opened: list[object] = []
    sinks = count(1)

    class Lane(SameThread):
        def __init__(self) -> None:
            opened.append(self)

        def close(self) -> None:
            opened.remove(self)

    class Counted(MemorySink):
        def begin(self, restored: Sequence[Committable], *, now_ms: int) -> None:
            if fails == "the beginning":
                raise Transient("no answer")

        def close(self) -> None:
            opened.remove(self)

    def factory(context: SinkContext) -> Counted:
        if next(sinks) == 2 and fails == "the sink that commits":
            raise Transient("no answer")
        opened.append(Counted(context))
        return opened[-1]  # type: ignore[return-value]

    process = world.process(factory, Lane)
    with pytest.raises(OSError, match="no answer"):
        world.precommit(process, SINK, 1, 1)
    assert opened == []


def test_a_thread_of_its_own_knows_what_is_under_way_where_it_is_asked() -> None:
    under_way: ContextVar[str] = ContextVar("under way")
    own = OwnThread()
    for operation in ("pre-commit", "commit"):
        under_way.set(operation)
        assert own.run(under_way.get) == operation
    own.close()


def rows(*pairs: tuple[str, str]) -> list[Row]:
    return [Row(key.encode(), value.encode()) for key, value in pairs]


def test_a_look_shows_what_the_one_before_did_not() -> None:
    table = TableChanges(upserts=False)
    assert table.look(rows(("a", "1"), ("a", "1"))) == (rows(("a", "1"), ("a", "1")), [])
    assert table.look(rows(("a", "1"), ("a", "1"), ("b", "2"))) == (rows(("b", "2")), [])
    assert table.look(rows(("a", "1"), ("b", "2"))) == ([], ["a"])


def test_a_row_in_place_of_another_is_new_and_nothing_is_gone() -> None:
    table = TableChanges(upserts=True)
    table.look(rows(("a", "1"), ("b", "1")))
    assert table.look(rows(("a", "2"), ("b", "1"))) == (rows(("a", "2")), [])
    assert table.look(rows(("b", "1"))) == ([], ["a"])


def table_rows(*texts: str) -> list[Row]:
    return [Row(b"key", text.encode()) for text in texts]


def test_new_rows_are_told_in_the_order_of_the_table() -> None:
    changes = TableChanges(upserts=False)
    assert changes.look(table_rows("1", "2")).appeared == table_rows("1", "2")
    assert changes.look(table_rows("1", "2", "3", "4")).appeared == table_rows("3", "4")
    assert changes.look(table_rows("1", "2", "3", "4")) == ([], [])


def test_a_row_like_an_older_one_is_new_where_it_stands_last() -> None:
    changes = TableChanges(upserts=False)
    changes.look(table_rows("1", "2"))
    assert changes.look(table_rows("1", "2", "1a", "2")).appeared == table_rows("1a", "2")


def test_a_row_between_older_ones_is_new_and_one_that_is_gone_is_told() -> None:
    changes = TableChanges(upserts=False)
    changes.look(table_rows("1", "3"))
    assert changes.look(table_rows("1", "2", "3")).appeared == table_rows("2")
    assert changes.look(table_rows("1", "2")).gone == ["key"]
