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
    live.get("value", GROUP, b"", [*names[:BATCH], b"missing", *names[:BATCH:7], names[5], names[4]])
    restored = bench.restored(completed, register=[VALUE])
    restored.scan("value", GROUP, b"").finish()
    restored.get("value", GROUP, b"", names[: 2 * BATCH])


def changes(bench: Bench) -> None:
    """Between two checkpoints as many values are cleared, removed and written over, and as many timers fire."""
    timed = Flag.TIMERS in bench.flags
    live = _begun(bench, VALUE, *([TIMERS] if timed else []))
    names = [b"%05d" % number for number in range(NAMESPACES)]
    for namespace in (b"cleared", b"removed", b"changed"):
        live.put("value", GROUP, namespace, [(name, b"v") for name in names])
    if timed:
        live.add_timers("timers", [Timer(number, GROUP, b"", b"k") for number in range(2 * MANY_TIMERS)])
    bench.checkpoint(live)
    live.clear("value", GROUP, b"cleared")
    live.remove("value", GROUP, b"removed", names[2:])
    live.put("value", GROUP, b"changed", [(name, b"w") for name in names])
    if timed:
        live.poll("timers", MANY_TIMERS, MANY_TIMERS)
        live.delete_timers(
            "timers", [Timer(number, GROUP, b"", b"k") for number in range(MANY_TIMERS, 2 * MANY_TIMERS)]
        )
        live.add_timers("timers", [Timer(7, GROUP, b"", b"k"), Timer(9_999, GROUP, b"", b"k")])
    completed = bench.checkpoint(live)
    for life in (live, bench.restored(completed, register=[VALUE, *([TIMERS] if timed else [])])):
        life.compare(drain_timers=True)


def _begun(bench: Bench, *states: StateDescriptor) -> Live:
    """These states alone: nothing else takes time or room."""
    live = bench.adopt(bench.backend(bench.factory), GROUPS, Model(), register=False)
    live.register(states)
    return live


CHECKS = (
    Check("SBK-01/many-keys", f"{MANY} keys are kept, changed and removed, and come back.", keys),
    Check("SBK-02/many-changes", f"{NAMESPACES} changes between two checkpoints are in the second.", changes),
)  # fmt: skip
