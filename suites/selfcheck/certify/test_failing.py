"""Where the kits let a call fail that leaves Python."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from holdfast.suites.certify.outside.failing import Failing


def test_what_a_database_has_not_committed_has_not_left(tmp_path: Path) -> None:
    found = []
    with closing(sqlite3.connect(tmp_path / "rows.db", isolation_level=None)) as connection:
        connection.execute("create table rows (number integer)")
        for number in range(20):
            failing = Failing(number)
            try:
                with failing.during():
                    connection.execute("begin immediate")
                    connection.execute("insert into rows values (1)")
                    connection.execute("commit")
            except OSError:
                found.append((failing.where, connection.in_transaction))
            else:
                break
            if connection.in_transaction:
                connection.execute("rollback")
        assert connection.execute("select count(*) from rows").fetchone() == (2,)
    assert found == [
        ("before execute", False),
        ("before execute", True),
        ("before execute", True),
        ("behind execute", False),
    ]
