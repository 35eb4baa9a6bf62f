"""SBK-06: the canonical form is what the contract says, and moves state between backends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.state import Flag, StateDescriptor, StateEntry, StateKind
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill
from holdfast.suites.certify.state_backend.live import Live, Taken
from holdfast.suites.certify.state_backend.model import Model

CANONICAL = frozenset({Flag.CANONICAL})
OF_STATE = CANONICAL | {Flag.MERGE, Flag.TIMERS, Flag.TTL}
"""What a backend needs in order to hold the state of another one."""


def form(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    bench.now_ms += 60
    taken = live.snapshot()
    change_everything(live)
    entries = read(bench, taken)
    bench.now_ms += 60
    alive = [each for each in entries if not 0 <= each.expires_ms <= bench.now_ms]
    live.same("the canonical form", alive, taken.model.entries(bench.now_ms))
    found = [each.name for each in taken.snapshot.descriptors()]
    live.same("its descriptors", found, sorted(each.name for each in bench.states))


def lazily(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    taken = live.snapshot()
    found: list[StateEntry] = []
    entries: Iterator[StateEntry] = bench.thread.run(lambda: iter(taken.snapshot.entries()))
    while (entry := bench.thread.run(lambda: next(entries, None))) is not None:
        found.append(entry)
        if len(found) % 7 == 1:
            bench.step(f"{len(found)} entries were taken on the upload thread")
            bench.hit("entries-overlapped-a-write")
            fill(live, b"%d" % len(found))
            change_everything(live)
    live.same("the canonical form, read while the task wrote,", found, taken.model.entries(bench.now_ms))


def into_this_one(bench: Bench) -> None:
    model = made(bench)
    backend = bench.backend(bench.factory)
    bench.step("restore_entries of what the kit wrote, in another order, with key groups of others")
    foreign = StateEntry("value", GROUPS.stop, b"", b"k", b"of another subtask")
    entries = [*model.entries(bench.now_ms), foreign]
    backend.restore_entries(
        [*model.descriptors.values()], iter(sorted(entries, key=lambda each: each.key + each.value))
    )
    restored = bench.adopt(backend, GROUPS, model)
    restored.compare()
    taken = restored.snapshot()
    restored.same("the canonical form of it", read(bench, taken), model.entries(bench.now_ms))
    completed = bench.complete(restored, taken, bench.upload(taken))
    change_everything(restored)
    bench.restored(completed).compare(drain_timers=True)


def into_another(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    taken = live.snapshot()
    entries = read(bench, taken)
    other = bench.backend(bench.other)
    theirs = other.describe()
    if lacking := sorted((bench.flags & OF_STATE) - theirs.flags):
        raise CannotTry(f"the other backend, {theirs.name}, does not declare {', '.join(lacking)}")
    bench.step(f"restore_entries into {theirs.name}")
    bench.hit("moved-to-another-backend")
    other.restore_entries(taken.snapshot.descriptors(), iter(entries))
    moved = bench.adopt(other, GROUPS, taken.model)
    change_everything(moved)
    moved.compare()
    again = moved.snapshot()
    back = bench.backend(bench.factory)
    back.restore_entries(again.snapshot.descriptors(), iter(read(bench, again)))
    returned = bench.adopt(back, GROUPS, again.model)
    returned.compare(drain_timers=True)


def refused(bench: Bench) -> None:
    class Gone(Exception):
        pass

    def broken() -> Iterator[StateEntry]:
        yield StateEntry("value", GROUPS.start, b"", b"half", b"restored")
        raise Gone

    value = StateDescriptor(name="value", kind=StateKind.VALUE)
    backend = bench.backend(bench.factory)
    for what, entries, error in (
        ("of a state without descriptor", iter([StateEntry("unknown", GROUPS.start, b"", b"k", b"v")]), Damaged),
        ("that break off", broken(), Gone),
    ):
        bench.step(f"restore_entries {what}")
        try:
            backend.restore_entries([value], entries)
        except error:
            continue
        raise Violation("SBK-06", f"entries {what} raised nothing; {error.__name__} is right.")
    backend.restore_entries([value], iter([StateEntry("value", GROUPS.start, b"", b"k", b"v")]))
    table = backend.table(value)
    if found := [pair for pair in table.scan(GROUPS.start, b"", now_ms=0) if pair != (b"k", b"v")]:
        raise Violation("SBK-06", f"what is left of restores that raised is {found}; nothing is right.")


def read(bench: Bench, taken: Taken) -> list[StateEntry]:
    """The canonical form, read on the upload thread; ascending."""
    bench.step(f"entries of {taken.checkpoint}")
    entries: list[StateEntry] = bench.elsewhere(lambda: list(taken.snapshot.entries()))
    for before, after in pairwise(entries):
        if not before < after:
            raise Violation("SBK-06", f"entries are not ascending: {before} comes before {after}.")
    return entries


def made(bench: Bench) -> Model:
    """State that the kit made without any backend."""
    live = Live(bench, "model", _Nothing(), GROUPS, Model())  # type: ignore[arg-type]
    live.register(bench.states)
    fill(live)
    return live.model


class _Nothing:
    """Stands where a backend does, and for its tables and timers: what is done to it goes to the model alone."""

    def table(self, descriptor: StateDescriptor, reduce: object = None, convert: object = None) -> _Nothing:
        return self

    def timers(self, descriptor: StateDescriptor) -> _Nothing:
        return self

    def put(self, *ignored: object, now_ms: int) -> None:
        pass

    merge = put

    def register(self, timers: list[object]) -> int:
        return len(timers)


CHECKS = (
    Check("SBK-06/form", "Entries are ascending, complete, and as the contract lays them out.", form, CANONICAL),
    Check("SBK-06/lazily", "Entries show their moment, whatever the task writes meanwhile.", lazily,
          CANONICAL | {Flag.ASYNC_SNAPSHOT}, ("entries-overlapped-a-write",)),
    Check("SBK-06/from-entries", "What the kit wrote in canonical form is restored.", into_this_one, CANONICAL),
    Check("SBK-06/another-backend", "State moves into another backend and back.", into_another, CANONICAL,
          ("moved-to-another-backend",)),
    Check("SBK-06/refused-entries", "Entries that cannot be restored leave nothing.", refused, CANONICAL),
)  # fmt: skip
