"""SBK-04: what does not fit is refused by name, and what migrates does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from holdfast.harness.spi.errors import Incompatible
from holdfast.harness.spi.state import Convert, Flag, KeyedStateBackend, StateDescriptor, StateKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, MAX_PARALLELISM, Bench, Completed

GROUP = GROUPS.start
STORED = StateDescriptor(name="kept", kind=StateKind.VALUE, key_format="int", value_format="text", version=2)


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
        if list(value) != [b"v2"]:
            raise Violation("SBK-04", f"state behind a refused registration is {list(value)}; [b'v2'] is right.")
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


def migration(bench: Bench) -> None:
    completed = _stored(bench)
    backend = _restored(bench, completed)
    newer = replace(STORED, value_format="tagged", version=5)
    bench.step("register version 5 with a function that converts version 2")
    table = backend.table(newer, convert=_convert)
    found = list(table.get(GROUP, b"", [b"k", b"empty", b"missing"], now_ms=bench.now_ms))
    scanned = list(table.scan(GROUP, b"", now_ms=bench.now_ms))
    wanted = [b"from 2: v2", b"from 2: ", None]
    if found != wanted or scanned != [(b"empty", wanted[1]), (b"k", wanted[0])]:
        raise Violation("SBK-04", f"migrated values are {found} and {scanned}; {wanted} is right.")
    table.put(GROUP, b"", [(b"new", b"written as 5")], now_ms=bench.now_ms)
    live = bench.adopt(backend, GROUPS, completed.model, register=False)
    again = bench.checkpoint(live)
    table = _restored(bench, again).table(newer)
    found = list(table.get(GROUP, b"", [b"k", b"empty", b"new"], now_ms=bench.now_ms))
    if found != [*wanted[:2], b"written as 5"]:
        raise Violation("SBK-04", f"migrated values, restored as version 5, are {found}: they were converted again.")


def _convert(version: int, value: bytes) -> bytes:
    return b"from %d: %s" % (version, value)


def _stored(bench: Bench) -> Completed:
    live = bench.fresh()
    live.register([STORED])
    live.put(STORED.name, GROUP, b"", [(b"k", b"v2"), (b"empty", b"")])
    taken = live.snapshot()
    return bench.complete(live, taken, bench.upload(taken), retain=5)


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
    Check("SBK-04/migration", "Values of an older version are converted once.", migration, frozenset({Flag.MIGRATES})),
)
