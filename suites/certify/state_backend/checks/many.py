"""SBK-01, SBK-02: more of everything than what is kept at hand elsewhere has room for."""

from __future__ import annotations

from holdfast.harness.spi.state import Flag, StateDescriptor, StateKind, Timer
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.model import Model

GROUP = GROUPS.start
MANY = 4_500
MANY_TIMERS = 1_100
"""Caches and buffers are made for a power of two or of ten entries, up to 4,096."""
NAMESPACES = 1_100
BATCH = 750
VALUE = StateDescriptor(name="value", kind=StateKind.VALUE)
TIMERS = StateDescriptor(name="timers", kind=StateKind.EVENT_TIME_TIMERS)


def keys(bench: Bench) -> None:
    """Written, some of them changed and removed while scans are open, and read again: the first ones last."""
    live = _begun(bench, VALUE)
    names = [b"%05d" % number for number in range(MANY)]
    for first in range(0, MANY, BATCH):
        live.put("value", GROUP, b"", [(name, b"v" + name) for name in names[first : first + BATCH]])
    scans = [live.scan("value", GROUP, b""), live.scan("value", GROUP, b"", names[9], names[-9])]
    for scan in scans:
        scan.take(2)
    live.put("value", GROUP, b"", [(name, b"changed") for name in names[::17]])
    live.remove("value", GROUP, b"", names[5::97])
    for scan in scans:
        scan.finish()
    for first in range(MANY - MANY % BATCH, -1, -BATCH):
        live.get("value", GROUP, b"", names[first : first + BATCH])
    completed = bench.checkpoint(live)
    live.scan("value", GROUP, b"").finish()
    restored = bench.restored(completed, register=[VALUE])
    restored.scan("value", GROUP, b"").finish()
    restored.get("value", GROUP, b"", names[: 2 * BATCH])


def namespaces(bench: Bench) -> None:
    """As many windows, one value in each; half of them are cleared."""
    live = _begun(bench, VALUE)
    names = [b"%d" % number for number in range(NAMESPACES)]
    for name in names:
        live.put("value", GROUP, name, [(b"k", name)])
    for name in names[::2]:
        live.clear("value", GROUP, name)
    completed = bench.checkpoint(live)
    for life in (live, bench.restored(completed, register=[VALUE])):
        found = list(life.table("value").namespaces(GROUP))
        life.same("namespaces", found, sorted(names[1::2]))
        for name in (names[0], names[1], names[-2], names[-1]):
            life.get("value", GROUP, name, [b"k"])


def timers(bench: Bench) -> None:
    """Registered from the last to the first, and polled in portions."""
    live = _begun(bench, TIMERS)
    all_of_them = [Timer(number // 3, GROUP + number % 2, b"", b"%05d" % number) for number in range(MANY_TIMERS)]
    for first in range(MANY_TIMERS - MANY_TIMERS % BATCH, -1, -BATCH):
        live.add_timers("timers", all_of_them[first : first + BATCH])
    live.delete_timers("timers", all_of_them[3::50])
    completed = bench.checkpoint(live)
    for life in (live, bench.restored(completed, register=[TIMERS])):
        for until_ms, limit in ((10, 7), (MANY_TIMERS, 500), (MANY_TIMERS, MANY_TIMERS)):
            life.poll("timers", until_ms, limit)


def _begun(bench: Bench, state: StateDescriptor) -> Live:
    """One state alone: nothing else takes time or room."""
    live = bench.adopt(bench.backend(bench.factory), GROUPS, Model(), register=False)
    live.register([state])
    return live


CHECKS = (
    Check("SBK-01/many-keys", f"{MANY} keys are kept, changed and removed, and come back.", keys),
    Check("SBK-01/many-namespaces", f"So are {NAMESPACES} namespaces.", namespaces),
    Check("SBK-01/many-timers", f"{MANY_TIMERS} timers fire in order, once.", timers, frozenset({Flag.TIMERS})),
)
