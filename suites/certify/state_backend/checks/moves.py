"""SBK-05, SBK-06: each key group goes to its owner; the canonical form is right, and moves between backends."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.state import Flag, StateDescriptor, StateEntry, StateKind
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, Bench
from holdfast.suites.certify.state_backend.live import Taken, ascending, change_everything, fill

CANONICAL = frozenset({Flag.CANONICAL})
OF_STATE = CANONICAL | {Flag.MERGE, Flag.TIMERS, Flag.TTL}
"""What a backend needs in order to hold the state of another one."""


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


def failed_restores(bench: Bench) -> None:
    """A restore that raises leaves nothing in the backend."""

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
    ascending(entries)
    return entries


ALL = range(12)
WIDTHS = (1, 3, 2, 4, 1)
"""Of the same job, one after the other."""


def scaling(bench: Bench) -> None:
    lives = [bench.fresh(ALL)]
    fill(lives[0])
    for number, width in enumerate(WIDTHS[1:]):
        checkpoint = bench.next_checkpoint()
        taken = [live.snapshot(checkpoint=checkpoint) for live in lives]
        manifests = [bench.upload(each) for each in taken]
        completed = bench.complete_all(list(zip(lives, taken, manifests, strict=True)))
        bounds = [len(ALL) * index // width for index in range(width + 1)]
        lives = [
            bench.restored(completed, range(bounds[index], bounds[index + 1]), subtask=index) for index in range(width)
        ]
        bench.hit("rescaled")
        for live in lives:
            live.compare()
            change_everything(live)
            fill(live, b"%d" % number)
    for live in lives:
        live.compare(drain_timers=True)


def gaps(bench: Bench) -> None:
    live = bench.fresh(ALL)
    fill(live)
    completed = bench.checkpoint(live)
    [part] = completed.parts
    for what, *bounds in (
        ("without the last key group", (0, 11)),
        ("without the first key group", (1, 12)),
        ("without one between two parts", (0, 5), (6, 12)),
        ("with one part twice", (0, 12), (0, 12)),
        ("with one part within another", (0, 12), (4, 5)),
        ("with one key group in no part and one in two", (0, 6), (5, 11)),
        ("with the first in no part, and one in two", (6, 12), (1, 7)),
        ("with two in no part, and two in two", (0, 4), (3, 5), (4, 8), (10, 12)),
    ):
        bench.step(f"restore {what}: parts of {bounds}")
        parts = [replace(part, first_key_group=first, end_key_group=end) for first, end in bounds]
        try:
            bench.backend(bench.factory, ALL).restore(parts, bench.storage().streams(1, EPOCH), claimed=True)
        except Damaged:
            continue
        raise Violation("SBK-05", f"a restore {what} raised nothing; Damaged is right.")


CHECKS = (
    Check("RSC-01/scaling", "Each key is in exactly one subtask, with its value, at each of them.", scaling,
          windows=("rescaled",)),
    Check("SBK-05/gaps", "A key group that is in no part, or in two, is Damaged.", gaps),
    Check("SBK-06/another-backend", "State moves into another backend and back.", into_another, CANONICAL,
          ("moved-to-another-backend",)),
    Check("SBK-06/refused-entries", "Entries that cannot be restored leave nothing.", failed_restores, CANONICAL),
)  # fmt: skip
