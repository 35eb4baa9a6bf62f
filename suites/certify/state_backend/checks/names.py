"""SBK-01, SBK-02: names that begin alike, and times far out."""

from __future__ import annotations

from holdfast.harness.spi.state import Flag, StateDescriptor, StateKind, Timer
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.model import Model

NAMES = (b"", b"\x00", b"\x00\x00", b"a", b"a\x00", b"aa", b"ab", b"b", b"\xff", b"\xff\xff")
"""Each is the beginning of another, or what stands between two others where they are joined."""
STATES = tuple(StateDescriptor(name=f"s{number}", kind=StateKind.VALUE) for number in ("", *range(12)))
TIMERS = "event-timers"
FAR_MS = (-(1 << 63), -(1 << 32), -1, 0, (1 << 31), (1 << 53) + 1, (1 << 63) - 1)
END_MS = (1 << 63) - 1
PAIRS = [(namespace, key) for namespace in NAMES for key in NAMES]


def joined(bench: Bench) -> None:
    """Every pair of a namespace and a key, in states whose names begin alike; namespaces are cleared one by one."""
    live = bench.adopt(bench.backend(bench.factory), GROUPS, Model(), register=False)
    live.register(STATES)
    for number, descriptor in enumerate(STATES):
        for namespace in NAMES:
            keys = NAMES if number < 3 else NAMES[3:5]
            live.put(descriptor.name, GROUPS[number % 2], namespace, [(key, namespace + b"/" + key) for key in keys])
    completed = bench.checkpoint(live)
    restored = bench.restored(completed, register=STATES[::-1])
    restored.compare()
    for life in (live, restored):
        for namespace, start, end in ((b"a", b"a", b"aa"), (b"\x00", b"", b"\x00\x00"), (b"\xff", b"\xff", None)):
            life.scan("s", GROUPS[0], namespace, start, end).finish()
        for namespace in (b"a", b"", b"\xff"):
            life.clear("s", GROUPS[0], namespace)
            life.remove("s1", GROUPS[0], namespace, [b"a", b""])
            life.compare()


def timers(bench: Bench) -> None:
    """Every pair of a namespace and a key, at one time, in two key groups; in portions, and behind a restore."""
    live = bench.fresh()
    some = [Timer(7, group, *pair) for group in (GROUPS[0], GROUPS[-1]) for pair in PAIRS]
    live.add_timers(TIMERS, [some[number * 77 % len(some)] for number in range(len(some))])
    live.delete_timers(TIMERS, some[::9])
    completed = bench.checkpoint(live)
    for life in (live, bench.restored(completed)):
        for limit in (1, 2, 50, 3, len(some)):
            life.poll(TIMERS, 7, limit)


def far_times(bench: Bench) -> None:
    """The first and the last time that there is, and those at which a number of bytes more is needed."""
    live = bench.fresh()
    live.add_timers(TIMERS, [Timer(at_ms, group, b"n", b"k") for at_ms in FAR_MS[::-1] for group in GROUPS])
    completed = bench.checkpoint(live)
    for life in (live, bench.restored(completed)):
        for until_ms in (-(1 << 63), -2, 0, (1 << 53), END_MS):
            life.poll(TIMERS, until_ms, 3)
            life.poll(TIMERS, until_ms, 100)


CHECKS = (
    Check("SBK-01/joined-names", "States, namespaces and keys that begin alike never mix.", joined),
    Check("SBK-01/timer-names", "Timers of one time fire by key group, namespace and key.", timers,
          frozenset({Flag.TIMERS})),
    Check("SBK-01/far-times", "Timers of any time fire in order.", far_times, frozenset({Flag.TIMERS})),
)  # fmt: skip
