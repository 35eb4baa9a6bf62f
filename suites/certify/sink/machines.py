"""Random programs, by Hypothesis: rows, checkpoints, crashes, zombies and rescaling beside a model."""

from __future__ import annotations

from sys import exception
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from holdfast.harness.spi.errors import Fenced, Transient
from holdfast.harness.spi.sink import SinkFlag
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.fault_points import Crashed
from holdfast.suites.certify.programs import run_machine
from holdfast.suites.certify.sink.bench import Bench

EXAMPLES = 25
STEPS = 20
numbers = st.integers(0, 3)


class SinkMachine(RuleBasedStateMachine):
    """One job after the other at one place; what earlier ones committed stays."""

    outer: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(self.outer.factory, self.outer.rule, self.outer.seed, self.outer.connected)
        self.bench.windows = self.outer.windows
        self.job = self.bench.job()

    @rule(number=numbers, count=st.integers(1, 3))
    def write(self, number: int, count: int) -> None:
        self.job.write(number % self.job.parallelism, count)

    @precondition(lambda self: len(self.job.pending) < 3)
    @rule()
    def prepare(self) -> None:
        self.job.prepare()

    @precondition(lambda self: self.job.pending)
    @rule(number=numbers, committed=st.booleans())
    def complete(self, number: int, committed: bool) -> None:
        checkpoints = sorted(self.job.pending)
        self.job.complete(checkpoints[number % len(checkpoints)])
        if committed:
            self.job.commit()
            self.bench.hit("committed")

    @rule(number=numbers)
    def checkpoint(self, number: int) -> None:
        """All of a checkpoint at once."""
        self.job.write(number % self.job.parallelism)
        self.job.checkpoint()
        self.bench.hit("committed")

    @rule(number=numbers)
    def recover(self, number: int) -> None:
        """A checkpoint completes, and its notice is lost with the attempt."""
        self.job.write(number % self.job.parallelism)
        self.job.complete(self.job.prepare())
        self.job.restart()

    @rule()
    def commit(self) -> None:
        self.job.commit()

    @rule(number=numbers)
    def commit_some(self, number: int) -> None:
        """A part, whose answer is lost; of a checkpoint that completes now, if none waits."""
        if not self.job.completed:
            self.job.write(number % self.job.parallelism)
            self.job.complete(self.job.prepare())
        some = self.job.completed[: 1 + number]
        self.job.doubt(self.job.completed)
        self.job.commit_once(some)
        self.bench.check()
        self.bench.step("the answer is lost")
        self.job.commit()

    @rule(parallelism=st.integers(1, 3), skipped=st.integers(0, 1))
    def restart(self, parallelism: int, skipped: int) -> None:
        self.job.restart(parallelism, skipped=skipped)
        self.bench.check_unfinished(self.job)

    @precondition(lambda self: self.job.dead)
    @rule(number=numbers)
    def zombie(self, number: int) -> None:
        old = self.job.dead[number % len(self.job.dead)]
        self.bench.hit("zombie")
        try:
            old.write(0, [self.job.row(b"late")])
            self.job.commit_once([old.prepare(0, 1_000)], old)
        except (Fenced, Transient):
            pass

    @precondition(lambda self: SinkFlag.FAULT_POINTS in self.bench.flags)
    @rule(point=st.integers(0, 9), crash=st.booleans())
    def strike(self, point: int, crash: bool) -> None:
        """A checkpoint during which the process ends, or a step fails."""
        self.bench.points.arm(point, crash=crash)
        try:
            self.job.write(0)
            self.job.checkpoint()
        except (Crashed, Transient):
            self.bench.points.disarm()
            self.job.restart()
        finally:
            self.bench.points.disarm()

    @rule()
    def check(self) -> None:
        self.bench.check()

    def teardown(self) -> None:
        try:
            if exception() is None:
                self.job.restart(1)
                self.bench.check()
                self.bench.check_unfinished(self.job)
        finally:
            if failed := self.bench.close():
                raise failed[0]


def program(bench: Bench) -> None:
    run_machine(SinkMachine, bench, EXAMPLES, STEPS)


MACHINES = (
    Check(
        "E2E-02/program",
        "Random programs of rows, checkpoints, crashes, zombies and rescaling.",
        program,
        frozenset({SinkFlag.TWO_PHASE}),
        ("committed", "restarted", "zombie"),
    ),
)
