"""SBK-02, SBK-03, ASY: snapshots are views of their moment, each for itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial
from threading import get_ident

from holdfast.harness.spi.state import Flag, SnapshotKind, StateDescriptor, StateKind, Timer
from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, Bench, Completed, never, require_manifest
from holdfast.suites.certify.state_backend.checks.filling import NAMESPACES, change, change_everything, fill
from holdfast.suites.certify.state_backend.checks.increments import checkpointed
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.model import Model

ASYNCHRONOUS = frozenset({Flag.ASYNC_SNAPSHOT})


def round_trip(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    taken = live.snapshot()
    completed = bench.complete(live, taken, bench.upload(taken))
    taken.snapshot.release()
    taken.snapshot.release()
    live.close()
    restored = bench.restored(completed)
    restored.compare()
    change_everything(restored)
    restored.compare()
    bench.restored(completed).compare(drain_timers=True)


def empty(bench: Bench) -> None:
    live = bench.fresh()
    completed = bench.checkpoint(live)
    restored = bench.restored(completed)
    restored.compare()
    fill(restored)
    for state, table in ((each.name, restored.table(each.name)) for each in bench.states if "timers" not in each.name):
        for key_group in restored.groups:
            for namespace in list(table.namespaces(key_group)):
                restored.clear(state, key_group, namespace)
    completed = bench.checkpoint(restored)
    bench.restored(completed).compare(drain_timers=True)


def never_read(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    completed = bench.checkpoint(live)
    asleep = bench.restored(completed, register=())
    taken = asleep.snapshot()
    bench.step("nothing was registered in that life")
    completed = bench.complete(asleep, taken, bench.upload(taken))
    bench.restored(completed).compare(drain_timers=True)


def several_in_flight(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    first = live.snapshot()
    change_everything(live)
    second = live.snapshot()
    fill(live, b"salt")
    third = live.snapshot()
    change_everything(live)
    bench.hit("three-open-snapshots")
    manifests = {}
    for taken in (second, first):
        manifests[taken.checkpoint] = bench.upload(taken)
    second.snapshot.release()
    manifests[third.checkpoint] = bench.upload(third)
    for taken in (first, second, third):
        completed = bench.complete(live, taken, manifests[taken.checkpoint], retain=3)
        bench.restored(completed).compare(drain_timers=True)
    live.compare()


def fates_of_others(bench: Bench) -> None:
    """Others are confirmed, aborted, and released twice, each of it directly behind a snapshot; then all is written
    over. Nothing of that is in the snapshots that stay open, the oldest included."""
    live = bench.fresh()
    checkpointed(bench, live)
    fill(live)
    left = [live.snapshot()]
    change_everything(live)
    confirmed, aborted = live.snapshot(), live.snapshot()
    manifest = bench.upload(confirmed)
    fates: tuple[tuple[str, Callable[[], object]], ...] = (
        ("confirmed", lambda: bench.complete(live, confirmed, manifest, retain=3)),
        ("aborted", lambda: bench.abort(live, aborted)),
        ("released", aborted.snapshot.release),
        ("released again", aborted.snapshot.release),
        ("released behind its confirmation", confirmed.snapshot.release),
    )
    for fate, meet in fates:
        fill(live, fate.encode())
        left.append(live.snapshot())
        bench.step(f"another one is {fate}")
        meet()
        change_everything(live)
    for taken in left[::-1]:
        completed = bench.complete(live, taken, bench.upload(taken), retain=3)
        bench.restored(completed, claimed=False).compare(drain_timers=True)
    live.compare()


def only_one_left(bench: Bench) -> None:
    """Of two open snapshots one meets its fate, and is released three times; the other, older or newer, is then the
    only one, and nothing that is written then is in it."""
    live = bench.fresh()
    for confirmed in (False, True):
        for newer in (False, True):
            fill(live, b"%d" % len(bench.steps))
            left, other = (live.snapshot(), live.snapshot())[:: -1 if newer else 1]
            if confirmed:
                bench.complete(live, other, bench.upload(other), retain=3)
            else:
                bench.abort(live, other)
            for time in range(3):
                bench.step(f"release() of the snapshot of checkpoint {other.checkpoint}, time {time + 1}")
                other.snapshot.release()
            change_everything(live)  # Nothing was written between: what is shared with the snapshot still is.
            fill(live, b"%d" % len(bench.steps))
            completed = bench.complete(live, left, bench.upload(left), retain=3)
            left.snapshot.release()
            bench.restored(completed, claimed=False).compare(drain_timers=True)
    live.compare()


def isolation(bench: Bench) -> None:
    """With writes behind the upload's begin alone, and with writes before it, too."""
    live = bench.fresh()
    for written_before in (False, True):
        fill(live)
        _overlapped(bench, live, written_before=written_before)


def _overlapped(bench: Bench, live: Live, *, written_before: bool) -> None:
    taken = live.snapshot()
    if written_before:
        change_everything(live)
    streams = bench.storage().streams(taken.checkpoint, EPOCH)
    bench.step(f"upload({taken.checkpoint}) begins on the upload thread")
    bench.thread.start(lambda: taken.snapshot.upload(streams, never))
    if not bench.thread.done:
        bench.hit("snapshot-overlapped-a-write")
    change_everything(live)
    while not bench.thread.done:
        bench.step("the upload performs one operation of the storage")
        bench.thread.step()
        fill(live, b"%d" % len(bench.steps))
        change_everything(live)
    completed = bench.complete(live, taken, require_manifest(bench.thread.finish()))
    bench.check_threads()
    bench.restored(completed).compare(drain_timers=True)
    live.compare()


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
    manifest = bench.upload(taken)
    own = f"chk-{taken.checkpoint}/"
    for handle in manifest.handles:
        if handle.scope is not Scope.EXCLUSIVE or handle.reference is None or not handle.reference.path.startswith(own):
            raise Violation("SBK-02", f"a savepoint has {handle.name} in scope {handle.scope}: it is to stand alone.")
    return bench.complete(live, taken, manifest)


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


def dead_attempt(bench: Bench) -> None:
    """What an attempt wrote behind the last checkpoint dies with it, also where its folder does not."""
    live = bench.fresh()
    fill(live)
    completed = bench.checkpoint(live)
    for salt in (b"one", b"two"):
        fill(live, salt)
        change_everything(live)
        bench.step("the process ends, and nothing is closed")
        live = bench.restored(completed)
        live.compare()


def registered_later(bench: Bench) -> None:
    """One state more before each checkpoint, each of them before the others in the order of names."""
    live = bench.adopt(bench.backend(bench.factory), GROUPS, Model(), register=False)
    for descriptor in sorted(bench.states, key=lambda each: each.name, reverse=True):
        bench.step(f"{descriptor.name} is registered")
        live.register([descriptor])
        for key_group in GROUPS:  # It alone changes: what the others hold is in older files.
            for number, namespace in enumerate(NAMESPACES):
                change(live, descriptor.name, key_group, namespace, number, descriptor.name.encode())
        completed = bench.checkpoint(live)
        bench.restored(completed).compare()
    bench.restored(bench.completed[-1]).compare(drain_timers=True)


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
    Check("SBK-02/round-trip", "A restored backend holds what the snapshot held.", round_trip),
    Check("SBK-02/empty", "Empty state is restored as empty state.", empty),
    Check("SBK-02/never-read", "What was restored and never registered is in the next snapshot.", never_read),
    Check("SBK-02/registered-later", "A state that is registered between two checkpoints is in the second.",
          registered_later),
    Check("SBK-02/registered-during", "A state that is registered during an upload is not in it.", registered_during),
    Check("SBK-02/savepoint", "A savepoint stands alone.", savepoint),
    Check("SBK-02/released", "Released snapshots and closed backends are of no use, and say so.", released),
    Check("SBK-02/ascending", "Numbers of checkpoints ascend, behind a restore, too.", ascending),
    Check("REC-09/dead-attempt", "What a dead attempt wrote behind the last checkpoint is discarded.", dead_attempt),
    Check("SBK-03/in-flight", "Three open snapshots hold three states.", several_in_flight,
          windows=("three-open-snapshots",)),
    Check("SBK-03/fates-of-others", "What becomes of other snapshots changes nothing of an open one.", fates_of_others),
    Check("SBK-03/only-one-left", "Releases of another one, however many, count for that one alone.", only_one_left),
    Check("ASY-02/isolation", "What is written during an upload is not in it.", isolation, ASYNCHRONOUS,
          ("snapshot-overlapped-a-write",)),
    Check("ASY-01/threads", "Functions of the caller run on the task thread alone.", threads, frozenset({Flag.MERGE})),
    Check("ASY-05/cancelled", "A cancelled upload leaves no shared file.", cancelled, windows=("cancelled",)),
)  # fmt: skip
