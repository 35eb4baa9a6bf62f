"""INC: increments are small, rest on confirmed checkpoints alone, and neither lose nor leave a shared file."""

from __future__ import annotations

from functools import partial
from hashlib import shake_128

from msgspec.structs import replace

from holdfast.harness.spi.state import Flag, KeyedStateBackend, Manifest, SnapshotKind, StateContext
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench, Completed, paths_of, require_full
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill
from holdfast.suites.certify.state_backend.live import Live, Taken
from holdfast.suites.certify.state_backend.model import Model

GROUP = GROUPS.start
VALUES = 400
VALUE_BYTES = 100
SHARE = 2
"""An increment of one changed value in 400 has less than this fraction of the bytes of a full snapshot."""
OPERATORS = (
    *(("map-1", 0), ("map_1", 0), ("map.1", 0), ("Map-1", 0), ("map", 0), ("map1", 0), ("map1", 1)),
    *(("map-1", 1), ("map", 11), ("map-1-1", 1), ("map" * 50 + "1", 0), ("map" * 50 + "2", 0)),
)
"""Names and subtasks that are alike when signs are left out, or when they are written behind each other. All are
such as a file may be called by."""
INCREMENTAL = frozenset({Flag.INCREMENTAL})


def small_changes(bench: Bench) -> None:
    live = bench.fresh()
    for number in range(VALUES):
        value = shake_128(b"%d" % number).digest(VALUE_BYTES)  # Nothing makes it shorter.
        live.put("value", GROUPS[number % len(GROUPS)], b"", [(b"%d" % number, value)])
    full_bytes = _written(bench, live)
    for number in range(12):
        live.put("value", GROUP, b"", [(b"0", b"changed %d" % number)])
        written = _written(bench, live)
        if number == 0 and written * SHARE > full_bytes:
            raise Violation(
                "INC-01",
                f"behind a full snapshot of {full_bytes} bytes, one changed value of {VALUES} writes {written} bytes: "
                "what changed, and no more, is right.",
            )
    bench.restored(bench.completed[-1]).compare()


def aborted_behind(bench: Bench) -> None:
    """Two are in flight: the first is confirmed, and the second is aborted."""
    live = bench.fresh()
    fill(live)
    checkpointed(bench, live)
    change_everything(live)
    older, older_manifest = uploaded(bench, live)
    fill(live, b"between")
    newer, newer_manifest = uploaded(bench, live)
    bench.hit("two-in-flight")
    bench.complete(live, older, older_manifest)
    bench.abort(live, newer, newer_manifest)
    live.put("value", GROUP, b"", [(b"k", b"behind both")])
    bench.restored(checkpointed(bench, live)).compare(drain_timers=True)
    bench.check_leaks()


def unclaimed(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    first = checkpointed(bench, live)
    restored = bench.restored(first, claimed=False)

    def unheard(live: Live, taken: Taken, manifest: Manifest) -> None:
        """Nobody tells what became of a checkpoint, and its files go."""
        bench.sweep(taken.checkpoint)

    for number, ended in enumerate((bench.abort, unheard, bench.abort)):
        restored.put("value", GROUP, b"", [(b"k", b"changed %d" % number)])
        taken, manifest = uploaded(bench, restored)
        require_full(manifest, first.parts, f"a restore that claims nothing, and {number} snapshots")
        ended(restored, taken, manifest)
    claimed = bench.restored(first)
    claimed.put("value", GROUP, b"", [(b"k", b"changed")])
    completed = checkpointed(bench, claimed)
    bench.restored(completed).compare()
    claimed.put("value", GROUP, b"", [(b"k", b"changed again")])
    bench.restored(checkpointed(bench, claimed)).compare()
    bench.check_leaks()


def savepoint_between(bench: Bench) -> None:
    """What changed and what was removed before it is in the next checkpoint, whose base it is not."""
    live = bench.fresh()
    fill(live)
    live.put("value", GROUP, b"n", [(b"removed", b"v"), (b"stays", b"v")])
    live.put("value", GROUP, b"cleared", [(b"k", b"v")])
    checkpointed(bench, live)
    change_everything(live)
    live.put("value", GROUP, b"", [(b"k", b"in the savepoint")])
    live.remove("value", GROUP, b"n", [b"removed"])
    live.clear("value", GROUP, b"cleared")
    taken = live.snapshot(SnapshotKind.SAVEPOINT)
    bench.upload(taken)
    live.backend.confirmed(taken.checkpoint)
    bench.sweep(taken.checkpoint)
    bench.step("the user deletes the savepoint")
    live.put("value", GROUP, b"", [(b"l", b"behind the savepoint")])
    bench.restored(checkpointed(bench, live)).compare(drain_timers=True)
    bench.check_leaks()


def operators(bench: Bench) -> None:
    """Subtasks of operators with names that are alike store a checkpoint: none of their files have one name."""
    number, owners = bench.next_checkpoint(), dict[str, str]()
    for seat, (operator, subtask) in enumerate(OPERATORS):
        who = f"subtask {subtask} of operator {operator!r}"
        bench.step(who)
        factory = partial(_of_operator, bench, operator, subtask)
        live = bench.adopt(bench.backend(factory, subtask=seat), GROUPS, Model(), register=False)
        live.register(bench.states)
        fill(live, operator.encode())
        taken = live.snapshot(checkpoint=number)
        try:
            paths = paths_of([bench.upload(taken)])
        except FileExistsError as error:
            raise Violation("INC-02", f"{who} gives a file the name of another one's: {error}") from error
        taken.snapshot.release()
        if taken_over := sorted(paths & owners.keys()):
            raise Violation(
                "INC-02", f"{who} gives a file the name {taken_over[0]!r}, as {owners[taken_over[0]]} does."
            )
        owners.update(dict.fromkeys(paths, who))


def _of_operator(bench: Bench, operator: str, subtask: int, context: StateContext) -> KeyedStateBackend:
    return bench.factory(replace(context, operator=operator, subtask=subtask))


def names(bench: Bench) -> None:
    """Several lives of one subtask begin from one checkpoint, or from none, and store something else; their checkpoints
    have different numbers, or the same one."""
    live = bench.fresh()
    fill(live)
    first = checkpointed(bench, live)
    for salt in (b"one", b"two", b"three"):
        life = bench.restored(first)
        fill(life, salt)
        taken, manifest = uploaded(bench, life)
        bench.step("that life ends before its checkpoint completes; its files stay for now")
    for restores in (False, True):
        number = bench.next_checkpoint()
        for salt in (b"four", b"five", b"six"):
            life = bench.restored(first) if restores else bench.fresh()
            fill(life, salt)
            taken = life.snapshot(checkpoint=number)
            try:
                manifest = bench.upload(taken)
            except FileExistsError as error:
                raise Violation("INC-02", f"a life gives a file the name of another one's: {error}") from error
            taken.snapshot.release()
            bench.step("that life ends as well; the next one has a checkpoint of the same number")
    bench.hit("several-lives-from-one-checkpoint")
    completed = bench.complete(life, taken, manifest)
    bench.restored(completed).compare()


def _written(bench: Bench, live: Live) -> int:
    """Bytes that a completed checkpoint adds to all files."""
    before = bench.stored_bytes("")
    taken, manifest = uploaded(bench, live)
    written = bench.stored_bytes("") - before
    bench.complete(live, taken, manifest)
    return written


def uploaded(bench: Bench, live: Live, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> tuple[Taken, Manifest]:
    """A snapshot that is stored, and released."""
    taken = live.snapshot(kind)
    manifest = bench.upload(taken)
    taken.snapshot.release()
    return taken, manifest


def checkpointed(bench: Bench, live: Live) -> Completed:
    """A checkpoint of one subtask that completes; its snapshot is released."""
    return bench.complete(live, *uploaded(bench, live))


CHECKS = (
    Check("INC-01/small-changes", "One changed value of 400 is a small upload, time after time.", small_changes,
          INCREMENTAL),
    Check("INC-01/aborted-behind", "What an aborted checkpoint held is in the next one.",
          aborted_behind, windows=("two-in-flight",)),
    Check("INC-02/unclaimed", "Files that nobody claimed are not referred to.", unclaimed),
    Check("INC-02/savepoint-between", "A savepoint that is deleted takes no file along.", savepoint_between),
    Check("INC-02/operators", "Operators whose names are alike never give one name to two files.", operators),
    Check("INC-02/names", "Lives from one checkpoint never give one name to two contents.", names,
          windows=("several-lives-from-one-checkpoint",)),
)  # fmt: skip
