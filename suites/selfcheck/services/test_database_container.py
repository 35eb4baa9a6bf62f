"""PostgreSQL in a container: reached from the host and through its link, killed and started again with what it had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.fixtures.services.database import USER
from holdfast.suites.selfcheck.services.listener import becomes

if TYPE_CHECKING:
    from holdfast.fixtures.services.container import Container
    from holdfast.fixtures.services.database import Database
    from holdfast.fixtures.services.stack import Stack

pytestmark = pytest.mark.tier("containers")
NAME = "holdfast_test"
ASK = """
import os, psycopg, sys
with psycopg.connect(sys.argv[1], connect_timeout=2) as connection:
    print(connection.execute("SELECT number FROM kept").fetchall())
"""


@pytest.fixture(scope="module")
def server(stack: Stack) -> Database:
    import psycopg

    from holdfast.fixtures.services.database import Database

    assert isinstance(stack.database, Database)
    stack.database.create_database(NAME)
    with psycopg.connect(stack.database.url(NAME, direct=True), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (number int)")
        connection.execute("INSERT INTO kept VALUES (7)")
    return stack.database


def asked(probe: Container, server: Database) -> str:
    """What somebody in a container is told who comes through the link; empty: nothing."""
    code, said = probe.execute(["python", "-c", ASK, server.url(NAME)])
    return "" if code else said.strip()


def test_what_was_committed_outlives_a_kill(server: Database, probe: Container) -> None:
    server.down()
    assert (server.alive, asked(probe, server)) == (False, "")
    server.up()
    assert (becomes(lambda: server.alive), asked(probe, server)) == (True, "[(7,)]")


def test_what_stands_still_is_not_alive_and_goes_on(server: Database) -> None:
    server.pause()
    alive = server.alive
    server.resume()
    assert (alive, becomes(lambda: server.alive)) == (False, True)


def test_its_link_can_be_cut_and_the_host_goes_past_it(stack: Stack, server: Database, probe: Container) -> None:
    stack.links.act("database", "cut")
    assert (asked(probe, server), becomes(server.serves)) == ("", True)
    stack.links.restore("database")
    assert asked(probe, server) == "[(7,)]"


def test_nobody_gets_in_without_the_password_and_nobody_sees_it(stack: Stack, server: Database) -> None:
    import psycopg

    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://{USER}:wrong@{server.external}/{NAME}")
    password = server.url("a").split(":")[2].split("@")[0]
    assert password in stack.secrets
    assert password not in server.container.log()
    _, seen = server.container.execute(["sh", "-c", "cat /proc/[0-9]*/cmdline /proc/1/environ"], user="postgres")
    assert ("fsync" in seen, "PATH=" in seen, password in seen) == (True, True, False)
