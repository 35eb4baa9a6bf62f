"""The reader sees every version of a table that stays for a poll, and nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from holdfast.fixtures.systems.json_lines.child import wait_for
from holdfast.fixtures.systems.json_lines.committed_output import CommittedOutput
from holdfast.fixtures.systems.json_lines.table_reader import Finished, TableReader, Version
from holdfast.fixtures.systems.recorder import READER, Recorder
from holdfast.harness.model.events import Event, RowsChanged, RowsVisible
from holdfast.harness.model.records import FoldRow
from holdfast.suites.selfcheck.systems.driving import LIMIT_MS

EVEN = FoldRow("even", 2, (0, 1), 7)
ODD = FoldRow("odd", 1, (1, 0), 8)
MORE_ODD = FoldRow("odd", 4, (2, 0), 9)


def persist(table: Path, *rows: FoldRow) -> None:
    new = table.with_suffix(".new")
    new.write_bytes(msgspec.json.encode({"rows": rows, "positions": [1, 1]}))
    new.replace(table)


def version(found: Version | None) -> tuple[int, tuple[FoldRow, ...], tuple[str, ...]]:
    assert found is not None
    return found.poll, found.rows, found.vanished


class TestTableReader:
    def test_only_rows_that_are_new_or_differ_are_seen(self, tmp_path: Path) -> None:
        table = tmp_path / "table.json"
        reader = TableReader(table)
        assert reader.poll(final=False) is None
        persist(table, EVEN, ODD)
        assert version(reader.poll(final=False)) == (1, (EVEN, ODD), ())
        assert reader.poll(final=False) is None
        persist(table, EVEN, MORE_ODD)
        assert version(reader.poll(final=False)) == (3, (MORE_ODD,), ())
        assert reader.polls == 4

    def test_how_often_it_looked_is_measured(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        times = iter([100, 110, 170, 180])
        monkeypatch.setattr("time.monotonic_ns", lambda: next(times) * 1_000_000)
        reader = TableReader(tmp_path / "table.json", 20)
        for _ in range(4):
            reader.poll(final=False)
        assert reader.finished() == Finished(4, 80_000_000 // 3, ((110_000_000, 170_000_000),))

    def test_rows_that_vanish_are_seen(self, tmp_path: Path) -> None:
        table = tmp_path / "table.json"
        reader = TableReader(table)
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
            TableReader(table).poll(final=False)


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
        with closing(CommittedOutput(table, 2, recorder, table.with_name("reader.log"))) as output:
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

    def test_a_reader_that_dies_is_a_problem_of_ours(self, committed: CommittedOutput, recorder: Recorder) -> None:
        committed.child.end()
        while not committed.problem:
            wait_for([committed.child], 1)
            committed.hear()
        assert committed.problem.startswith("the committed reader ended")
