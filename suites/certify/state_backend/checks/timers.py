"""SBK-01, SBK-02: timers fire once, in order, over restores too."""

from __future__ import annotations

from holdfast.harness.spi.state import Flag, Timer
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench

GROUP = GROUPS.start
STATE = "event-timers"
TIMERS = frozenset({Flag.TIMERS})
SOME = [
    Timer(at, group, namespace, key)
    for at in (-(1 << 40), -1, 0, 5, 5_000, 1 << 50)
    for group in (GROUP, GROUP + 3)
    for namespace, key in ((b"", b"k"), (b"n", b"k"), (b"n", b""))
]


def order(bench: Bench) -> None:
    live = bench.fresh()
    live.add_timers(STATE, SOME[::-1])
    live.add_timers(STATE, SOME[:3])
    live.add_timers("processing-timers", SOME[2:4])
    live.delete_timers(STATE, [SOME[0], SOME[7], Timer(77, GROUP, b"", b"never there")])
    live.poll(STATE, -2, 100)
    live.poll(STATE, 5, 2)
    live.add_timers(STATE, [Timer(1, GROUP, b"", b"late"), SOME[7]])
    live.poll(STATE, 5, 100)
    live.delete_timers(STATE, SOME[-1:])
    live.add_timers(STATE, SOME[-1:])
    live.poll(STATE, 1 << 51, 100)
    live.compare()


def over_a_restore(bench: Bench) -> None:
    live = bench.fresh()
    live.add_timers(STATE, SOME)
    live.add_timers("processing-timers", SOME[1::2])
    live.poll(STATE, 0, 5)
    live.delete_timers(STATE, SOME[-4:-2])
    taken = live.snapshot()
    live.poll(STATE, 10, 100)
    live.delete_timers("processing-timers", SOME[3:5])
    completed = bench.complete(live, taken, bench.upload(taken))
    restored = bench.restored(completed)
    restored.compare(drain_timers=True)
    completed = bench.checkpoint(restored)
    bench.restored(completed).compare(drain_timers=True)


CHECKS = (
    Check("SBK-01/timers", "Timers fire in order, at their time, once; those that were deleted do not.", order, TIMERS),
    Check(
        "SBK-02/timers", "Restored timers fire once; those that fired or were deleted do not.", over_a_restore, TIMERS
    ),
)
