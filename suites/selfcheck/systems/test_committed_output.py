"""The reader sees every version of a table that stays for a poll, and nothing twice."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from holdfast.fixtures.systems.json_lines.store import TableFiles
from holdfast.harness.adapter.child import wait_for
from holdfast.harness.adapter.committed_output import CommittedOutput
from holdfast.harness.adapter.polled_output import Watch
from holdfast.harness.adapter.reader import Reader
from holdfast.harness.adapter.reader_process import (
    Altered,
    Change,
    LogWatch,
    OutputReader,
    TableWatch,
    Version,
)
from holdfast.harness.adapter.recorder import READER, Recorder
from holdfast.harness.model.events import Event, ReaderPolled, RowsChanged, RowsVisible
from holdfast.harness.model.records import FoldRow
from holdfast.harness.spi import outside_files
from holdfast.harness.spi.outside_files import DOCUMENT_BYTES
from holdfast.suites.selfcheck.systems.driving import LIMIT_MS

PRINTING = f"""
import sys
from {TableFiles.__module__} import TableFiles
print("imported", flush=True)
class Files(TableFiles):
    def rows(self):
        print("read", repr(sys.stdin.read()), flush=True)
        return super().rows()
"""
EVEN = FoldRow("even", 2, (0, 1), 7)
ODD = FoldRow("odd", 1, (1, 0), 8)
MORE_ODD = FoldRow("odd", 4, (2, 0), 9)


def persist(table: Path, *rows: FoldRow) -> None:
    new = table.with_suffix(".new")
    new.write_bytes(msgspec.json.encode({"rows": rows, "positions": [1, 1]}))
    new.replace(table)


def table_reader(table: Path) -> OutputReader:
    return OutputReader(TableWatch(table_files(table)))


def table_files(table: Path, pattern: str = "") -> TableFiles:
    """One file, unless a pattern says which there may be; damages are named in `damages` beside it."""
    return TableFiles(str(table.parent), pattern or table.name, str(table.with_name("damages")))


def version(changes: list[Change]) -> tuple[int, tuple[FoldRow, ...], tuple[str, ...]]:
    [found] = changes
    assert isinstance(found, Version)
    return found.poll, found.rows, found.vanished


class TestTableReader:
    def test_only_rows_that_are_new_or_differ_are_seen(self, tmp_path: Path) -> None:
        table = tmp_path / "table.json"
        reader = table_reader(table)
        assert reader.poll(final=False) == []
        persist(table, EVEN, ODD)
        assert version(reader.poll(final=False)) == (1, (EVEN, ODD), ())
        assert reader.poll(final=False) == []
        persist(table, EVEN, MORE_ODD)
        assert version(reader.poll(final=False)) == (3, (MORE_ODD,), ())
        assert reader.polls == 4

    @pytest.mark.parametrize(
        "row",
        [
            FoldRow("k", 1 << 63, (0, 1), 7),
            FoldRow("k", 1, (0, -(10**40)), 7),
            FoldRow("k", 1, (0, 1), -1),
            FoldRow("k", 1, (0, 1), 1 << 64),
        ],
    )
    def test_numbers_that_no_run_can_be_stored_with_are_refused(self, row: FoldRow, tmp_path: Path) -> None:
        """The harness broke when it stored the run."""
        table = tmp_path / "table.json"
        reader = table_reader(table)
        persist(table, row)
        with pytest.raises(ValueError, match="allowed are whole numbers from"):
            reader.poll(final=False)

    def test_rows_that_vanish_are_seen(self, tmp_path: Path) -> None:
        table = tmp_path / "table.json"
        reader = table_reader(table)
        persist(table, EVEN, ODD)
        reader.poll(final=False)
        persist(table, EVEN)
        assert version(reader.poll(final=False)) == (1, (), ("odd",))
        table.unlink()
        assert version(reader.poll(final=False)) == (2, (), ("even",))

    def test_what_is_no_table_is_refused(self, tmp_path: Path) -> None:
        table = tmp_path / "table.json"
        table.write_text('{"rows": [')
        with pytest.raises(ValueError, match="Input data was truncated"):
            table_reader(table).poll(final=False)

    def test_rows_of_several_files_add_up(self, tmp_path: Path) -> None:
        reader = OutputReader(TableWatch(table_files(tmp_path / "table.json", "table*.json")))
        persist(tmp_path / "table-0.json", EVEN, ODD)
        persist(tmp_path / "table-1.json", MORE_ODD)
        both = FoldRow("odd", ODD.value + MORE_ODD.value, (3, 0), (ODD.digest + MORE_ODD.digest) % (1 << 64))
        assert version(reader.poll(final=False)) == (0, (EVEN, both), ())
        (tmp_path / "table-1.json").unlink()
        assert version(reader.poll(final=False)) == (1, (ODD,), ())

    def test_numbers_may_be_text(self, tmp_path: Path) -> None:
        table = tmp_path / "table.json"
        table.write_text('{"rows": [["even", "2", ["1", "0"], "18446744073709551615"]]}')
        assert version(table_reader(table).poll(final=False))[1] == (FoldRow("even", 2, (1, 0), (1 << 64) - 1),)

    def test_what_the_harness_puts_there_counts_as_unchanged(self, tmp_path: Path) -> None:
        table = tmp_path / "table.json"
        reader = table_reader(table)
        persist(table, EVEN)
        reader.poll(final=False)
        (tmp_path / "damages").write_text(f"{zlib.crc32(b'torn')}\n")
        table.write_bytes(b"torn")
        assert reader.poll(final=False) == []
        persist(table, EVEN, ODD)
        assert version(reader.poll(final=False))[1] == (ODD,)


class Log:
    """A log of rows, which grows and may lose what it held."""

    def __init__(self, rows: list[FoldRow]) -> None:
        self.rows = rows
        self.read = 0

    def new_rows(self) -> list[tuple[str, FoldRow]]:
        new = [(str(place), row) for place, row in enumerate(self.rows)][self.read :]
        self.read = len(self.rows)
        return new


class TestLogWatch:
    def test_rows_are_seen_once_and_read_again_in_the_end(self) -> None:
        rows = [EVEN]
        reader = OutputReader(LogWatch(Log(rows), lambda: Log(rows)))
        assert version(reader.poll(final=False)) == (0, (EVEN,), ())
        assert reader.poll(final=False) == []
        rows.append(ODD)
        assert version(reader.poll(final=True)) == (2, (ODD,), ())

    def test_rows_that_are_others_at_the_last_look_are_told(self) -> None:
        rows = [EVEN, ODD]
        reader = OutputReader(LogWatch(Log(rows), lambda: Log([EVEN, MORE_ODD])))
        reader.poll(final=False)
        [altered] = reader.poll(final=True)
        assert isinstance(altered, Altered)
        assert (altered.version, altered.vanished) == (0, False)

    def test_rows_that_are_gone_at_the_last_look_are_told(self) -> None:
        reader = OutputReader(LogWatch(Log([EVEN]), lambda: Log([])))
        reader.poll(final=False)
        [altered] = reader.poll(final=True)
        assert isinstance(altered, Altered)
        assert altered.vanished


class Answering:
    """An output that answers when it is told to.

    Args:
        blind: what it shows meanwhile is seen later.

    Attributes:
        answers_again_at: the number of the look, from 1, from which on it answers again; 0: when it is told to.
    """

    def __init__(self, *, blind: bool = False) -> None:
        self.polls = self.blind_ns = self.asked = self.answers_again_at = 0
        self.answers = True
        self._blind = blind

    def poll(self, *, final: bool = False) -> list[str]:
        self.asked += 1
        self.answers = self.answers or self.asked == self.answers_again_at
        if self.answers:
            self.polls += 1
        elif final:
            raise OSError("nobody answers")
        else:
            self.blind_ns += self._blind
        return []


class TestWatch:
    INTERVAL_MS, MS = 20, 1_000_000

    @pytest.fixture
    def now(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The time in ms; sleeping makes it pass."""
        at = [100]
        monkeypatch.setattr("time.monotonic_ns", lambda: at[0] * self.MS)
        monkeypatch.setattr("time.sleep", lambda seconds: at.__setitem__(0, at[0] + round(seconds * 1_000)))
        return at

    def watch(self, output: Answering, patience_s: float = 0.0) -> Watch[str]:
        return Watch(output, self.INTERVAL_MS, idle_per_look=0, patience_s=patience_s)

    def test_how_often_it_looked_is_measured(self, now: list[int]) -> None:
        watch = self.watch(Answering())
        for now[0] in (100, 110, 170):
            watch.look()
        now[0] = 180
        assert watch.finish() == ([], ReaderPolled(polls=4, interval_ms=27, gaps=((110 * self.MS, 170 * self.MS),)))

    @pytest.mark.parametrize(("blind", "gaps"), [(False, ((100 * MS, 150 * MS),)), (True, ())])
    def test_a_look_that_nobody_answered_is_none_unless_it_is_blind(
        self, now: list[int], blind: bool, gaps: tuple[tuple[int, int], ...]
    ) -> None:
        output = Answering(blind=blind)
        watch = self.watch(output)
        for now[0], output.answers in ((100, True), (125, False)):
            watch.look()
        output.answers, now[0] = True, 150
        assert watch.finish()[1].gaps == gaps

    def test_it_begins_with_the_first_answer(self, now: list[int]) -> None:
        output = Answering()
        watch = self.watch(output)
        output.answers = False
        for now[0] in (200, 300):
            watch.look()
        output.answers, now[0] = True, 310
        watch.look()
        now[0] = 330
        assert watch.finish()[1] == ReaderPolled(polls=2, interval_ms=30)

    def test_it_begins_with_the_last_look_if_that_is_the_first_one_answered(self, now: list[int]) -> None:
        output = Answering()
        watch = self.watch(output, patience_s=4.0)
        output.answers = False
        for now[0] in (200, 220, 240):
            watch.look()
        output.answers_again_at = output.asked + 5
        assert watch.finish() == ([], ReaderPolled(polls=1, interval_ms=0))
        assert now[0] == 240 + 4 * 100

    def test_it_looks_when_that_is_due_until_the_last_look_is_asked_for(self, now: list[int]) -> None:
        """Also where whoever waits has something else to do meanwhile."""
        looked: list[int] = []

        def asked(limit_s: float) -> bool:
            now[0] += min(15, round(limit_s * 1_000))
            return now[0] >= 155

        output = Answering()
        self.watch(output).look_until_asked(lambda seen: looked.append(now[0]), asked)
        assert looked == [100, 120, 140]
        assert output.polls == 4

    def test_at_the_last_look_it_waits_for_an_answer_as_long_as_it_is_patient(self, now: list[int]) -> None:
        output = Answering()
        output.answers = False
        for patience_s, asked in ((0.0, 1), (0.35, 5)):
            output.asked = 0
            with pytest.raises(OSError, match="nobody answers"):
                self.watch(output, patience_s).finish()
            assert output.asked == asked


class TestCommittedOutput:
    @pytest.fixture
    def recorder(self) -> Recorder:
        recorder = Recorder()
        recorder.start_clock()
        return recorder

    @pytest.fixture
    def table(self, tmp_path: Path) -> Path:
        return tmp_path / "table.json"

    @pytest.fixture
    def committed(self, table: Path, recorder: Recorder) -> Iterator[CommittedOutput]:
        reader = Reader.of(TableFiles, str(table.parent), table.name, str(table.with_name("damages")))
        log = table.with_name("reader.log")
        with closing(CommittedOutput(reader, str(table), 2, recorder, table.parent, log)) as output:
            yield output

    def seen(self, committed: CommittedOutput, recorder: Recorder, kind: type[Event], count: int = 1) -> list[Event]:
        """The events of a kind, once there are so many."""
        while recorder.now_ms < LIMIT_MS:
            committed.hear()
            found = [event for event in recorder.nodes[READER] if type(event) is kind]
            if len(found) >= count:
                return found
            wait_for([committed.child], 1)
        raise AssertionError(f"{kind.__name__} was not seen")

    def test_versions_become_units_and_a_row_that_goes_is_a_change(
        self, committed: CommittedOutput, recorder: Recorder, table: Path
    ) -> None:
        persist(table, EVEN, ODD)
        self.seen(committed, recorder, RowsVisible)
        persist(table, EVEN, MORE_ODD)
        self.seen(committed, recorder, RowsVisible, 2)
        persist(table, EVEN)
        (changed,) = self.seen(committed, recorder, RowsChanged)
        assert isinstance(changed, RowsChanged)
        assert (changed.name, changed.vanished) == ("version-1", True)
        assert [unit.rows for unit in committed.output.units] == [(EVEN, ODD), (MORE_ODD,)]

    def test_what_only_the_last_read_sees_is_final(
        self, committed: CommittedOutput, recorder: Recorder, table: Path
    ) -> None:
        persist(table, EVEN)
        self.seen(committed, recorder, RowsVisible)
        committed.finish()
        assert [unit.final for unit in committed.output.units] == [False]
        assert committed.problem == ""

    def test_limits_that_are_raised_hold_for_the_reader(
        self, monkeypatch: pytest.MonkeyPatch, recorder: Recorder, table: Path
    ) -> None:
        persist(table, EVEN)
        with table.open("ab") as file:
            file.write(b" " * DOCUMENT_BYTES)
        for factor, problem in ((1, "table.json is 33,"), (2, "")):
            monkeypatch.setattr(outside_files, "_factor", factor)
            reader = Reader.of(TableFiles, str(table.parent), table.name, str(table.with_name("damages")))
            log = table.with_name("reader.log")
            with closing(CommittedOutput(reader, str(table), 2, recorder, table.parent, log)) as output:
                output.finish()
                assert (problem in output.problem, bool(problem)) == (True, bool(output.problem))

    def test_many_rows_at_once_are_seen(self, committed: CommittedOutput, recorder: Recorder, table: Path) -> None:
        """A report of more than a megabyte was cut, and the harness broke on it."""
        persist(table, FoldRow("k" * 3_000_000, 1, (0, 1), 7))
        self.seen(committed, recorder, RowsVisible)
        assert committed.problem == ""

    def test_more_rows_at_once_than_are_read_are_a_problem(
        self, committed: CommittedOutput, recorder: Recorder, table: Path
    ) -> None:
        persist(table, FoldRow("k" * 20_000_000, 1, (0, 1), 7))
        while not committed.problem and recorder.now_ms < LIMIT_MS:
            wait_for([committed.child], 1)
            committed.hear()
        assert committed.problem == f"{table} shows more than 16,777,216 bytes of rows at once."

    def test_what_the_code_of_an_engine_prints_is_no_report(
        self, recorder: Recorder, table: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The harness broke on it."""
        monkeypatch.syspath_prepend(table.parent)
        (table.parent / "printing.py").write_text(PRINTING)
        reader = Reader("printing:Files", (str(table.parent), table.name, str(table.with_name("damages"))))
        log = table.with_name("reader.log")
        persist(table, EVEN)
        with closing(CommittedOutput(reader, str(table), 2, recorder, table.parent, log)) as output:
            self.seen(output, recorder, RowsVisible)
            output.finish()
            assert output.problem == ""
        assert log.read_text().startswith("imported\nread ''\n")

    def test_a_reader_that_dies_is_a_problem_of_ours(self, committed: CommittedOutput, recorder: Recorder) -> None:
        committed.child.end()
        while not committed.problem:
            wait_for([committed.child], 1)
            committed.hear()
        assert committed.problem.startswith("the committed reader ended")
