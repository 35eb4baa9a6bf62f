"""RST-03 and RST-05: how many restarts, each after the same delay."""

from __future__ import annotations

from holdfast.harness.model import profile
from holdfast.harness.spi.restart_strategy import StrategyKind
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.restart_strategy.bench import IN_TURN, Bench

FIXED = frozenset({StrategyKind.FIXED_DELAY})
NONE = frozenset({StrategyKind.NONE})
YEAR_MS = 365 * 86_400_000
THREE_TIMES = {profile.FIXED_ATTEMPTS: "3", profile.FIXED_DELAY: "10 s"}


def attempts(bench: Bench) -> None:
    """Three times after ten seconds; no failure and all of them at once."""
    life = bench.life(THREE_TIMES)
    for _ in range(3):
        life.runs(life.expect(10_000))
    life.expect_end("3 restarts are allowed, and were")
    life = bench.life(THREE_TIMES)
    for _ in range(3):
        life.expect(10_000)
    life.expect_end("each failure counts, also while a restart is awaited")


def in_turn(bench: Bench) -> None:
    """Failures of different subtasks, and of the job itself, are failures of one job."""
    for first in range(len(IN_TURN)):
        life = bench.life(THREE_TIMES)
        *three, last = IN_TURN[first:] + IN_TURN[:first]
        for subtask in three:
            life.runs(life.expect(10_000, subtask=subtask))
        life.expect_end("3 restarts are allowed, and were, whoever failed", subtask=last)


def no_attempt(bench: Bench) -> None:
    bench.life({profile.FIXED_ATTEMPTS: "0"}).expect_end("no restart is allowed")
    life = bench.life({profile.FIXED_ATTEMPTS: "1", profile.FIXED_DELAY: "0 ms"})
    life.runs(life.expect(0))
    life.expect_end("1 restart is allowed, and was")


def for_good(bench: Bench) -> None:
    """A restart that was used is used, however long the job ran since."""
    life = bench.life({profile.FIXED_ATTEMPTS: "2", profile.FIXED_DELAY: "1 s"})
    for _ in range(2):
        life.runs(life.expect(1_000))
        life.wait(YEAR_MS)
    life.expect_end("2 restarts are allowed in all, however far apart")


def final(bench: Bench) -> None:
    bench.life().expect_end("the first failure is final")
    life = bench.life()
    life.runs(0)
    life.wait(YEAR_MS)
    life.expect_end("the first failure is final")


CHECKS = (
    Check("RST-03/attempts", "So many restarts after the delay, and then none.", attempts, FIXED, ("gave-up",)),
    Check("RST-03/in-turn", "So many in all, whoever fails.", in_turn, FIXED, ("restarted", "gave-up")),
    Check("RST-03/no-attempt", "None and one are numbers, too; so is a delay of nothing.", no_attempt, FIXED),
    Check("RST-03/for-good", "Time gives no restart back.", for_good, FIXED, ("restarted", "gave-up")),
    Check("RST-05/final", "The first failure is final, whenever it comes.", final, NONE, ("gave-up",)),
)
