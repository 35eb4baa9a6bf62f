"""INC: increments are small, rest on confirmed checkpoints alone, and neither lose nor leave a shared file.

The checks of a changelog apply to whoever declares Flink's option of how many materializations may fail.
"""

from __future__ import annotations

from functools import partial
from hashlib import shake_128

from msgspec.structs import replace

from holdfast.fixtures.storages.in_memory import StorageFault
from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.state import Flag, KeyedStateBackend, Manifest, SnapshotKind, StateContext
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import (
    GROUP,
    GROUPS,
    Bench,
    Completed,
    paths_of,
    require_full,
    shared_paths,
)
from holdfast.suites.certify.state_backend.live import Live, Taken, change_everything, fill
from holdfast.suites.certify.state_backend.model import Model

GOLDEN_CHECKPOINTS = 24
REPEATED = 50


def golden_run(bench: Bench) -> None:
    """As CP1 {1,2}, CP2 {1,2,3,4}, CP3 {123,4,5}, CP4 {123,456}, whenever and whatever the backend merges."""
    live = bench.fresh()
    needed: list[set[str]] = []
    for number in range(GOLDEN_CHECKPOINTS):
        value = b"%d" % number * REPEATED
        for key_group in (GROUPS.start, GROUPS.stop - 1):  # Files whose ranges overlap are merged, and not only moved.
            live.put("value", key_group, b"", [(b"%d" % (number % 5), value)])
        taken = live.snapshot()
        completed = bench.complete(live, taken, bench.upload(taken), retain=2)
        taken.snapshot.release()
        needed = [*needed[-1:], shared_paths(completed.parts[0])]
        there = set(bench.storage().list_folder("shared"))
        if there != set().union(*needed):
            raise Violation(
                "INC-04", f"behind checkpoint {completed.checkpoint}, {sorted(there)} are there; {needed} are needed."
            )
        if len(needed) == 2 and needed[0] & needed[1]:
            bench.hit("a-file-of-two-checkpoints")
        if len(needed) == 2 and needed[0] - needed[1]:
            bench.hit("a-file-merged-away")
        for each in bench.completed:
            bench.restored(each, claimed=False).compare()
    if not bench.windows["a-file-merged-away"]:
        raise CannotTry(f"in {GOLDEN_CHECKPOINTS} checkpoints it merged no file")


MAX_FAILURES = "state.changelog.max-failures-allowed"
LOGGED_CHECKPOINTS = 30


def replay(bench: Bench) -> None:
    """Everything changes between any two checkpoints, and each of them is restored and goes on."""
    _require_changelog(bench)
    live = bench.fresh()
    for number in range(9):
        fill(live, b"%d" % (number % 2))
        change_everything(live)
        taken = live.snapshot()
        completed = bench.complete(live, taken, bench.upload(taken))
        taken.snapshot.release()
        bench.restored(completed, claimed=False).compare(drain_timers=True)
        if number % 3 == 2:
            live = bench.restored(completed)
    bench.check_leaks()


def failed_materializations(bench: Bench) -> None:
    """The first operation of each upload fails: that of a materialization costs no checkpoint, that of a log does."""
    _require_changelog(bench)
    for most in (1, 3):
        backend = bench.backend(bench.factory, options={MAX_FAILURES: str(most)})
        live = bench.adopt(backend, GROUPS, bench.fresh().model)
        in_a_row = longest = 0
        for number in range(LOGGED_CHECKPOINTS):
            live.put("value", GROUPS[number % len(GROUPS)], b"", [(b"%d" % number, b"v")])
            taken = live.snapshot()
            storage = bench.storage({0: StorageFault.ERROR})
            try:
                manifest = bench.upload(taken, storage)
                in_a_row += bool(storage.points.struck)
                bench.hit("outlived-a-failed-materialization")
            except Transient:
                in_a_row = 0
                manifest = bench.upload(taken)
            longest = max(longest, in_a_row)
            completed = bench.complete(live, taken, manifest)
            taken.snapshot.release()
            bench.restored(completed, claimed=False).compare()
        if longest != most:
            raise Violation(
                "INC-09", f"{longest} failed materializations in a row were outlived; {MAX_FAILURES} is {most}."
            )


def _require_changelog(bench: Bench) -> None:
    if MAX_FAILURES not in bench.description.options:
        raise CannotTry(f"it is no changelog, for it has no option {MAX_FAILURES}")


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
    Check("INC-04/golden-run", "Of two retained checkpoints, exactly the files are there.", golden_run,
          frozenset({Flag.INCREMENTAL}), ("a-file-of-two-checkpoints",)),
    Check("INC-09/replay", "A restore holds what was materialized, and what was logged since, once.", replay),
    Check("INC-09/failed-materializations", "As many materializations may fail in a row as the option says.",
          failed_materializations, windows=("outlived-a-failed-materialization",)),
)  # fmt: skip
