"""Histories for TIME and TTL: timers of a delayed sum, and state that lives for 60 ms behind its last write."""

from __future__ import annotations

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.events import KeysLookedUp, RecordsDropped
from holdfast.harness.model.jobs import DEBOUNCE, DELAYED_SUM, SLIDING_SUM, THROTTLE, TUMBLING_SUM
from holdfast.suites.selfcheck.oracles.builder import Line, Until, exhibits, input_log
from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import WIDER
from holdfast.suites.selfcheck.oracles.lines import attempt, completed, emitted, sets, snapshot, submitted, takes, task
from holdfast.suites.selfcheck.oracles.output_builder import identities, units

# --- TIME: timers of a delayed sum that are set, restored and taken ---------------------------------------------------


A, B, LATER = ("a", 20), ("b", 25), ("a", 60)

STARTED: list[Line] = [attempt(), task("sum[0]"), task("sum[1]")]
RESTARTED: list[Line] = [attempt(1), task("sum[0]", 1), task("sum[1]", 1)]
WIDENED: list[Line] = [attempt(1, number=1_001), task("sum[0]", 1), task("sum[1]", 1), task("sum[2]", 1)]

CUT: dict[int, list[Line]] = {n: [snapshot("sum[0]", n), snapshot("sum[1]", n), completed(n)] for n in (1, 2)}

RESCALED: list[Line] = [submitted(), STARTED, sets(A), CUT[1], submitted("chk-1", 1, job=1), WIDENED]
"""The same job goes on at parallelism 3 with what a waited for at the first checkpoint."""

bad, near = exhibits("TIME", job=DELAYED_SUM)

bad("timer-lost", "a restored timer is passed over", STARTED, sets(A), CUT[1], RESTARTED, sets(LATER), takes(60, LATER))
bad("timer-lost", "nothing takes it until the run ends", STARTED, sets(A, B), takes(22, A))
bad("timer-lost", "whoever owns it now does not take it",
    *RESCALED, sets(B, subtask="sum[2]"), takes(25, B, subtask="sum[2]"), faults=(WIDER,))  # fmt: skip
near("timer-lost", "a timer set behind the restored cut is gone",
     STARTED, sets(A), CUT[1], sets(B), RESTARTED, takes(20, A))  # fmt: skip
near("timer-lost", "a timer is not due yet", STARTED, sets(A, ("b", 2_000)), takes(20, A))
near("timer-lost", "the machine may have been busy", STARTED, sets(A, B), takes(22, A), real_time=True)

bad("timer-repeated", "it is taken and left where it is", STARTED, sets(A), takes(20, A), takes(21, A))
bad("timer-repeated", "a restored timer is taken twice",
    STARTED, sets(A), CUT[1], RESTARTED, takes(20, A), takes(20, A))  # fmt: skip
bad("timer-repeated", "it is set again once and taken twice",
    STARTED, sets(A), takes(20, A), sets(A), takes(20, A), takes(21, A))  # fmt: skip
near("timer-repeated", "it is set again for the same time", STARTED, sets(A), takes(20, A), sets(A), takes(20, A))

bad("timer-lost", "it is set again and never taken", STARTED, sets(A, LATER), takes(20, A), sets(A), takes(60, LATER))

near("timer-repeated", "it was taken behind the restored cut",
     STARTED, sets(A), CUT[1], takes(20, A), RESTARTED, takes(20, A))  # fmt: skip
near("timer-repeated", "a key has another timer later", STARTED, sets(A), takes(20, A), sets(LATER), takes(60, LATER))

bad("timer-unknown", "it was set behind the restored cut", STARTED, CUT[1], sets(A), RESTARTED, takes(20, A))
bad("timer-unknown", "it was taken before the restored cut",
    STARTED, sets(A), takes(20, A), CUT[1], RESTARTED, takes(20, A))  # fmt: skip
near("timer-unknown", "another subtask owns it now", *RESCALED, takes(20, A, subtask="sum[2]"), faults=(WIDER,))

bad("timer-early", "it is taken a little before its time", STARTED, sets(A), takes(19, A))
near("timer-early", "exactly its time is not early", STARTED, sets(A), takes(20, A))
near("timer-early", "nothing is waited for where the input has ended", STARTED, sets(A), takes(5, A, final=True))

# The second of two splits, each of ten records 10 ms apart, is in the window that begins at 40 ms with offset 4;
# windows do not overlap. It is told only when its first record comes.
bad("dropped-early", "a silent split holds nobody",
    STARTED, RecordsDropped(subtask="sum[0]", records=((1, 0, 0, 60),)), job=TUMBLING_SUM)  # fmt: skip
bad("dropped-early", "its own split is still in the window",
    STARTED, RecordsDropped(subtask="sum[0]", records=((1, 4, 1, 80),)), job=TUMBLING_SUM)  # fmt: skip

# Each seventh record is 90 ms earlier than its place. A window takes records until the watermark has passed its end
# by 20 ms, and that stays 20 ms behind.
bad("dropped-early", "it comes within the lateness that is allowed",
    STARTED, RecordsDropped(subtask="sum[0]", records=((1, 6, -1, 500),)), job=SLIDING_SUM)  # fmt: skip
near("dropped-early", "its own split had passed the window",
     STARTED, RecordsDropped(subtask="sum[0]", records=((1, 6, -2, 500),)), job=SLIDING_SUM)  # fmt: skip

END_OF_READ_AGAIN: list[Line] = [CUT[1], RESTARTED, RecordsDropped(subtask="sum[0]", records=((1, 3, 0, 50),))]
"""An attempt read so many records of the second split. The next one drops its fourth, whose window ends at 40 ms,
with a watermark beyond that."""

bad("dropped-early", "it was not read beyond the window before",
    STARTED, emitted(0, 4, partition=1), *END_OF_READ_AGAIN, job=TUMBLING_SUM, claimed=AT_LEAST_ONCE)  # fmt: skip
bad("dropped-early", "nothing is restored that lies ahead where nothing may be repeated",
    STARTED, emitted(0, 9, partition=1), *END_OF_READ_AGAIN, job=TUMBLING_SUM)  # fmt: skip
near("dropped-early", "the restored watermark lies ahead of what is read again",
     STARTED, emitted(0, 9, partition=1), *END_OF_READ_AGAIN, job=TUMBLING_SUM, claimed=AT_LEAST_ONCE)  # fmt: skip


# --- TTL: state of key a, which lives for 60 ms of processing time behind its last write ------------------------------


def looks_up(
    at_ms: int, found: bool, says_ms: int | None = None, subtask: str = "sum[0]", offset: int = 0
) -> list[Line]:
    """A subtask looks key a up for the record at an offset; `says_ms`: the time that it states, if another."""
    now_ms = at_ms if says_ms is None else says_ms
    return [Until(at_ms - 1), KeysLookedUp(subtask=subtask, now_ms=now_ms, found=(("a", 0, offset, found),))]


bad, near = exhibits("TTL", inputs=input_log(3), job=THROTTLE)

near("expired-returned", "it has just expired", STARTED, looks_up(10, False), looks_up(70, False))
bad("expired-returned", "it is found when it expires", STARTED, looks_up(10, False), looks_up(70, True))

near("forgotten-early", "it lives for a last millisecond", STARTED, looks_up(10, False), looks_up(69, True))
bad("forgotten-early", "it is gone a millisecond early", STARTED, looks_up(10, False), looks_up(69, False))

bad("expired-returned", "it was never written", STARTED, looks_up(10, True))
bad("expired-returned", "a read begins its time anew",
    STARTED, looks_up(10, False), looks_up(50, True), looks_up(80, True))  # fmt: skip

near("forgotten-early", "a read begins its time anew where it is to",
     STARTED, looks_up(10, False), looks_up(50, True), looks_up(80, True), job=DEBOUNCE)  # fmt: skip
bad("forgotten-early", "a read does not begin its time anew",
    STARTED, looks_up(10, False), looks_up(50, True), looks_up(80, False), job=DEBOUNCE)  # fmt: skip

bad("expired-returned", "a restore begins its time anew",
    STARTED, looks_up(10, False), CUT[1], RESTARTED, looks_up(75, True))  # fmt: skip
near("expired-returned", "a restore keeps its expiry",
     STARTED, looks_up(10, False), CUT[1], RESTARTED, looks_up(69, True), looks_up(70, False))  # fmt: skip

bad("forgotten-early", "a restore forgets what lives",
    STARTED, looks_up(10, False), CUT[1], RESTARTED, looks_up(30, False))  # fmt: skip

near("expired-returned", "what was written behind the cut is gone",
     STARTED, CUT[1], looks_up(10, False), RESTARTED, looks_up(30, False))  # fmt: skip

bad("forgotten-early", "whoever owns it now does not find it",
    submitted(), STARTED, looks_up(10, False), CUT[1], submitted("chk-1", 1, job=1), WIDENED,
    looks_up(30, False, subtask="sum[2]"), faults=(WIDER,))  # fmt: skip

bad("clock-wrong", "it reads another clock", STARTED, looks_up(10, False, says_ms=3_600_010))
bad("clock-wrong", "its clock goes back", STARTED, looks_up(10, False), looks_up(20, True, says_ms=9), real_time=True)
near("clock-wrong", "a clock stands still", STARTED, looks_up(10, False), looks_up(11, True, says_ms=10))
near("clock-wrong", "another clock in real time",
     STARTED, looks_up(10, False, says_ms=4), looks_up(90, False, says_ms=64), real_time=True)  # fmt: skip

# --- the rows of what was handed on ----------------------------------------------------------------------------------

bad_rows, near_rows = exhibits("EXACT", inputs=input_log(3), job=THROTTLE, units=units(identities("0:0", "0:1", "0:2")))

# Of offsets 0 and 2, which have key a, the latter is dropped by the first attempt, and handed on by the second.
near_rows("row-unknown", "what the last attempt has handed on",
          STARTED, looks_up(10, False), CUT[1], looks_up(30, True, offset=2), RESTARTED,
          looks_up(90, False, offset=2))  # fmt: skip

bad_rows("input-missing", "a row is lost that was handed on",
         STARTED, looks_up(10, False), CUT[1], looks_up(30, True, offset=2), RESTARTED, looks_up(90, False, offset=2),
         units=units(identities("0:0", "0:1")))  # fmt: skip

bad_rows("row-unknown", "a row of a record that was dropped",
         STARTED, looks_up(10, False), looks_up(30, True, offset=2))  # fmt: skip

near_rows("input-missing", "a record that was dropped has no row",
          STARTED, looks_up(10, False), looks_up(30, True, offset=2),
          units=units(identities("0:0", "0:1")))  # fmt: skip
