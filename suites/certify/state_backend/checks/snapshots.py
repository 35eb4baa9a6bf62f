"""SBK-02, SBK-03, ASY, REC-09: snapshots are views of their moment, and a restore renews no time to live.

A dead attempt changes nothing. What is closed holds nothing: threads of Python, open files and sockets, children.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial
from threading import get_ident
from typing import NamedTuple

from holdfast.fixtures.storages.in_memory import StorageFault
from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.state import Flag, SnapshotKind, StateDescriptor, StateKind, Timer
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.children_and_threads import children
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUP, GROUPS, Bench, Completed, never
from holdfast.suites.certify.state_backend.checks.increments import checkpointed
from holdfast.suites.certify.state_backend.live import NAMESPACES, TTL_MS, Live, change, change_everything, fill
from holdfast.suites.certify.state_backend.model import Model

LIVES = 3
"""So many are closed behind the first one, which may leave what the process keeps for all of them."""
PATIENCE_S = 5.0
"""How long threads that were told to end may take to do so, together."""


class Held(NamedTuple):
    """How many of each there are.

    Attributes:
        threads: that run Python.
        files: open files and sockets.
        children: processes.
    """

    threads: int
    files: int
    children: int


def held() -> Held:
    """What this process holds now."""
    gc.collect()
    return Held(len(sys._current_frames()), len(os.listdir("/proc/self/fd")), len(children()))


def require_given_back(rule: str, closed: str, live: Callable[[], object]) -> None:
    """Several lives that are closed hold no more than one.

    Args:
        rule: that is broken by one that does.
        closed: what was closed, in words.
        live: one life, which ends with its `close`; what it returns is kept, so that nothing is freed by chance.

    Raises:
        Violation: of the rule.
    """
    kept = [live()]
    first, known = held(), set(threading.enumerate())
    kept += [live() for _ in range(LIVES)]
    _await_threads(known)
    now = held()
    # Not by number: a thread of the first life may have ended since, and another have been left in its place.
    now = now._replace(threads=max(now.threads, first.threads + len(set(threading.enumerate()) - known)))
    for kind, one, several in zip(Held._fields, first, now, strict=True):
        if several >= one + LIVES:
            raise Violation(
                rule,
                f"close() of {LIVES} {closed} left {several - one} {kind} behind: {one} were there before them, and "
                f"{several} are there now; {one} is right.",
            )
    del kept


def _await_threads(known: set[threading.Thread]) -> None:
    """Where each life may have left one, let them come to their ends, for a moment. What does not end is counted."""
    new = set(threading.enumerate()) - known
    if len(new) < LIVES:
        return
    for thread in new:
        thread.join(PATIENCE_S / len(new))


def late_upload(bench: Bench) -> None:
    """The upload of a dead attempt stands still in its middle while its successor restores, works and completes."""
    dead = bench.fresh()
    fill(dead)
    completed = checkpointed(bench, dead)
    change_everything(dead)
    lost = dead.snapshot()
    streams = bench.storage().streams(lost.checkpoint, EPOCH)
    bench.step(f"upload({lost.checkpoint}) begins on the upload thread, and stands still")
    bench.thread.start(lambda: lost.snapshot.upload(streams, never))
    if not bench.thread.done:
        bench.hit("stood-still")
    bench.pending.discard(lost.checkpoint)
    live = bench.restored(completed)
    fill(live, b"successor")
    taken = live.snapshot()
    bench.step("it goes on to its end")
    bench.thread.finish()
    bench.check_threads()
    live.compare()
    own = bench.complete(live, taken, bench.upload(taken))
    bench.restored(own).compare(drain_timers=True)
    bench.sweep(lost.checkpoint)
    bench.restored(own).compare(drain_timers=True)


def closed(bench: Bench) -> None:
    """Lives that wrote, stored, failed to store and restored; scans and snapshots are open when they are closed."""

    def life() -> Live:
        live = bench.fresh()
        fill(live)
        checkpointed(bench, live)
        live.scan("value", GROUPS.start, b"").take(1)
        taken = live.snapshot()
        try:
            bench.upload(taken, bench.storage({0: StorageFault.ERROR}))
        except Transient as error:
            bench.step(f"    {error}")
        restored = bench.restored(bench.completed[-1])
        restored.compare()
        restored.snapshot()
        for each in (live, restored):
            each.close()
        bench.pending.clear()
        return restored

    require_given_back("ASY-06", "backends", life)


TTL = frozenset({Flag.TTL})


def over_a_restore(bench: Bench) -> None:
    """Also of a value that is put again as it was: nothing but its time is new."""
    live = bench.fresh()
    live.put("mortal", GROUP, b"", [(b"a", b"1"), (b"gone", b"1"), (b"same", b"1")])
    bench.checkpoint(live)
    bench.now_ms += TTL_MS // 2
    live.put("mortal", GROUP, b"", [(b"b", b"2"), (b"same", b"1")])
    taken = live.snapshot()
    bench.now_ms += TTL_MS // 4
    live.put("mortal", GROUP, b"", [(b"a", b"written later")])
    completed = bench.complete(live, taken, bench.upload(taken))
    restored = bench.restored(completed)
    restored.compare()
    bench.now_ms += TTL_MS // 4
    bench.hit("expired")
    restored.compare()
    bench.now_ms += TTL_MS // 2
    restored.compare()


def unregistered(bench: Bench) -> None:
    """Over two lives in which nothing, or everything else, is registered."""
    others = [each for each in bench.states if each.ttl_ms is None]
    for registered in ((), others):
        live = bench.fresh()
        live.put("mortal", GROUP, b"", [(b"a", b"1"), (b"b", b"1")])
        completed = bench.checkpoint(live)
        for _ in range(2):
            bench.now_ms += TTL_MS // 4
            completed = bench.checkpoint(bench.restored(completed, register=registered))
        restored = bench.restored(completed)
        restored.compare()
        bench.now_ms += TTL_MS // 2
        bench.hit("expired")
        restored.compare()


ASYNCHRONOUS = frozenset({Flag.ASYNC_SNAPSHOT})


def cancelled(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    for after in (0, 1, 2, 3):
        taken = live.snapshot()
        streams = bench.storage().streams(taken.checkpoint, EPOCH)
        asked = _Asked(after)
        manifest = None
        bench.step(f"upload({taken.checkpoint}), cancelled at question {after}")
        try:
            manifest = bench.elsewhere(partial(taken.snapshot.upload, streams, asked))
        except CancelledError:
            bench.hit("cancelled")
            left = sorted(bench.storage().list_folder("shared"))
            if left:
                raise Violation("ASY-05", f"a cancelled upload left {left} in the shared scope.") from None
        if not asked.times and (manifest is None or manifest.handles):
            raise Violation("ASY-05", "upload never asks whether it is cancelled.")
        bench.abort(live, taken, manifest)
        taken.snapshot.release()
        bench.check_leaks("ASY-05")


class _Asked:
    """Whether a checkpoint is cancelled: from some question on."""

    def __init__(self, after: int) -> None:
        self._after = after
        self.times = 0

    def __call__(self) -> bool:
        self.times += 1
        return self.times > self._after


def savepoint(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    before = live.snapshot()
    bench.complete(live, before, bench.upload(before))
    _stands_alone(bench, live)  # Nothing has changed since.
    change_everything(live)
    completed = _stands_alone(bench, live)
    fill(live, b"behind")
    bench.restored(completed, claimed=False).compare(drain_timers=True)


def _stands_alone(bench: Bench, live: Live) -> Completed:
    """A savepoint of now, which completes."""
    taken = live.snapshot(SnapshotKind.SAVEPOINT)
    return bench.complete(live, taken, bench.upload(taken))


def released(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    taken = live.snapshot()
    taken.snapshot.release()
    _refuses(bench, "upload behind release", lambda: bench.upload(taken))
    if Flag.CANONICAL in bench.flags:
        _refuses(bench, "entries behind release", lambda: bench.elsewhere(lambda: list(taken.snapshot.entries())))
    other = live.snapshot()
    table = live.table("value")
    scan = table.scan(GROUPS.start, b"", now_ms=bench.now_ms)
    next(scan)
    live.close()
    live.close()
    calls: dict[str, Callable[[], object]] = {
        "upload": lambda: bench.upload(other),
        "the rest of a scan": lambda: list(scan),
        "get": lambda: table.get(GROUPS.start, b"", [b"k"], now_ms=bench.now_ms),
        "put": lambda: table.put(GROUPS.start, b"", [(b"k", b"v")], now_ms=bench.now_ms),
        "remove": lambda: table.remove(GROUPS.start, b"", [b"k"]),
        "scan": lambda: list(table.scan(GROUPS.start, b"", now_ms=bench.now_ms)),
        "namespaces": lambda: table.namespaces(GROUPS.start),
        "clear": lambda: table.clear(GROUPS.start, b""),
        "snapshot": lambda: live.backend.snapshot(1_000),
        "table": lambda: live.backend.table(bench.states[0]),
    }
    if Flag.TIMERS in bench.flags:
        timers = live.timer_service("event-timers")
        calls |= {
            "register": lambda: timers.register([Timer(1, GROUPS.start, b"", b"k")]),
            "delete": lambda: timers.delete([Timer(1, GROUPS.start, b"", b"k")]),
            "first": timers.first,
            "poll": lambda: timers.poll(1, 1),
        }
    for what, call in calls.items():
        _refuses(bench, f"{what} behind close", call)
    live.backend.describe()


def ascending(bench: Bench) -> None:
    """The same number, and a smaller one: in the life that took it, and in one that restored it."""
    live = bench.fresh()
    fill(live)
    taken = live.snapshot(checkpoint=7)
    completed = bench.complete(live, taken, bench.upload(taken))
    for where, life in (("behind snapshot(7)", live), ("behind a restore of 7", bench.restored(completed))):
        for checkpoint in (7, 6):
            bench.step(f"snapshot({checkpoint}) {where}")
            try:
                life.backend.snapshot(checkpoint)
            except RuntimeError:
                continue
            raise Violation(
                "SBK-02",
                f"checkpoint 7 is there, and snapshot({checkpoint}) {where} raised nothing; RuntimeError is right.",
            )
        life.compare()


def _refuses(bench: Bench, what: str, call: Callable[[], object]) -> None:
    bench.step(what)
    try:
        call()
    except RuntimeError:
        return
    raise Violation("SBK-02", f"{what} raised nothing; RuntimeError is right.")


def registered_during(bench: Bench) -> None:
    """States that are registered between a snapshot and its upload are in the next one."""
    live = bench.adopt(bench.backend(bench.factory), GROUPS, Model(), register=False)
    first, *others = bench.states
    live.register([first])
    change(live, first.name, GROUPS.start, NAMESPACES[0], 0, b"first")
    taken = live.snapshot()
    bench.step(f"{', '.join(each.name for each in others)} are registered")
    live.register(others)
    for descriptor in others:
        change(live, descriptor.name, GROUPS.start, NAMESPACES[0], 0, b"later")
    completed = bench.complete(live, taken, bench.upload(taken))
    described = {each.name for part in completed.parts for each in part.descriptors}
    if described != {first.name}:
        raise Violation(
            "SBK-02",
            f"the manifest of checkpoint {taken.checkpoint} describes {sorted(described)}; only {first.name!r} was "
            "registered at its snapshot.",
        )
    bench.restored(completed).compare()
    live.compare()


def threads(bench: Bench) -> None:
    """What the caller hands in is called on the task thread, also while an upload runs."""
    live = bench.fresh()
    seen: set[int] = set()

    def reduce(old: bytes, new: bytes) -> bytes:
        seen.add(get_ident())
        return old + new

    table = live.backend.table(StateDescriptor(name="folded", kind=StateKind.REDUCING), reduce)
    for number in range(20):
        table.merge(live.groups.start, b"", [(b"%d" % (number % 3), b"x")], now_ms=0)
    taken = live.snapshot()
    table.merge(live.groups.start, b"", [(b"0", b"y")], now_ms=0)
    bench.upload(taken)
    table.get(live.groups.start, b"", [b"0"], now_ms=0)
    bench.check_threads()
    if seen != {get_ident()}:
        raise Violation("ASY-01", f"a function ran on {len(seen)} threads; the task thread is right.")


CHECKS = (
    Check("SBK-02/unregistered-expiry", "Nor does one by which nobody has registered it.", unregistered, TTL,
          ("expired",)),
    Check("SBK-02/expiry", "A restore keeps the time that is left.", over_a_restore, TTL, ("expired",)),
    Check("SBK-02/registered-during", "A state that is registered during an upload is not in it.", registered_during),
    Check("SBK-02/savepoint", "A savepoint stands alone.", savepoint),
    Check("SBK-02/released", "Released snapshots and closed backends are of no use, and say so.", released),
    Check("SBK-02/ascending", "Numbers of checkpoints ascend, behind a restore, too.", ascending),
    Check("ASY-01/threads", "Functions of the caller run on the task thread alone.", threads, frozenset({Flag.MERGE})),
    Check("ASY-05/cancelled", "A cancelled upload leaves no shared file.", cancelled, windows=("cancelled",)),
    Check("REC-09/late-upload", "What a dead attempt stores late changes nothing for its successor.", late_upload,
          frozenset({Flag.ASYNC_SNAPSHOT}), ("stood-still",)),
    Check("ASY-06/closed", "What is closed leaves no thread, no open file and no child.", closed),
)  # fmt: skip
