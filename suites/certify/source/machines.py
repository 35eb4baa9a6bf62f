"""Random programs, by Hypothesis: input, polls, checkpoints, crashes and rescaling beside what was written."""

from __future__ import annotations

from sys import exception
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.source import SourceFlag
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.connector_kit import Crashed
from holdfast.suites.certify.programs import run_machine
from holdfast.suites.certify.source.bench import Bench

EXAMPLES = 25
STEPS = 20
numbers = st.integers(0, 3)


class SourceMachine(RuleBasedStateMachine):
    """One job; where it cannot go on for ever, all input is there when it begins."""

    outer: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(self.outer.factory, self.outer.rule, self.outer.seed, self.outer.connected)
        self.bench.windows = self.outer.windows
        self.unbounded = SourceFlag.UNBOUNDED in self.bench.flags
        for partition in range(3):
            self.bench.feed(partition, 4)
        self.job = self.bench.job()

    @precondition(lambda self: self.unbounded)
    @rule(partition=numbers, count=st.integers(1, 4))
    def feed(self, partition: int, count: int) -> None:
        self.bench.feed(partition, count)

    @rule()
    def assign(self) -> None:
        self.job.assign()

    @rule(number=numbers, most=st.integers(1, 4))
    def poll(self, number: int, most: int) -> None:
        self.job.poll(number % len(self.job.readers), most)
        self.job.check(all_of_it=False)

    @rule(confirmed=st.booleans())
    def checkpoint(self, confirmed: bool) -> None:
        self.job.checkpoint(confirmed=confirmed)

    @rule()
    def falsify(self) -> None:
        self.bench.feeder.falsify_positions(self.job.name)

    @rule(parallelism=st.integers(1, 3), shift=st.integers(0, 2))
    def restart(self, parallelism: int, shift: int) -> None:
        self.job.restart(parallelism, shift=shift)

    @rule(number=numbers, most=st.integers(1, 4), falsified=st.booleans())
    def recover(self, number: int, most: int, falsified: bool) -> None:
        """A read, a checkpoint, a read behind it, and a crash."""
        self.job.assign()
        self.job.poll(number % len(self.job.readers), most)
        self.job.checkpoint()
        if falsified:
            self.bench.feeder.falsify_positions(self.job.name)
        self.job.poll(number % len(self.job.readers), most)
        self.job.restart()

    @precondition(lambda self: SourceFlag.FAULT_POINTS in self.bench.flags)
    @rule(point=st.integers(0, 5), crash=st.booleans(), number=numbers)
    def strike(self, point: int, crash: bool, number: int) -> None:
        """The process ends during a step, or a step fails."""
        self.bench.points.arm(point, crash=crash)
        try:
            self.job.assign()
            self.job.poll(number % len(self.job.readers), 2)
        except Transient:
            self.bench.hit("failed-step")
        except Crashed:
            self.bench.points.disarm()
            self.job.restart()
        finally:
            self.bench.points.disarm()

    def teardown(self) -> None:
        try:
            if exception() is None:
                self.job.drain()
                self.job.check()
        finally:
            if failed := self.bench.close():
                raise failed[0]


def program(bench: Bench) -> None:
    run_machine(SourceMachine, bench, EXAMPLES, STEPS)


MACHINES = (
    Check(
        "E2E-05/program",
        "Random programs of input, polls, checkpoints, crashes and rescaling.",
        program,
        frozenset({SourceFlag.REPLAYABLE}),
        ("restored",),
    ),
)
