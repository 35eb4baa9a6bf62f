"""The reader sees every version of a table that stays for a poll, and nothing twice."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from holdfast.fixtures.systems.json_lines.stored_table import TableFiles
from holdfast.harness.adapter.child import wait_for
from holdfast.harness.adapter.committed_output import CommittedOutput
from holdfast.harness.adapter.reader import Reader
from holdfast.harness.adapter.reader_process import (
    Altered,
    Change,
    Finished,
    LogWatch,
    OutputReader,
    TableWatch,
    Version,
)
from holdfast.harness.adapter.recorder import READER, Recorder
from holdfast.harness.model.events import Event, RowsChanged, RowsVisible
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


def table_reader(table: Path, interval_ms: int = 0) -> OutputReader:
    return OutputReader(TableWatch(table_files(table)), interval_ms)


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

    def test_how_often_it_looked_is_measured(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        times = iter([100, 110, 170, 180])
        monkeypatch.setattr("time.monotonic_ns", lambda: next(times) * 1_000_000)
        reader = table_reader(tmp_path / "table.json", 20)
        for _ in range(4):
            reader.poll(final=False)
        assert reader.finished() == Finished(4, 80_000_000 // 3, ((110_000_000, 170_000_000),))

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
