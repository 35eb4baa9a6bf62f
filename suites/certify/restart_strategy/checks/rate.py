"""RST-04: so many failures in a window that slides."""

from __future__ import annotations

from holdfast.harness.model import profile
from holdfast.harness.spi.restart_strategy import StrategyKind
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.restart_strategy.bench import IN_TURN, START_MS, Bench

RATE = frozenset({StrategyKind.FAILURE_RATE})
WINDOW_MS = 300_000
OFTEN = {profile.RATE_FAILURES: "3", profile.RATE_INTERVAL: "5 min", profile.RATE_DELAY: "10 s"}


def rate(bench: Bench) -> None:
    """Three in five minutes still restart, the fourth does not; also where the first one is at the time 0."""
    for begun_ms in (START_MS, 0.0):
        for apart_ms in (0, 90_000):
            life = bench.life(OFTEN, now_ms=begun_ms)
            for _ in range(3):
                life.expect(10_000)
                life.wait(apart_ms)
            life.expect_end(f"it is the fourth failure in {3 * apart_ms} ms, and 3 in {WINDOW_MS} ms are allowed")


def in_turn(bench: Bench) -> None:
    """Failures of different subtasks, and of the job itself, are in one window."""
    life = bench.life(OFTEN)
    *three, last = IN_TURN
    for subtask in three:
        life.runs(life.expect(10_000, subtask=subtask))
    life.expect_end(f"it is the fourth failure in {WINDOW_MS} ms, whoever failed", subtask=last)


def slides(bench: Bench) -> None:
    """For ever as many as are allowed."""
    life = bench.life(OFTEN)
    for _ in range(100):
        delay_ms = life.expect(10_000)
        life.runs(delay_ms)
        life.wait(WINDOW_MS // 3 - delay_ms + 1)


def edges(bench: Bench) -> None:
    """A failure leaves the window by itself, and those behind it stay."""
    for late_ms, final, begun_ms in (
        (WINDOW_MS - 1, True, START_MS),
        (WINDOW_MS + 1, False, START_MS),
        (WINDOW_MS - 1, True, 0.0),
        (WINDOW_MS + 1, False, 0.0),
    ):
        life = bench.life(OFTEN, now_ms=begun_ms)
        life.expect(10_000)
        life.wait(WINDOW_MS - 1_000)
        life.expect(10_000)
        life.expect(10_000)
        life.wait(late_ms - (WINDOW_MS - 1_000))
        if final:
            life.expect_end(f"the first of four failures was {late_ms} ms ago, within the window")
        else:
            life.expect(10_000)
            bench.hit("slid")
            life.expect_end("two failures from before the first one left are in the window still, and one since")


def one(bench: Bench) -> None:
    life = bench.life({profile.RATE_FAILURES: "1", profile.RATE_INTERVAL: "1 min", profile.RATE_DELAY: "0 ms"})
    life.runs(life.expect(0))
    life.wait(60_001)
    life.runs(life.expect(0))
    life.expect_end("it is the second failure in a minute, and 1 is allowed")


CHECKS = (
    Check("RST-04/rate", "As many failures as are allowed restart, and one more does not.", rate, RATE, ("gave-up",)),
    Check("RST-04/in-turn", "All failures count, whoever fails.", in_turn, RATE, ("restarted", "gave-up")),
    Check("RST-04/slides", "Failures that no window holds together never end the job.", slides, RATE, ("restarted",)),
    Check(
        "RST-04/edges", "Each failure leaves the window when its own time is over.", edges, RATE, ("slid", "gave-up")
    ),
    Check("RST-04/one", "One failure in a window is a rate, too.", one, RATE, ("restarted", "gave-up")),
)
