"""SBK-04: what does not fit is refused by name, and what migrates does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from holdfast.harness.spi.errors import Incompatible
from holdfast.harness.spi.state import Convert, Flag, KeyedStateBackend, StateDescriptor, StateKind, StateTable
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUP, GROUPS, MAX_PARALLELISM, Bench, Completed
from holdfast.suites.certify.state_backend.live import TTL_MS
from holdfast.suites.certify.state_backend.model import element

STORED = StateDescriptor(name="kept", kind=StateKind.VALUE, key_format="int", value_format="text", version=2)
STORED_KEYS = (b"a", b"empty", b"k")
MIGRATES = frozenset({Flag.MIGRATES})


def incompatible(bench: Bench) -> None:
    completed = _stored(bench)
    for what, wanted, convert in (
        ("another kind", replace(STORED, kind=StateKind.MAP), None),
        ("another key format", replace(STORED, key_format="long"), None),
        ("another value format", replace(STORED, value_format="blob"), None),
        ("a newer version that nothing converts", replace(STORED, version=3), None),
        ("an older version", replace(STORED, version=1), _convert),
    ):
        backend = _restored(bench, completed)
        _refused(bench, f"register {what}", STORED.name, _registering(backend, wanted, convert))
        value = backend.table(STORED).get(GROUP, b"", [b"k"], now_ms=bench.now_ms)
        if list(value) != [_value(b"k")]:
            raise Violation(
                "SBK-04", f"state behind a refused registration is {list(value)}; [{_value(b'k')!r}] is right."
            )
    if Flag.TTL in bench.flags:
        backend = _restored(bench, completed)
        wanted = replace(STORED, ttl_ms=5)
        _refused(bench, "register with a time to live", STORED.name, _registering(backend, wanted, None))


def of_another_job(bench: Bench) -> None:
    completed = _stored(bench)
    [part] = completed.parts
    for what, named, changed in (
        ("format", "other-9", replace(part, format="other-9")),
        ("max_parallelism", str(2 * MAX_PARALLELISM), replace(part, max_parallelism=2 * MAX_PARALLELISM)),
    ):
        backend = bench.backend(bench.factory)
        streams = bench.storage().streams(1, EPOCH)
        restore = partial(backend.restore, [changed], streams, claimed=True)
        _refused(bench, f"restore what has another {what}", named, restore)


def same_again(bench: Bench) -> None:
    live = bench.fresh()
    first = live.backend.table(STORED)
    first.put(GROUP, b"", [(b"k", b"v")], now_ms=0)
    if list(live.backend.table(STORED).get(GROUP, b"", [b"k"], now_ms=0)) != [b"v"]:
        raise Violation("SBK-04", "a second registration by an equal descriptor is not the same state.")
    try:
        live.backend.table(replace(STORED, version=3))
    except RuntimeError:
        return
    raise Violation("SBK-04", "a second registration by another descriptor raised nothing; RuntimeError is right.")


def under_a_snapshot(bench: Bench) -> None:
    """A snapshot is open that was taken before the registration: it holds what was stored, by its old descriptors."""
    completed = _stored(bench)
    live = bench.restored(completed, register=())
    taken = live.snapshot()
    newer = [replace(each, value_format="tagged", version=5) for each in _kept(bench)]
    bench.step("register version 5 with a function that converts version 2, while that snapshot is open")
    for each in newer:
        live.migrate(each, _convert)
    live.compare()
    first = bench.complete(live, taken, bench.upload(taken), retain=9)
    bench.restored(first, register=_kept(bench)).compare()
    bench.restored(bench.checkpoint(live, retain=9), register=newer).compare()


def refusing_function(bench: Bench) -> None:
    """One value cannot be converted, and others can: a function that works finds all of them as they were stored."""

    def convert(version: int, value: bytes) -> bytes:
        if value == b"":
            raise Incompatible(f"version {version} of an empty value is not known.")
        return _convert(version, value)

    completed = _stored(bench)
    newer = replace(STORED, value_format="tagged", version=5)
    now_ms = bench.now_ms
    for wanted, good in ((STORED, None), (newer, _convert)):
        backend = _restored(bench, completed)
        bench.step("register version 5 with a function that refuses one of the values")
        table: StateTable | None = None
        try:
            table = backend.table(newer, convert=convert)
            table.get(GROUP, b"", STORED_KEYS, now_ms=now_ms)
        except Incompatible as error:
            bench.step(f"    {error}")
        else:
            raise Violation("SBK-04", "what converts a value raised Incompatible, and neither table() nor get() did.")
        if table is None:
            bench.step(f"register version {wanted.version}")
            table, keys = backend.table(wanted, convert=good), list(STORED_KEYS)
        else:  # It converts what is read, when it is read.
            wanted, keys = newer, [key for key in STORED_KEYS if key != b"empty"]
        found = [value for key in keys for value in table.get(GROUP, b"", [key], now_ms=now_ms)]
        right = [_value(key) if wanted is STORED else _convert(STORED.version, _value(key)) for key in keys]
        if found != right:
            raise Violation(
                "SBK-04", f"behind a function that raised, values are {found}; {right} is right: all of them, or none."
            )


def refusing_somewhere(bench: Bench) -> None:
    """What cannot be converted is in the first, the second or the last key group: values elsewhere are found as they
    were stored, or, by who converts them when they are read, as converted."""
    wide = replace(STORED, name="wide")
    newer = replace(wide, value_format="tagged", version=5)
    stored = {
        (key_group, namespace): element(b"%d/" % key_group + namespace)
        for key_group in GROUPS
        for namespace in (b"", b"n")
    }
    live = bench.fresh()
    live.register([wide])
    for (key_group, namespace), value in stored.items():
        live.put("wide", key_group, namespace, [(b"%d" % number, value) for number in range(3)])
    completed = bench.checkpoint(live)
    for bad in [list(stored)[at] for at in (0, 3, -2, -1)]:
        bench.step(f"register version 5 with a function that refuses what is in key group {bad[0]}, {bad[1]!r}")
        backend = _restored(bench, completed)
        try:
            table = backend.table(newer, convert=partial(_convert_but, stored[bad]))
        except Incompatible as error:
            bench.step(f"    {error}")
            table, right = backend.table(wide), stored
        else:
            right = {place: _convert(wide.version, value) for place, value in stored.items() if place != bad}
        for (key_group, namespace), value in right.items():
            found = list(table.get(key_group, namespace, [b"0", b"1", b"2"], now_ms=bench.now_ms))
            live.same(f"key group {key_group}, {namespace!r} behind a function that raised", found, [value] * 3)


def other_ttl(bench: Bench) -> None:
    """A longer one and a shorter one: what is stored keeps its expiry, and what is written has the new one."""
    live = bench.fresh()
    live.put("mortal", GROUP, b"", [(b"stored", b"1"), (b"again", b"1")])
    completed = bench.checkpoint(live)
    mortal = live.model.descriptors["mortal"]
    ends_ms = {bench.now_ms + TTL_MS}
    bench.now_ms += TTL_MS // 4
    lives = []
    for ttl_ms in (TTL_MS * 3, TTL_MS // 2):
        bench.step(f"register with the time to live {ttl_ms} ms in place of {TTL_MS} ms")
        other = [replace(mortal, ttl_ms=ttl_ms)]
        life = bench.restored(completed, register=other)
        life.put("mortal", GROUP, b"", [(b"again", b"2"), (b"new", b"2")])
        ends_ms.add(bench.now_ms + ttl_ms)
        lives += [life, bench.restored(bench.checkpoint(life, retain=3), register=other)]
    for bench.now_ms in sorted(end_ms + passed_ms for end_ms in ends_ms for passed_ms in (-1, 0)):
        for life in lives:
            life.compare()
    bench.hit("expired")


def _convert(version: int, value: bytes) -> bytes:
    return element(b"from %d" % version) + value


def _convert_but(refused: bytes, version: int, value: bytes) -> bytes:
    if value == refused:
        raise Incompatible(f"version {version} of {value!r} is not known.")
    return _convert(version, value)


def _value(key: bytes) -> bytes:
    """As it is stored."""
    return b"" if key == b"empty" else element(b"v2")


def _kept(bench: Bench) -> Sequence[StateDescriptor]:
    """What is stored: one state, and those like it that the backend can have."""
    others = (
        replace(STORED, name="kept-list", kind=StateKind.LIST) if Flag.MERGE in bench.flags else None,
        replace(STORED, name="kept-mortal", ttl_ms=TTL_MS) if Flag.TTL in bench.flags else None,
    )
    return [STORED, *(each for each in others if each is not None)]


def _stored(bench: Bench) -> Completed:
    live = bench.fresh()
    states = _kept(bench)
    live.register(states)
    for state in (each.name for each in states):
        live.put(state, GROUP, b"", [(key, _value(key)) for key in STORED_KEYS])
        live.put(state, GROUP, b"n", [(b"k", _value(b"k"))])
    taken = live.snapshot()
    return bench.complete(live, taken, bench.upload(taken), retain=9)


def _restored(bench: Bench, completed: Completed) -> KeyedStateBackend:
    backend = bench.backend(bench.factory)
    bench.step(f"restore({completed.checkpoint})")
    backend.restore(completed.parts, bench.storage().streams(completed.checkpoint, EPOCH), claimed=True)
    return backend


def _registering(
    backend: KeyedStateBackend, descriptor: StateDescriptor, convert: Convert | None
) -> Callable[[], object]:
    return lambda: backend.table(descriptor, convert=convert)


def _refused(bench: Bench, what: str, named: str, call: Callable[[], object]) -> None:
    bench.step(what)
    try:
        call()
    except Incompatible as error:
        if named not in str(error):
            raise Violation("SBK-04", f"{what}: Incompatible does not name {named!r}: {error}") from error
    else:
        raise Violation("SBK-04", f"{what}: it raised nothing; Incompatible is right.")


CHECKS = (
    Check("SBK-04/incompatible", "Another kind, format or older version is refused by name.", incompatible),
    Check("SBK-04/of-another-job", "Another format or maximum parallelism is refused by name.", of_another_job),
    Check("SBK-04/registered-twice", "Equal descriptors share their state; others are refused.", same_again),
    Check(
        "SBK-04/under-a-snapshot",
        "A snapshot that was taken before it holds values as they were stored.",
        under_a_snapshot,
        MIGRATES,
    ),
    Check(
        "SBK-04/refusing-function",
        "Behind a function that refuses a value, none is converted.",
        refusing_function,
        MIGRATES,
    ),
    Check(
        "SBK-04/refusing-somewhere",
        "The same, wherever that value is.",
        refusing_somewhere,
        MIGRATES,
    ),
    Check(
        "SBK-04/other-ttl",
        "Another time to live holds for what is written, and not for what is stored.",
        other_ttl,
        frozenset({Flag.TTL}),
        ("expired",),
    ),
)
