"""SBK-01, SBK-02: more of everything than what is kept at hand elsewhere has room for."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.state import Flag, StateDescriptor, StateKind, Timer
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.checks.limits import LARGEST_TRIED
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.model import Model

GROUP = GROUPS.start
MANY = 4_500
MANY_TIMERS = 1_100
"""Caches and buffers are made for a power of two or of ten entries, up to 4,096."""
NAMESPACES = 1_100
BATCH = 750
SMALL_BYTES = 64
CHECKPOINTS = 40
REMOVALS_COMPARED = 8
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


def removed_one_by_one(bench: Bench) -> None:
    """Of as many values a few go between every two checkpoints, and a timer fires: whatever is merged meanwhile, and
    into what, none of them comes back."""
    timed = Flag.TIMERS in bench.flags
    states = [VALUE, *([TIMERS] if timed else [])]
    live = _begun(bench, *states)
    names = [b"%05d" % number for number in range(NAMESPACES)]
    live.put("value", GROUP, b"", [(name, b"v" * SMALL_BYTES) for name in names])
    for number in range(CHECKPOINTS):
        live.put("value", GROUP, b"%d" % number, [(b"k", b"v")])
    if timed:
        live.add_timers("timers", [Timer(number, GROUP, b"", b"k") for number in range(MANY_TIMERS)])
    for number in range(CHECKPOINTS):
        completed = bench.checkpoint(live)
        live.remove("value", GROUP, b"", names[5 * number : 5 * number + 3])
        live.put("value", GROUP, b"", [(names[5 * number + 4], b"w"), (names[-1 - number // 3], b"%d" % number)])
        live.clear("value", GROUP, b"%d" % number)
        if timed:
            live.poll("timers", number, 2)
        if number % REMOVALS_COMPARED == 0:
            bench.restored(completed, register=states).compare()
            live.compare()
    live.compare()
    bench.restored(bench.checkpoint(live), register=states).compare(drain_timers=True)


def refused_batches(bench: Bench) -> None:
    """The last of a batch of as many is refused, and none of those before it is there."""
    live = bench.fresh(memory_bytes=8 * LARGEST_TRIED)
    table, limits, now_ms = live.table("value"), bench.description, bench.now_ms
    names = [b"%05d" % number for number in range(NAMESPACES)]
    live.put("value", GROUP, b"", [(name, b"old") for name in names[::2]])
    if limits.max_key_bytes <= LARGEST_TRIED:
        long = b"k" * (limits.max_key_bytes + 1)
        pairs = [*((name, b"new") for name in names), (long, b"")]
        _refused(live, "put behind a key that is too long", Full, lambda: table.put(GROUP, b"", pairs, now_ms=now_ms))
        if Flag.TIMERS in bench.flags:
            batch = [Timer(1, GROUP, b"", key) for key in (*names, long)]
            timers = live.timer_service("event-timers")
            _refused(live, "register behind a timer that is too long", Full, lambda: timers.register(batch))
    if Flag.TIMERS in bench.flags:
        strange = [*(Timer(1, GROUP, b"", name) for name in names), Timer(1, GROUPS.stop, b"", b"k")]
        timers = live.timer_service("event-timers")
        _refused(live, "register behind one of another subtask", RuntimeError, lambda: timers.register(strange))
    if Flag.MERGE in bench.flags:
        folded = live.backend.table(StateDescriptor(name="folded", kind=StateKind.REDUCING), _fold)
        folded.put(GROUP, b"", [(name, b"old") for name in names[::2]], now_ms=now_ms)
        bad = [*((name, b"new") for name in names), (names[0], b"bad")]
        _refused(live, "merge behind a function that raised", ArithmeticError,
                 lambda: folded.merge(GROUP, b"", bad, now_ms=now_ms))  # fmt: skip
        found = list(folded.get(GROUP, b"", names, now_ms=now_ms))
        live.same("state behind a merge whose function raised", found, [b"old", None] * (len(names) // 2))
    if Flag.SPILLS not in bench.flags:
        small = bench.fresh(memory_bytes=len(names) * SMALL_BYTES)
        pairs = [(name, b"v" * SMALL_BYTES) for name in names]
        _refused(small, "put behind a full budget", Full,
                 lambda: small.table("value").put(GROUP, b"", pairs, now_ms=now_ms))  # fmt: skip


def _fold(old: bytes, new: bytes) -> bytes:
    if new == b"bad":
        raise ArithmeticError("bad")
    return old + new


def _refused(live: Live, what: str, error: type[Exception], call: Callable[[], object]) -> None:
    """A call raises, and behind it all is as it was."""
    live.world.step(f"{what}, in a batch of {NAMESPACES} more")
    try:
        call()
    except error:
        live.compare()
    else:
        raise Violation("SBK-01", f"{what}, in a batch of {NAMESPACES} more: it raised nothing.")


def _begun(bench: Bench, *states: StateDescriptor) -> Live:
    """These states alone: nothing else takes time or room."""
    live = bench.adopt(bench.backend(bench.factory), GROUPS, Model(), register=False)
    live.register(states)
    return live


CHECKS = (
    Check("SBK-01/many-keys", f"{MANY} keys are kept, changed and removed, and come back.", keys),
    Check("SBK-01/many-namespaces", f"So are {NAMESPACES} namespaces.", namespaces),
    Check("SBK-01/many-timers", f"{MANY_TIMERS} timers fire in order, once.", timers, frozenset({Flag.TIMERS})),
    Check("SBK-01/many-refused", f"A batch of {NAMESPACES} of which the last is refused changes nothing.",
          refused_batches),
    Check("SBK-02/removed-one-by-one", f"Over {CHECKPOINTS} checkpoints, what is removed from many stays away.",
          removed_one_by_one),
    Check("SBK-02/many-changes", f"{NAMESPACES} changes between two checkpoints are in the second.", changes),
)  # fmt: skip
