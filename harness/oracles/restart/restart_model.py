"""What each restart strategy allows, in the oracle's own words (RULES RST, section 1.1).

A model receives each failure and each restart that the system under test schedules, and predicts what is right. It
leaves the edge of a time window undecided: the time of an event is not the instant at which the system decided.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple, Protocol

from holdfast.harness.model import profile
from holdfast.harness.model.plan import Plan
from holdfast.harness.oracles.shared.options import NS_PER_MS, decimal, flink_1_14, milliseconds, number
from holdfast.harness.oracles.shared.stated_options import texts

BEYOND_POLICY = "restarted-beyond-policy"
EDGE_NS = 1 * NS_PER_MS


class Objection(NamedTuple):
    """Why a scheduled delay is not the strategy's: the clause, and what is expected."""

    clause: str
    expected: str


class RestartModel(Protocol):
    """One strategy in one life of a coordinator.

    Attributes:
        excess: the clause that a restart breaks which is not allowed.
        delay_ms: before every restart; None: it differs, or is not judged.
        endless: however many failures there are, none is the last.
    """

    excess: str
    delay_ms: int | None
    endless: bool

    def allows(self, now_ns: int) -> bool | None:
        """Count a failure: whether the job may restart, None if that is not decided."""

    def schedules(self, delay_ms: int, now_ns: int) -> tuple[str, Objection | None]:
        """A restart after the last failure is scheduled: the clause that this decides, empty if none, and what is wrong
        about the delay."""


class Fixed:
    """So many restarts, each after the same delay; None: without end, and without a delay that is judged."""

    def __init__(self, restarts: int | None, delay_ms: int | None, excess: str = BEYOND_POLICY) -> None:
        self.left = restarts
        self.endless = restarts is None or restarts >= profile.UNLIMITED
        self.delay_ms = delay_ms
        self.excess = excess

    def allows(self, now_ns: int) -> bool | None:
        if self.left is None:
            return True
        self.left -= 1
        return self.left >= 0

    def schedules(self, delay_ms: int, now_ns: int) -> tuple[str, Objection | None]:
        return _same(self.delay_ms, delay_ms)


class Unknown:
    """A strategy without a model: nothing is decided."""

    excess = BEYOND_POLICY
    delay_ms: int | None = None
    endless = False

    def allows(self, now_ns: int) -> bool | None:
        return None

    def schedules(self, delay_ms: int, now_ns: int) -> tuple[str, Objection | None]:
        return "", None


class Rate:
    """`most` failures inside the sliding window still restart."""

    excess = BEYOND_POLICY

    def __init__(self, most: int, interval_ms: int, delay_ms: int) -> None:
        self.interval_ns = interval_ms * NS_PER_MS
        self.delay_ms: int | None = delay_ms
        self.endless = most * delay_ms >= interval_ms  # The window never holds one more than allowed.
        self.failures: deque[int] = deque(maxlen=most + 1)

    def allows(self, now_ns: int) -> bool | None:
        self.failures.append(now_ns)
        if len(self.failures) < (self.failures.maxlen or 0):
            return True
        age_ns = now_ns - self.failures[0]
        return None if abs(age_ns - self.interval_ns) <= EDGE_NS else age_ns > self.interval_ns

    def schedules(self, delay_ms: int, now_ns: int) -> tuple[str, Objection | None]:
        return _same(self.delay_ms, delay_ms)


class Exponential:
    """Failures in a row wait longer and longer; those that come before the restart from the last one are one with it.

    Attributes:
        rows: how many restarts in a row there may have been with this failure's: more than one number where an edge
            leaves it open, until a delay shows it.
        due_ns: when the last scheduled restart was to happen.
        merged: the failure in hand came before that; None: at the edge.
        calm: the failure in hand came so late after it that the row begins again; None: at the edge.
        drawn: (delay, base) of the delays that jitter could have moved either way.
    """

    excess = BEYOND_POLICY
    delay_ms: int | None = None

    def __init__(self, plan: Plan) -> None:
        self.initial_ms = milliseconds(plan, profile.EXPONENTIAL_INITIAL, 1_000)
        older = flink_1_14(plan)
        self.maximum_ms = milliseconds(plan, profile.EXPONENTIAL_MAX, 300_000 if older else 60_000)
        self.multiplier = decimal(plan, profile.EXPONENTIAL_MULTIPLIER, 2.0 if older else 1.5)
        self.reset_ms = milliseconds(plan, profile.EXPONENTIAL_RESET, 3_600_000)
        self.jitter = decimal(plan, profile.EXPONENTIAL_JITTER, 0.1)
        self.attempts = number(plan, profile.EXPONENTIAL_ATTEMPTS, profile.UNLIMITED)
        self.endless = self.attempts >= profile.UNLIMITED
        self.rows = {0}
        self.due_ns: int | None = None
        self.merged: bool | None = False
        self.calm: bool | None = False
        self.former: set[int] = {0}
        self.drawn: list[tuple[int, int]] = []

    def allows(self, now_ns: int) -> bool | None:
        self.former = self.rows
        self.merged = self.calm = False
        if self.due_ns is not None:
            quiet_ns = now_ns - self.due_ns
            self.merged = None if abs(quiet_ns) <= EDGE_NS else quiet_ns < 0
            over_ns = quiet_ns - self.reset_ms * NS_PER_MS
            self.calm = None if abs(over_ns) <= EDGE_NS else over_ns > 0
        following = {1} if self.calm else {row + 1 for row in self.former}
        if self.calm is None:
            following |= {1}
        if self.merged is not False:
            following = self.former if self.merged else following | self.former
        self.rows = following
        allowed = {row <= self.attempts for row in self.rows}
        return allowed.pop() if len(allowed) == 1 else None

    def schedules(self, delay_ms: int, now_ns: int) -> tuple[str, Objection | None]:
        due_ns, self.due_ns = self.due_ns, now_ns + delay_ms * NS_PER_MS
        if self.merged and due_ns is not None:
            remaining_ms = (due_ns - now_ns) / NS_PER_MS
            expected = f"the restart that is awaited is due in {remaining_ms:.0f} ms"
            wrong = abs(delay_ms - remaining_ms) * NS_PER_MS > EDGE_NS + NS_PER_MS
            return "simultaneous-counted", Objection("simultaneous-counted", expected) if wrong else None
        fitting = {row for row in self.rows if self._low_ms(row) <= delay_ms <= self._high_ms(row)}
        clause = "backoff-not-reset" if self.calm else "delay-wrong"
        if self.merged is None:
            return "", None
        if not fitting:
            rows = sorted(self.rows)
            low_ms, high_ms = self._low_ms(rows[0]), self._high_ms(rows[-1])
            return clause, Objection(clause, f"restart {rows[-1]} in a row waits for {low_ms:.0f} to {high_ms:.0f} ms")
        self.rows = fitting
        self._remember(delay_ms)
        return clause, None

    def is_spread(self) -> bool | None:
        """Whether some delay was moved by jitter; None while there are too few to decide."""
        if len(self.drawn) < 6:
            return None
        return any(delay_ms != base_ms for delay_ms, base_ms in self.drawn)

    def _remember(self, delay_ms: int) -> None:
        """Keep a delay that can show jitter: of some width, and not cut off by initial or maximum."""
        if len(self.rows) > 1:
            return
        base_ms = int(self._base_ms(*self.rows))
        width_ms = int(base_ms * self.jitter)
        if width_ms >= 8 and base_ms - width_ms > self.initial_ms and base_ms + width_ms < self.maximum_ms:
            self.drawn.append((delay_ms, base_ms))

    def _base_ms(self, row: int) -> float:
        try:
            return self.initial_ms * self.multiplier ** (row - 1)
        except OverflowError:
            return float("inf")

    def _low_ms(self, row: int) -> float:
        return max(self.initial_ms, min(self._base_ms(row) * (1 - self.jitter) - 1, self.maximum_ms))

    def _high_ms(self, row: int) -> float:
        return max(self.initial_ms, min(self._base_ms(row) * (1 + self.jitter) + 1, self.maximum_ms))


def restart_model(plan: Plan) -> RestartModel:
    """The configured strategy, fresh."""
    named = texts(plan).get(profile.STRATEGY, "").lower().replace("-", "")
    if named == "fixeddelay":
        restarts = number(plan, profile.FIXED_ATTEMPTS, 1)
        return Fixed(restarts, milliseconds(plan, profile.FIXED_DELAY, 1_000))
    if named == "failurerate":
        return Rate(
            number(plan, profile.RATE_FAILURES, 1),
            milliseconds(plan, profile.RATE_INTERVAL, 60_000),
            milliseconds(plan, profile.RATE_DELAY, 1_000),
        )
    if named == "exponentialdelay":
        return Exponential(plan)
    if named:
        return Fixed(0, None, "restarted-after-none") if named in ("none", "off", "disable") else Unknown()
    if profile.INTERVAL not in texts(plan):
        return Fixed(0, None, "restarted-without-strategy")
    return Fixed(profile.UNLIMITED, 1_000) if flink_1_14(plan) else Exponential(plan)


def _same(expected_ms: int | None, delay_ms: int) -> tuple[str, Objection | None]:
    if expected_ms is None:
        return "", None
    wrong = delay_ms != expected_ms
    return "delay-wrong", Objection("delay-wrong", f"the strategy's delay is {expected_ms} ms") if wrong else None
