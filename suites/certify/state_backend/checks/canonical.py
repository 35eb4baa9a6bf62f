"""SBK-06: the canonical form is what the contract says, and moves state between backends."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.state import Flag, StateDescriptor, StateEntry, StateKind
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill
from holdfast.suites.certify.state_backend.live import Taken, ascending

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
    ascending(entries)
    return entries


CHECKS = (
    Check("SBK-06/another-backend", "State moves into another backend and back.", into_another, CANONICAL,
          ("moved-to-another-backend",)),
    Check("SBK-06/refused-entries", "Entries that cannot be restored leave nothing.", refused, CANONICAL),
)  # fmt: skip
