"""RST-06: delays grow, stay within bounds, and are short again behind a quiet time."""

from __future__ import annotations

from itertools import repeat

from holdfast.harness.model import profile
from holdfast.harness.spi.restart_strategy import StrategyKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.restart_strategy.bench import IN_TURN, Bench

EXPONENTIAL = frozenset({StrategyKind.EXPONENTIAL_DELAY})
RESET_MS = 600_000
NO_JITTER = {
    profile.EXPONENTIAL_INITIAL: "100 ms",
    profile.EXPONENTIAL_MAX: "1 min",
    profile.EXPONENTIAL_MULTIPLIER: "2.0",
    profile.EXPONENTIAL_RESET: "10 min",
    profile.EXPONENTIAL_JITTER: "0.0",
    profile.EXPONENTIAL_ATTEMPTS: "infinite",
}
JITTER = {**NO_JITTER, profile.EXPONENTIAL_JITTER: "0.5"}


def growth(bench: Bench) -> None:
    """Twice as long each time."""
    for multiplier in (2.0, 1.5):
        life = bench.life({**NO_JITTER, profile.EXPONENTIAL_MULTIPLIER: str(multiplier)})
        for row in range(9):
            right_ms = 100 * multiplier**row
            life.runs(life.expect(int(right_ms), int(right_ms) + 1))


def in_turn(bench: Bench) -> None:
    """Twice as long each time, though another subtask fails each time, or the job itself."""
    life = bench.life(NO_JITTER)
    for row, subtask in enumerate(IN_TURN * 2):
        right_ms = 100 * 2**row
        life.runs(life.expect(right_ms, right_ms + 1, subtask=subtask))


def maximum(bench: Bench) -> None:
    """Up to the maximum, and no further for ever."""
    life = bench.life(NO_JITTER)
    for _ in range(10):
        life.runs(life.expect(100, 60_000))
    for _ in range(1_500):
        life.runs(life.expect(60_000))


def bounds(bench: Bench) -> None:
    """Whatever is drawn, no delay is shorter than the first or longer than the maximum."""
    for drawn in (0.0, 1 - 2**-53, 0.5):
        life = bench.life(JITTER, uniform=repeat(drawn).__next__)
        for row in range(14):
            right_ms = 100 * 2**row
            least_ms = max(100, int(min(right_ms, 60_000) * 0.5) - 1)  # Cut before or behind jitter: both are right.
            life.runs(life.expect(least_ms, max(100, min(int(right_ms * 1.5) + 1, 60_000))))


def jitter(bench: Bench) -> None:
    """Jobs that failed together restart at different moments, earlier and later than without jitter."""
    delays = []
    for number in range(40):
        life = bench.life(JITTER, uniform=bench.stream(f"job-{number}"))
        for _ in range(4):
            life.runs(life.expect(100, 60_000))
        delays.append(life.expect(800, 2_401))
    if min(delays) >= 1_600 or max(delays) <= 1_600 or len(set(delays)) < 20:
        raise Violation(
            bench.rule,
            f"40 jobs with jitter 0.5 wait {min(delays)} to {max(delays)} ms, {len(set(delays))} delays in all; "
            "spread over 800 to 2400 ms is right.",
        )


def quiet(bench: Bench) -> None:
    """Behind a quiet time the row begins again; one millisecond before, it goes on."""
    for short_ms, right_ms in ((-1, 400), (1, 100)):
        life = bench.life(NO_JITTER)
        life.runs(life.expect(100))
        delay_ms = life.expect(200)
        life.runs(delay_ms, after_ms=RESET_MS + short_ms)
        life.expect(right_ms)
        if right_ms == 100:
            bench.hit("calmed-down")


def quiet_from_restart(bench: Bench) -> None:
    """The quiet time begins with the restart: what was waited for it does not count."""
    options = {**NO_JITTER, profile.EXPONENTIAL_RESET: "1 s"}
    life = bench.life(options)
    for row in range(7):
        life.runs(life.expect(100 * 2**row), after_ms=900)


def simultaneous(bench: Bench) -> None:
    """Failures before the restart are one with the first: they neither count nor put it off."""
    life = bench.life(NO_JITTER)
    life.runs(life.expect(100))
    life.expect(200)
    life.wait(50)
    life.expect(150)
    life.wait(149)
    life.expect(1)
    bench.hit("simultaneous")
    life.runs(1)
    life.expect(400)


def attempts(bench: Bench) -> None:
    """So many restarts in a row, counted anew behind a quiet time."""
    options = {**NO_JITTER, profile.EXPONENTIAL_ATTEMPTS: "3"}
    life = bench.life(options)
    for _ in range(2):
        life.runs(life.expect(100, 400))
    life.wait(RESET_MS + 1)
    for row in range(3):
        life.runs(life.expect(100 * 2**row))
    bench.hit("row-of-all")
    life.expect_end("3 restarts in a row are allowed, and were")


CHECKS = (
    Check("RST-06/in-turn", "They do, whoever fails.", in_turn, EXPONENTIAL, ("restarted",)),
    Check("RST-06/growth", "Each delay is the last one times the multiplier.", growth, EXPONENTIAL, ("restarted",)),
    Check("RST-06/maximum", "No delay is longer than the maximum, however many there are.", maximum, EXPONENTIAL),
    Check("RST-06/bounds", "Jitter keeps within first delay and maximum, whatever is drawn.", bounds, EXPONENTIAL),
    Check("RST-06/jitter", "Jitter spreads restarts to both sides.", jitter, EXPONENTIAL),
    Check(
        "RST-06/quiet", "A quiet time ends the row, and not before it is over.", quiet, EXPONENTIAL, ("calmed-down",)
    ),
    Check("RST-06/quiet-from-restart", "A quiet time is counted from the restart.", quiet_from_restart, EXPONENTIAL),
    Check(
        "RST-06/simultaneous", "Failures before the restart count once.", simultaneous, EXPONENTIAL, ("simultaneous",)
    ),
    Check("RST-06/attempts", "So many restarts in a row.", attempts, EXPONENTIAL, ("row-of-all", "gave-up")),
)
