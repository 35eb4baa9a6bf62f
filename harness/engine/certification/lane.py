"""A lane: a process that puts one case after the other to a system, for a certification in another process.

Its own signals are those that the certification hands on, so it heals, ends and stores as that one would; and it does
not outlive it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from signal import SIG_UNBLOCK, pthread_sigmask
from threading import Thread
from time import monotonic  # noqa: TID251 - the budget of the whole; no run depends on it

import msgspec

from holdfast.harness.engine.cases.case import accused_of
from holdfast.harness.engine.cases.question import Question
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.certification.inquiry import Lost, News, inquire
from holdfast.harness.engine.certification.keeper import Keeper
from holdfast.harness.engine.errors import ForeignError, UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.engine.site.interruption import Interruption, listening, signals
from holdfast.harness.model.case import Tier

NICENESS = {Tier.SIM: 10, Tier.SPARK: 5}
"""What computes gives way to what waits: times that somebody configured are measured there, and they are shorter on
processes than on Spark, which takes seconds of every processor to come up."""


class Terms(msgspec.Struct, frozen=True):
    """What holds for every case of a certification.

    Attributes:
        system: by name, with variant.
        folder: of the report.
        first_seed: draw seed of run 0.
        jobs: worker processes for drawn plans on the simulator.
        deadline_s: on the monotonic clock of this machine; None: when everything is done.
        niceness: towards others that want a processor.
    """

    system: str
    folder: str
    first_seed: int
    jobs: int
    deadline_s: float | None
    niceness: int = 0


class Order(msgspec.Struct, frozen=True):
    """One case to be asked on one tier until `goal` runs count; `first_serial` and `numbers` as of Question."""

    case: str
    tier: Tier
    goal: int
    first_serial: int
    numbers: tuple[int, ...] = ()


def main() -> None:
    """The process: terms and then orders come in, news go out; it ends when no more can come."""
    connection = Connection(int(sys.argv[1]))
    with listening() as interruption:
        pthread_sigmask(SIG_UNBLOCK, signals())
        terms = msgspec.msgpack.decode(connection.recv_bytes(), type=Terms)
        os.nice(terms.niceness)
        orders: SimpleQueue[Order | None] = SimpleQueue()
        reader = _Reader(connection, orders)
        Thread(target=reader.read, daemon=True).start()
        while (order := orders.get()) is not None:
            try:
                with foreign(f"system {terms.system!r}"):
                    for news in _news(order, terms, interruption):
                        connection.send_bytes(msgspec.msgpack.encode(news))
            except (UsageError, ForeignError) as error:
                connection.send_bytes(msgspec.msgpack.encode(Lost(str(error))))
                return
            reader.working -= 1


class _Reader:
    """Reads orders while others are carried out, and so sees at once when nobody waits for them any more."""

    def __init__(self, connection: Connection, orders: SimpleQueue[Order | None]) -> None:
        self.working = 0
        self._connection = connection
        self._orders = orders

    def read(self) -> None:
        try:
            while True:
                content = self._connection.recv_bytes()
                self.working += 1
                self._orders.put(msgspec.msgpack.decode(content, type=Order))
        except (EOFError, OSError):
            if self.working:
                os._exit(1)
            self._orders.put(None)


def _news(order: Order, terms: Terms, interruption: Interruption) -> Iterator[News]:
    system, tools = registry.system(terms.system), registry.toolbox()
    case = case_for(system, order.case)
    keeper = Keeper(Path(terms.folder), tools.faults)
    accused = accused_of(case, system, terms.first_seed)
    question = Question(
        case,
        accused,
        order.tier,
        tools,
        terms.first_seed,
        keeper.runs,
        order.first_serial,
        interruption.reason,
        order.numbers,
    )

    def late() -> bool:
        return terms.deadline_s is not None and monotonic() >= terms.deadline_s

    return inquire(question, order.goal, keeper, interruption, late, terms.jobs if order.tier is Tier.SIM else 1)
