"""SBK-01, SBK-02, SBK-08: more than caches hold; what is declared fits, one byte more is Full, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.state import Flag, StateDescriptor, StateKind, Timer
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUP, GROUPS, Bench, Completed
from holdfast.suites.certify.state_backend.content import MOST_AT_ONCE
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.model import Model, element

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


LARGEST_TRIED = 1 << 21
"""A limit above this is not tried: the memory belongs to others, too."""
BUDGET_BYTES = 1 << 16
VALUE_BYTES = 1_024
MOST_VALUES = 10 * BUDGET_BYTES // VALUE_BYTES


def refused(live: Live, rule: str, what: str, call: Callable[[], object], limit: str = "") -> None:
    """A call must raise Full, and name the limit."""
    live.world.step(what)
    try:
        call()
    except Full as error:
        if limit and (limit not in str(error)):
            raise Violation(rule, f"{what}: Full does not name {limit}: {error}") from error
    else:
        raise Violation(rule, f"{what}: it raised nothing; Full is right.")


def lengths(bench: Bench) -> None:
    live = bench.fresh(memory_bytes=8 * LARGEST_TRIED)
    now_ms = bench.now_ms
    limits = bench.description
    table = live.table("value")
    for limit, longest, pair in (
        ("max_key_bytes", limits.max_key_bytes, lambda size: (b"", [(b"g", b""), (b"k" * size, b"v")])),
        ("max_value_bytes", limits.max_value_bytes, lambda size: (b"", [(b"g", b""), (b"k", b"v" * size)])),
        ("max_namespace_bytes", limits.max_namespace_bytes, lambda size: (b"n" * size, [(b"k", b"v")])),
    ):
        if longest > LARGEST_TRIED:
            continue
        bench.hit("a-declared-limit")
        namespace, pairs = pair(longest + 1)
        refused(
            live,
            "SBK-01",
            f"put with one byte more than {limit}, {longest}",
            lambda namespace=namespace, pairs=pairs: table.put(GROUP, namespace, pairs, now_ms=now_ms),  # type: ignore[misc]
            limit,
        )
        live.compare()
        live.put("value", GROUP, *pair(longest))
        live.compare()
        live.clear("value", GROUP, pair(longest)[0])
        live.put("value", GROUP + 1, *pair(longest))
    if not bench.windows["a-declared-limit"]:
        raise CannotTry(f"every declared limit is above {LARGEST_TRIED} bytes, which is not tried")
    completed = bench.checkpoint(live)
    bench.restored(completed).compare()


def timer_lengths(bench: Bench) -> None:
    """One that fits is in the same batch: it is not registered either."""
    live = bench.fresh(memory_bytes=8 * LARGEST_TRIED)
    limits, service = bench.description, live.timer_service("event-timers")
    for limit, longest, place in (
        ("max_key_bytes", limits.max_key_bytes, lambda size: (b"", b"k" * size)),
        ("max_namespace_bytes", limits.max_namespace_bytes, lambda size: (b"n" * size, b"")),
    ):
        if longest > LARGEST_TRIED:
            continue
        bench.hit("a-declared-limit")
        timers = [Timer(1, GROUP, b"", b"g"), Timer(0, GROUP, *place(longest + 1))]
        what = f"register a timer with one byte more than {limit}, {longest}"
        refused(live, "SBK-01", what, lambda timers=timers: service.register(timers), limit)  # type: ignore[misc]
        live.same("first timer", service.first(), live.model.first("event-timers"))
        live.add_timers("event-timers", [Timer(0, GROUP, *place(longest))])
    if not bench.windows["a-declared-limit"]:
        raise CannotTry(f"every declared limit is above {LARGEST_TRIED} bytes, which is not tried")
    completed = bench.checkpoint(live)
    bench.restored(completed).compare(drain_timers=True)


def merged_length(bench: Bench) -> None:
    """What a merge makes is refused above the limit, and taken up to it."""
    longest = bench.description.max_value_bytes
    live = bench.fresh(memory_bytes=8 * LARGEST_TRIED)
    if longest > LARGEST_TRIED:
        raise CannotTry(f"max_value_bytes is {longest}, and values above {LARGEST_TRIED} are not tried")
    bench.hit("a-declared-limit")
    half = element(b"x" * (longest // 2 - 4))
    live.merge("list", GROUP, b"", [(b"k", half)])
    table = live.table("list")
    refused(
        live,
        "SBK-01",
        f"merge to more than max_value_bytes, {longest}",
        lambda: table.merge(GROUP, b"", [(b"other", b""), (b"k", half + b"\x00" * 4)], now_ms=bench.now_ms),
    )
    live.compare()
    rest = longest - len(half) - 4
    live.merge("list", GROUP, b"", [(b"k", element(b"y" * rest) if rest >= 0 else b"")])
    live.compare()


def budget(bench: Bench) -> None:
    if Flag.SPILLS in bench.flags:
        raise CannotTry("it declares spills, so that no budget is full")
    live = bench.fresh(memory_bytes=BUDGET_BYTES)
    table = live.table("value")
    for number in range(400):  # Ten times the budget by bytes of values alone.
        bench.step(f"put value {number} of 2,048 bytes, of a budget of {BUDGET_BYTES} bytes")
        pairs = [(b"%d/%d" % (number, half), b"v" * 1_024) for half in (0, 1)]
        try:
            table.put(GROUP, b"", pairs, now_ms=bench.now_ms)
        except Full:
            bench.hit("a-full-budget")
            break
        live.model.put(("value", GROUP, b""), *pairs[0], 0)
        live.model.put(("value", GROUP, b""), *pairs[1], 0)
    else:
        raise Violation("SBK-01", "state of ten times the memory budget raised nothing, though SPILLS is not declared.")
    live.compare()
    live.put("value", GROUP, b"", [(b"0/0", b"shorter"), (b"0/1", b"")])
    live.remove("value", GROUP, b"", [b"1/0", b"1/1"])
    live.put("value", GROUP, b"", [(b"fits again", b"v" * 512)])
    live.compare()
    live.clear("value", GROUP, b"")
    many = [(b"%d" % number, b"") for number in range(MOST_AT_ONCE)]
    many += [(b"%d/large" % number, b"v" * VALUE_BYTES) for number in range(MOST_VALUES)]
    refused(live, "SBK-01", "put more than fits at once", lambda: table.put(GROUP, b"", many, now_ms=bench.now_ms))
    live.compare()
    if Flag.TIMERS in bench.flags:
        state, key = "event-timers", b"t" * min(512, bench.limits["max_key_bytes"])
        timers = [Timer(number, GROUP, b"", key) for number in range(16_000)]
        refused(live, "SBK-01", "register more timers than fit", lambda: live.timer_service(state).register(timers))
        live.same("first timer", live.timer_service(state).first(), None)


def emptied_budget(bench: Bench) -> None:
    """What goes gives its room back, in whichever way it goes: as much fits then as did before."""
    if Flag.SPILLS in bench.flags:
        raise CannotTry("it declares spills, so that no budget is full")
    live = bench.fresh(memory_bytes=BUDGET_BYTES // 4)
    fit, key = _filled(live, 0), b"t" * min(VALUE_BYTES // 2, bench.limits["max_key_bytes"])
    for how in ("clear", "remove", "put over", "put over in its batch", "clear", "poll", "delete", "clear"):
        keys = [b"%d" % number for number in range(fit)]
        timers = [Timer(number, GROUP, b"", key) for number in range(fit // 2)]
        if how == "remove":
            live.remove("value", GROUP, b"", keys)
        else:
            live.clear("value", GROUP, b"")
        if how.startswith("put over"):
            for _ in keys:
                live.put("value", GROUP, b"", [(b"over", b"v" * VALUE_BYTES)] * (1 if how == "put over" else 2))
            live.remove("value", GROUP, b"", [b"over"])
        elif how in ("poll", "delete") and Flag.TIMERS in bench.flags:
            live.add_timers("event-timers", timers)
            if how == "poll":
                live.poll("event-timers", fit, fit)
            else:
                live.delete_timers("event-timers", timers)
        again = _filled(live, 0)
        if again < fit * 3 // 4:
            raise Violation(
                "SBK-01",
                f"{fit} values fit into {BUDGET_BYTES // 4} bytes, and {again} behind a {how} of what was there: what "
                "goes gives its room back.",
            )
    live.compare()


def restored_budget(bench: Bench) -> None:
    """As many values as fit do not fit into a tenth of the budget. Half of them behind a restore: the other half fits
    there, and not much more."""
    if Flag.SPILLS in bench.flags:
        raise CannotTry("it declares spills, so that no budget is full")
    live = bench.fresh(memory_bytes=BUDGET_BYTES)
    fit = _filled(live, 0)
    taken = live.snapshot()
    _refuses(bench, bench.complete(live, taken, bench.upload(taken)), BUDGET_BYTES // 10)
    live.remove("value", GROUP, b"", [b"%d" % number for number in range(fit // 2, fit)])
    completed = bench.checkpoint(live)
    backend = bench.backend(bench.factory, memory_bytes=BUDGET_BYTES)
    bench.step(f"restore({completed.checkpoint}) into a budget of {BUDGET_BYTES} bytes")
    backend.restore(completed.parts, bench.storage().streams(completed.checkpoint, EPOCH), claimed=True)
    restored = bench.adopt(backend, GROUPS, completed.model)
    more = _filled(restored, fit)
    if more > fit * 3 // 4:
        raise Violation(
            "SBK-01",
            f"{fit} values fit into {BUDGET_BYTES} bytes, and behind a restore of {fit // 2} of them {more} more: "
            "what was restored counts, too.",
        )
    restored.compare()


def _refuses(bench: Bench, completed: Completed, memory_bytes: int) -> None:
    backend = bench.backend(bench.factory, memory_bytes=memory_bytes)
    bench.step(f"restore({completed.checkpoint}) into a budget of {memory_bytes} bytes")
    try:
        backend.restore(completed.parts, bench.storage().streams(completed.checkpoint, EPOCH), claimed=True)
    except Full:
        return
    raise Violation(
        "SBK-01",
        f"state that fills {BUDGET_BYTES} bytes was restored into {memory_bytes}, though SPILLS is not declared; Full "
        "is right.",
    )


def _filled(live: Live, first: int) -> int:
    """Put values until none fits any more; how many did."""
    for number in range(MOST_VALUES):
        try:
            live.put("value", GROUP, b"", [(b"%d" % (first + number), b"v" * VALUE_BYTES)])
        except Full:
            live.world.hit("a-full-budget")
            return number
    raise Violation("SBK-01", "state of ten times the memory budget raised nothing, though SPILLS is not declared.")


def beyond_the_budget(bench: Bench) -> None:
    live = bench.fresh(memory_bytes=BUDGET_BYTES)
    for number in range(400):
        live.put("value", GROUP + number % 2, b"", [(b"%03d" % number, b"%d" % number * 600)])
    bench.hit("beyond-the-budget")
    live.compare()
    completed = bench.checkpoint(live)
    backend = bench.backend(bench.factory, memory_bytes=BUDGET_BYTES)
    bench.step(f"restore({completed.checkpoint}) into a budget of {BUDGET_BYTES} bytes")
    backend.restore(completed.parts, bench.storage().streams(completed.checkpoint, EPOCH), claimed=True)
    bench.adopt(backend, GROUPS, completed.model).compare()


CHECKS = (
    Check("SBK-01/many-keys", f"{MANY} keys are kept, changed and removed, and come back.", keys),
    Check("SBK-02/many-changes", f"{NAMESPACES} changes between two checkpoints are in the second.", changes),
    Check(
        "SBK-01/lengths", "Keys, values and namespaces at the declared limit, and one byte above.", lengths,
        windows=("a-declared-limit",),
    ),
    Check(
        "SBK-01/timer-lengths", "Timers at the declared limits, and one byte above.", timer_lengths,
        frozenset({Flag.TIMERS}), ("a-declared-limit",),
    ),
    Check(
        "SBK-01/merged-length", "A merge may make a value of the declared limit, and nothing longer.", merged_length,
        frozenset({Flag.MERGE}), ("a-declared-limit",),
    ),
    Check("SBK-01/full-budget", "A full budget raises Full, keeps what is there, and empties again.", budget,
          windows=("a-full-budget",)),
    Check("SBK-01/emptied-budget", "What is cleared, removed, written over or fired gives its room back.",
          emptied_budget, windows=("a-full-budget",)),
    Check("SBK-01/restored-budget", "What was restored counts in the budget.", restored_budget,
          windows=("a-full-budget",)),
    Check("SBK-08/spills", "State of ten times the budget works, and is restored within it.", beyond_the_budget,
          frozenset({Flag.SPILLS}), ("beyond-the-budget",)),
)  # fmt: skip
