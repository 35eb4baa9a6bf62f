"""Whom a coordinator listens to: the connection that a worker registered on last, and nobody who was given up."""

from __future__ import annotations

from holdfast.fixtures.reference.protocol.effects import WorkerLost
from holdfast.fixtures.reference.protocol.job.worker_connections import RESET, WorkerConnections
from holdfast.fixtures.reference.protocol.messages import Pong, RegisterWorker

FIRST, SECOND = RegisterWorker(0, 0, "worker-0.0"), RegisterWorker(0, 0, "worker-0.1")
PONG = Pong(0, 0)


class Given:
    """Connections that are strings, and what became of them."""

    def __init__(self) -> None:
        self.seen: list[object] = []
        self.connections: WorkerConnections[str] = WorkerConnections(self.seen.append, self.seen.append)


def test_a_second_registration_closes_the_first() -> None:
    given = Given()
    given.connections.hear("old", FIRST)
    given.connections.hear("new", SECOND)
    given.connections.hear("old", PONG)
    assert given.seen == [FIRST, WorkerLost(0, RESET), "old", SECOND]
    given.connections.lose("old", "it broke")
    given.connections.hear("new", PONG)
    assert given.seen[4:] == [PONG], "what becomes of a closed connection concerns nobody"


def test_a_registration_that_is_repeated_closes_nothing() -> None:
    given = Given()
    given.connections.hear("same", FIRST)
    given.connections.hear("same", FIRST)
    assert given.seen == [FIRST, FIRST]


def test_nobody_listens_to_who_has_not_registered_or_was_given_up() -> None:
    given = Given()
    given.connections.hear("early", PONG)
    given.connections.hear("known", FIRST)
    assert given.connections.give_up(0) == "known"
    assert given.connections.give_up(0) is None
    given.connections.hear("known", PONG)
    assert given.seen == [FIRST]


def test_connections_break_one_by_one_or_together() -> None:
    given = Given()
    names = ["of 0", "of 1", "of 2"]
    for worker, name in enumerate(names):
        given.connections.hear(name, RegisterWorker(0, worker, f"worker-{worker}.0"))
    given.seen.clear()
    given.connections.lose(names[1], "it broke")
    given.connections.lose_all("the stage is over")
    assert given.seen == [
        WorkerLost(1, "it broke"),
        WorkerLost(0, "the stage is over"),
        WorkerLost(2, "the stage is over"),
    ]
    assert given.connections.of(0) is None
