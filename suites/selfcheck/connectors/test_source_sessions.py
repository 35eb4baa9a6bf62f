"""Sources behind the SPI in the runtime: splits on their way, readers that restart alone, errors of somebody else's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.reading import fed_records, read_back
from holdfast.fixtures.reference.connectors.source_sessions import HeldReader, SourceSessions
from holdfast.fixtures.reference.protocol.checkpoints.completed_checkpoint_store import CompletedCheckpoint
from holdfast.fixtures.reference.protocol.job.source_enumeration import HandedOut
from holdfast.fixtures.reference.protocol.messages import HandOutSplits, SplitState, SubtaskState
from holdfast.fixtures.sources.log import LogFeeder, LogSource
from holdfast.fixtures.sources.splits import Position, Reader
from holdfast.harness.model.events import SplitsAssigned, SplitsLeft
from holdfast.harness.spi.errors import Damaged, Transient
from holdfast.harness.spi.source import Batch, EnumeratorState, ReaderStatus, SourceContext, SourceRecord, SourceSplit
from holdfast.suites.selfcheck.connectors.inputs import TWO_PARTITIONS

READERS = ("source[0]", "source[1]")


class Deck:
    """An enumerator of numbered splits that notes what is done to it."""

    def __init__(self, restored: EnumeratorState | None) -> None:
        self.left = [int(text) for text in restored.content.split()] if restored is not None else list(range(4))
        self.closed = False
        self.ends = False

    def assign(self, readers: Sequence[int]) -> Mapping[int, Sequence[SourceSplit]]:
        dealt: dict[int, list[SourceSplit]] = {}
        for place, number in enumerate(self.left if readers else ()):
            dealt.setdefault(readers[place % len(readers)], []).append(split(number))
        self.left = [] if readers else self.left
        return dealt

    def exhausted(self) -> bool:
        return self.ends and not self.left

    def give_back(self, splits: Sequence[SourceSplit]) -> None:
        self.left += [int(each.id) for each in splits]

    def snapshot(self, checkpoint: int) -> EnumeratorState:
        return EnumeratorState(1, " ".join(map(str, self.left)).encode())

    def partitions(self, splits: Sequence[SourceSplit], state: EnumeratorState | None = None) -> tuple[int, ...]:
        waiting = self.left if state is not None else []
        return (*(int(each.id) for each in splits), *waiting)

    def close(self) -> None:
        self.closed = True


def split(number: int) -> SourceSplit:
    return SourceSplit(str(number), 1, b"")


def not_begun() -> tuple[HandedOut, list[Deck]]:
    """The splits of a source, and the enumerators that it makes."""
    made: list[Deck] = []

    def make(vertex: str, attempt: int, restored: EnumeratorState | None) -> Deck:
        made.append(Deck(restored))
        return made[-1]

    return HandedOut("source", READERS, make), made


def handed_out() -> tuple[HandedOut, list[Deck]]:
    """The same where its readers have just begun."""
    operator, made = not_begun()
    operator.restore(READERS, None)
    operator.begin(1)
    operator.assign(READERS)
    return operator, made


def checkpoint(operator: HandedOut, number: int, received: Sequence[int]) -> CompletedCheckpoint:
    """One whose readers had been handed so many splits."""
    states = {
        reader: SubtaskState(reader, source=SplitState(tuple(operator.given[reader][:count]), received=count))
        for reader, count in zip(READERS, received, strict=True)
    }
    states["source"] = SubtaskState("source", source=operator.part(number, states))
    return CompletedCheckpoint(number, tuple(states.values()), ())


def ids(splits: Sequence[SourceSplit]) -> list[str]:
    return [each.id for each in splits]


def test_what_was_on_its_way_is_in_the_checkpoint_and_is_handed_out_again() -> None:
    operator, made = handed_out()
    assert {reader: ids(splits) for reader, splits in operator.given.items()} == {
        "source[0]": ["0", "2"],
        "source[1]": ["1", "3"],
    }
    completed = checkpoint(operator, 1, (2, 1))
    state = completed.state_of("source")
    assert state is not None
    assert state.source is not None
    assert (ids(state.source.splits), state.source.enumerator) == (["3"], EnumeratorState(1, b""))
    operator.restore(READERS, completed)
    operator.begin(2)
    assert (made[0].closed, made[1].left) == (True, [3])
    operator.assign(READERS)
    assert ids([each for splits in operator.given.values() for each in splits]) == ["3"]


def test_a_reader_that_restarts_alone_gives_back_what_it_was_handed_behind_the_checkpoint() -> None:
    operator, [deck] = handed_out()
    completed = checkpoint(operator, 1, (1, 2))
    operator.restore(READERS[:1], completed)
    assert (deck.left, deck.closed) == ([2], False)
    operator.assign(READERS[1:])
    assert ids(operator.given["source[1]"]) == ["1", "3", "2"]


def test_a_coordinator_that_takes_over_deploys_readers_one_by_one_from_a_checkpoint() -> None:
    before, _ = handed_out()
    completed = checkpoint(before, 1, (2, 2))
    operator, made = not_begun()
    operator.restore(READERS[1:], completed)
    operator.restore(READERS[:1], completed)
    operator.begin(5)
    operator.assign(READERS)
    assert [deck.left for deck in made] == [[]]
    assert operator.given == {reader: [] for reader in READERS}


def test_what_it_was_handed_since_it_began_from_the_same_checkpoint_is_given_back_too() -> None:
    """How many it had been handed is counted anew in each attempt."""
    operator, [deck] = handed_out()
    completed = checkpoint(operator, 1, (1, 2))
    operator.restore(READERS[:1], completed)
    operator.assign(READERS[:1])
    assert ids(operator.given["source[0]"]) == ["2"]
    operator.restore(READERS[:1], completed)
    assert deck.left == [2]


def test_a_reader_is_told_that_no_more_come_until_it_confirms_that() -> None:
    operator, [deck] = handed_out()
    deck.ends = True
    operator.assign(READERS)
    assert operator.unconfirmed_splits("source[0]") == HandOutSplits(0, "source[0]", 0, (split(0), split(2)), last=True)
    operator.taken["source[0]"] = 2
    assert operator.unconfirmed_splits("source[0]") == HandOutSplits(0, "source[0]", 2, (), last=True)
    operator.ended_confirmed.add("source[0]")
    assert operator.unconfirmed_splits("source[0]") is None


def test_who_was_told_so_gets_nothing_of_a_reader_that_is_gone() -> None:
    operator, [deck] = handed_out()
    deck.ends = True
    operator.assign(READERS)
    assert all(operator.unconfirmed_splits(reader) for reader in READERS)
    operator.restore(READERS[:1], None)
    operator.assign(READERS[1:])
    assert (deck.left, operator.exhausted, ids(operator.given["source[1]"])) == ([0, 2], False, ["1", "3"])
    operator.assign(READERS)
    assert (operator.exhausted, ids(operator.given["source[0]"])) == (True, ["0", "2"])


def test_the_history_tells_who_is_handed_which_splits_and_what_a_checkpoint_leaves() -> None:
    operator, [deck] = handed_out()
    handed = operator.unconfirmed_splits("source[0]")
    assert handed is not None
    assert operator.assigned(replace(handed, attempt=2)) == [
        SplitsAssigned(attempt=2, subtask="source[0]", splits=(0, 2))
    ]
    deck.left = [7]
    part = checkpoint(operator, 1, (2, 1)).state_of("source")
    assert part is not None
    assert part.source is not None
    assert operator.left(1, 2, part.source) == [SplitsLeft(attempt=2, checkpoint=1, vertex="source", splits=(3, 7))]


def test_it_does_not_begin_again_where_it_runs() -> None:
    operator, made = handed_out()
    operator.begin(2)
    assert len(made) == 1


def test_without_an_enumerator_there_is_no_part_of_a_checkpoint() -> None:
    operator = HandedOut("source", READERS, lambda vertex, attempt, restored: Deck(restored))
    with pytest.raises(OSError, match="the enumerator of source is not there"):
        operator.part(1, {})


def sessions(kind: type[LogSource] = LogSource) -> SourceSessions:
    """The sources of a process."""
    return SourceSessions(
        kind,
        lambda operator, attempt: SourceContext(
            uri="memory:///source-sessions", job="job", operator=operator, attempt=attempt
        ),
        lambda: 1_000,
    )


def test_what_a_feeder_writes_is_known_again() -> None:
    source = LogSource(SourceContext(uri="memory:///source-values", job="job", operator="source", attempt=1))
    feeder: LogFeeder = source.feeder()
    feeder.append(0, fed_records(TWO_PARTITIONS, 0, 0, 3))
    feeder.append(0, fed_records(TWO_PARTITIONS, 1, 1, 2))
    reader = source.reader(0)
    reader.add(source.enumerator(None).assign([0], now_ms=0)[0])
    codes = {key: code for code, key in enumerate(TWO_PARTITIONS.keys)}
    runs = read_back(reader.poll(10, now_ms=0).records, codes)
    assert [(each.partition, each.first_offset, each.next_offset) for each in runs] == [(0, 0, 3), (1, 1, 2)]
    assert runs[0].value.tolist() == TWO_PARTITIONS.partitions[0].value[:3].tolist()
    assert runs[0].key.tolist() == TWO_PARTITIONS.partitions[0].key[:3].tolist()
    assert runs[0].event_ms == [offset * TWO_PARTITIONS.partitions[0].event_step_ms for offset in range(3)]


@pytest.mark.parametrize("value", [b"x", b"0 1 2 nobody", b"0 x 2 key-0", b"\xff 1 2 key-0"])
def test_what_was_never_written_is_an_error(value: bytes) -> None:
    with pytest.raises(OSError, match="at here was never written"):
        read_back([SourceRecord(value, 0, "here")], {"key-0": 0})


class Raising:
    """A reader that does what it is told."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __getattr__(self, name: str) -> Any:
        def call(*_: Any, **__: Any) -> Any:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return call


def held(answer: Any) -> HeldReader:
    return HeldReader("source[0]", Raising(answer), lambda: 0)


def test_a_reader_is_at_rest_when_nothing_is_left_in_its_splits() -> None:
    source = LogSource(SourceContext(uri="memory:///at-rest", job="job", operator="source", attempt=1))
    source.feeder().append(0, [(b"0 0 0 key-0", 0)])
    reader = HeldReader("source[0]", source.reader(0), lambda: 0)
    rests = [reader.at_rest]
    reader.add(source.enumerator(None).assign([0], now_ms=0)[0])
    for _ in range(2):
        reader.poll(10)
        rests.append(reader.at_rest)
    reader.add([Position("partition-1").split])
    assert [*rests, reader.at_rest] == [False, False, True, False]


def test_what_is_on_its_way_is_unread() -> None:
    operator, _ = handed_out()
    parts = [checkpoint(operator, 1, received).state_of("source") for received in ((2, 2), (2, 1))]
    assert [part.source.at_rest for part in parts if part is not None and part.source is not None] == [True, False]


@pytest.mark.parametrize(("at_rest", "covered"), [(True, (9, 3)), (False, (7, 0))])
def test_what_lies_behind_a_gap_is_covered_when_nothing_is_unread(at_rest: bool, covered: tuple[int, ...]) -> None:
    """A reader that has the later files of a partition may be quicker than the one that has an earlier file."""
    states = (
        SubtaskState("source[0]", source=SplitState(emitted=((0, 0, 5),), at_rest=at_rest)),
        SubtaskState("source[1]", source=SplitState(emitted=((0, 5, 7), (0, 8, 9), (1, 1, 3)))),
    )
    assert CompletedCheckpoint(1, states, ()).positions((0, 0)) == covered


def test_ranges_that_touch_or_overlap_are_one() -> None:
    assert SplitState.joined([(1, 4, 6), (0, 3, 5), (0, 0, 2), (0, 5, 7), (1, 2, 5)]) == (
        (0, 0, 2),
        (0, 3, 7),
        (1, 2, 6),
    )


def test_an_error_that_passes_is_nothing_and_others_fail_the_task() -> None:
    assert held(Transient("later")).poll(1) == ()
    with pytest.raises(OSError, match=r"the source of source\[0\] raised Damaged: cut"):
        held(Damaged("cut")).poll(1)
    with pytest.raises(OSError, match="returned 2 records, 1 were asked for"):
        held(Batch([SourceRecord(b"", 0, "a")] * 2, ReaderStatus.MORE)).poll(1)


def test_what_is_for_people_fails_nothing() -> None:
    held(RuntimeError("no")).confirmed(1)
    held(RuntimeError("no")).close()


def test_the_reader_of_an_earlier_attempt_is_closed() -> None:
    closed: list[int] = []

    class Closing(LogSource):
        def reader(self, subtask: int) -> Reader:
            source = self

            class Told(Reader):
                def close(self) -> None:
                    closed.append(source.context.attempt)

            return Told(self, subtask)

    process = sessions(Closing)
    first = process.begin("source[1]", 1)
    assert process.reader("source[1]") is first
    assert process.begin("source[1]", 2) is not first
    assert closed == [1]


def test_an_enumerator_assigns_to_those_who_run() -> None:
    class Strange(LogSource):
        def enumerator(self, restored: EnumeratorState | None) -> Any:
            return Raising({3: [split(0)]})

    with pytest.raises(OSError, match=r"assigns splits to \[3\], who do not run"):
        sessions(Strange).enumerator("source", 1, None).assign([0, 1])
