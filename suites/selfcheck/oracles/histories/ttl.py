"""Histories for TTL: state of key a, which lives for 60 ms of processing time behind its last write."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model.events import KeysLookedUp
from holdfast.harness.model.jobs import DEBOUNCE, THROTTLE
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log
from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import WIDER
from holdfast.suites.selfcheck.oracles.histories.time import cut, started
from holdfast.suites.selfcheck.oracles.lines import submitted
from holdfast.suites.selfcheck.oracles.output_builder import identities, units


class Look(NamedTuple):
    """Key a is looked up.

    Attributes:
        at_ms: when.
        found: whether there is state.
        says_ms: the time that the subtask tells; None: that.
        subtask: which.
        offset: of the record for which it is looked up.
    """

    at_ms: int
    found: bool
    says_ms: int | None = None
    subtask: str = "sum[0]"
    offset: int = 0


def expiring(*steps: Line | Look) -> list[Line]:
    """These steps, each lookup at its time. Every event takes a millisecond."""
    lines: list[Line] = []
    now_ms = 0.0
    for step in steps:
        if isinstance(step, Look):
            says_ms = step.at_ms if step.says_ms is None else step.says_ms
            lines.append(step.at_ms - 1 - now_ms)
            lines.append(KeysLookedUp(subtask=step.subtask, now_ms=says_ms, found=(("a", 0, step.offset, step.found),)))
            now_ms = step.at_ms
        else:
            lines.append(step)
            now_ms += len(step) if isinstance(step, list) else 1
    return lines


bad, near = exhibits("TTL", inputs=input_log(3), job=THROTTLE)

near("expired-returned", "it has just expired", expiring(started(), Look(10, False), Look(70, False)))
bad("expired-returned", "it is found when it expires", expiring(started(), Look(10, False), Look(70, True)))

near("forgotten-early", "it lives for a last millisecond", expiring(started(), Look(10, False), Look(69, True)))
bad("forgotten-early", "it is gone a millisecond early", expiring(started(), Look(10, False), Look(69, False)))

bad("expired-returned", "it was never written", expiring(started(), Look(10, True)))
bad(
    "expired-returned", "a read begins its time anew",
    expiring(started(), Look(10, False), Look(50, True), Look(80, True)),
)  # fmt: skip

near(
    "forgotten-early", "a read begins its time anew where it is to",
    expiring(started(), Look(10, False), Look(50, True), Look(80, True)), job=DEBOUNCE,
)  # fmt: skip
bad(
    "forgotten-early", "a read does not begin its time anew",
    expiring(started(), Look(10, False), Look(50, True), Look(80, False)), job=DEBOUNCE,
)  # fmt: skip

bad(
    "expired-returned", "a restore begins its time anew",
    expiring(started(), Look(10, False), cut(), started(1), Look(75, True)),
)  # fmt: skip
near(
    "expired-returned", "a restore keeps its expiry",
    expiring(started(), Look(10, False), cut(), started(1), Look(69, True), Look(70, False)),
)  # fmt: skip

bad(
    "forgotten-early", "a restore forgets what lives",
    expiring(started(), Look(10, False), cut(), started(1), Look(30, False)),
)  # fmt: skip

near(
    "expired-returned", "what was written behind the cut is gone",
    expiring(started(), cut(), Look(10, False), started(1), Look(30, False)),
)  # fmt: skip

bad(
    "forgotten-early",
    "whoever owns it now does not find it",
    expiring(
        submitted(),
        started(),
        Look(10, False),
        cut(),
        submitted("chk-1", 1, job=1),
        started(1, 3, number=1_001),
        Look(30, False, subtask="sum[2]"),
    ),
    faults=(WIDER,),
)

bad("clock-wrong", "it reads another clock", expiring(started(), Look(10, False, says_ms=3_600_010)))
bad(
    "clock-wrong", "its clock goes back",
    expiring(started(), Look(10, False), Look(20, True, says_ms=9)), real_time=True,
)  # fmt: skip
near("clock-wrong", "a clock stands still", expiring(started(), Look(10, False), Look(11, True, says_ms=10)))
near(
    "clock-wrong", "another clock in real time",
    expiring(started(), Look(10, False, says_ms=4), Look(90, False, says_ms=64)), real_time=True,
)  # fmt: skip


# --- the rows of what was handed on ----------------------------------------------------------------------------------


bad_rows, near_rows = exhibits("EXACT", inputs=input_log(3), job=THROTTLE, units=units(identities("0:0", "0:1", "0:2")))

near_rows(
    "row-unknown", "what the last attempt has handed on",
    expiring(started(), Look(10, False), cut(), Look(30, True, offset=2), started(1), Look(90, False, offset=2)),
)  # fmt: skip

bad_rows(
    "input-missing", "a row is lost that was handed on",
    expiring(started(), Look(10, False), cut(), Look(30, True, offset=2), started(1), Look(90, False, offset=2)),
    units=units(identities("0:0", "0:1")),
)  # fmt: skip

bad_rows(
    "row-unknown", "a row of a record that was dropped", expiring(started(), Look(10, False), Look(30, True, offset=2))
)

near_rows(
    "input-missing", "a record that was dropped has no row",
    expiring(started(), Look(10, False), Look(30, True, offset=2)), units=units(identities("0:0", "0:1")),
)  # fmt: skip
