"""RST-03 to RST-06: how often and after which delays strategies of each kind restart a job."""

from __future__ import annotations

from itertools import repeat

from holdfast.harness.model import profile
from holdfast.harness.spi.restart_strategy import StrategyKind
from holdfast.suites.certify.check import Check, Violation
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


def rate_in_turn(bench: Bench) -> None:
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


def exponential_in_turn(bench: Bench) -> None:
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


def exponential_attempts(bench: Bench) -> None:
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


FIXED = frozenset({StrategyKind.FIXED_DELAY})
NONE = frozenset({StrategyKind.NONE})
YEAR_MS = 365 * 86_400_000
THREE_TIMES = {profile.FIXED_ATTEMPTS: "3", profile.FIXED_DELAY: "10 s"}


def fixed_attempts(bench: Bench) -> None:
    """Three times after ten seconds; no failure and all of them at once."""
    life = bench.life(THREE_TIMES)
    for _ in range(3):
        life.runs(life.expect(10_000))
    life.expect_end("3 restarts are allowed, and were")
    life = bench.life(THREE_TIMES)
    for _ in range(3):
        life.expect(10_000)
    life.expect_end("each failure counts, also while a restart is awaited")


def fixed_in_turn(bench: Bench) -> None:
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
    Check("RST-03/attempts", "So many restarts after the delay, and then none.", fixed_attempts, FIXED, ("gave-up",)),
    Check("RST-03/in-turn", "So many in all, whoever fails.", fixed_in_turn, FIXED, ("restarted", "gave-up")),
    Check("RST-03/no-attempt", "None and one are numbers, too; so is a delay of nothing.", no_attempt, FIXED),
    Check("RST-03/for-good", "Time gives no restart back.", for_good, FIXED, ("restarted", "gave-up")),
    Check("RST-05/final", "The first failure is final, whenever it comes.", final, NONE, ("gave-up",)),
    Check("RST-04/rate", "As many failures as are allowed restart, and one more does not.", rate, RATE, ("gave-up",)),
    Check("RST-04/in-turn", "All failures count, whoever fails.", rate_in_turn, RATE, ("restarted", "gave-up")),
    Check("RST-04/slides", "Failures that no window holds together never end the job.", slides, RATE, ("restarted",)),
    Check(
        "RST-04/edges", "Each failure leaves the window when its own time is over.", edges, RATE, ("slid", "gave-up")
    ),
    Check("RST-04/one", "One failure in a window is a rate, too.", one, RATE, ("restarted", "gave-up")),
    Check("RST-06/in-turn", "They do, whoever fails.", exponential_in_turn, EXPONENTIAL, ("restarted",)),
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
    Check(
        "RST-06/attempts", "So many restarts in a row.", exponential_attempts, EXPONENTIAL, ("row-of-all", "gave-up")
    ),
)
