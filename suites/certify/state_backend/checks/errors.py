"""The error table: each typed error of the storage is provoked at each operation of an upload and of a restore.

State of megabytes is tried, too, for which a backend may write several files, or read in pieces (RULES SBK-02, ASY-05,
INC-03).
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import CancelledError
from functools import partial
from hashlib import shake_128

from holdfast.fixtures.storages.in_memory import Crashed, InMemoryStorage, StorageFault
from holdfast.harness.spi.errors import Damaged, Fenced, Full, Transient
from holdfast.harness.spi.state import KeyedStateBackend, Manifest, StateDescriptor, StateKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, Bench, Completed
from holdfast.suites.certify.state_backend.live import Live, Taken, change_everything, fill
from holdfast.suites.certify.state_backend.model import Model

VALUE = StateDescriptor(name="value", kind=StateKind.VALUE)
GROUP_BYTES = dict(zip(GROUPS, (1_150_000, 300_000, 300_000, 300_000), strict=True))
"""By key group; one of them is above a MiB."""
VALUE_BYTES = 1 << 14
MEMORY_BYTES = 1 << 24
MOST_EXTENTS = 3
MOST_FAULTS = 6
"""So many are tried, evenly chosen: the first and the last among them."""


def damage(bench: Bench) -> None:
    """One bit at the begin, in the middle and at the end of what one key group has in a file, the longest first."""
    live = _begun_large(bench)
    _write(bench, live, 0)
    completed = bench.checkpoint(live)
    bench.keeps_folders = False  # Who has a copy of its own there reads nothing of the storage.
    extents = [
        (extent.length, each.reference.path, extent.offset)
        for each in completed.parts[0].handles
        if each.reference is not None
        for extent in set(each.key_groups.values())
        if extent.length
    ]
    for length, path, offset in sorted(extents, reverse=True)[:MOST_EXTENTS]:
        key = ("job", path)
        whole = bench.place.files[key]
        for place in (offset, offset + length // 2, offset + length - 1):
            flipped = bytes([whole.content[place] ^ 16])
            bench.step(f"restore({completed.checkpoint}) while {path} has a bit flipped at {place}")
            bench.place.files[key] = whole._replace(
                content=whole.content[:place] + flipped + whole.content[place + 1 :]
            )
            backend = bench.backend(bench.factory, memory_bytes=MEMORY_BYTES)
            bench.hit("damaged-file")
            try:
                backend.restore(completed.parts, bench.storage().streams(completed.checkpoint, EPOCH), claimed=True)
            except Damaged:
                continue
            finally:
                bench.place.files[key] = whole
            restored = bench.adopt(backend, GROUPS, completed.model, register=False)
            restored.register([VALUE])
            restored.compare()


def cancelled(bench: Bench) -> None:
    """It is asked once for each file, and from each question on, what is cancelled raises, and nothing stays."""
    live = _begun_large(bench)
    before = set(bench.storage().list_folder(""))
    _write(bench, live, 0)
    taken = live.snapshot()
    asked = _Asked(None)
    manifest = _upload_asked(bench, taken, asked)
    files = sorted(set(bench.storage().list_folder("")) - before)
    if asked.times < len(files):
        raise Violation("ASY-05", f"upload asks {asked.times} times whether it is cancelled, and stores {files}.")
    bench.abort(live, taken, manifest)
    for number, after in enumerate(_chosen(list(range(asked.times)))):
        _write(bench, live, number + 1)
        taken = live.snapshot()
        bench.step(f"upload({taken.checkpoint}), cancelled at question {after}")
        stored: Manifest | None = None
        asked = _Asked(after)
        try:
            stored = _upload_asked(bench, taken, asked)
        except CancelledError:
            bench.hit("cancelled")
            left = sorted(set(bench.storage().list_folder("shared")) - before)
            if left:
                raise Violation("ASY-05", f"a cancelled upload left {left} in the shared scope.") from None
        else:
            if asked.times > after:
                raise Violation("ASY-05", "upload was told that it is cancelled, and raised nothing.")
        bench.abort(live, taken, stored)
        taken.snapshot.release()
    bench.check_leaks("ASY-05")
    live.compare()


def errors(bench: Bench) -> None:
    """The storage fails as a file is begun or made visible. Every second upload is tried again, and the others are
    given up."""
    live = _begun_large(bench)
    _write(bench, live, 0)
    probe = live.snapshot()
    storage = bench.storage()
    manifest = bench.upload(probe, storage)
    bench.abort(live, probe, manifest)
    ends = [number for number, name in enumerate(storage.points.operations) if name in ("create", "commit")]
    for round_, number in enumerate(_chosen(ends)):
        _write(bench, live, round_ + 1)
        taken = live.snapshot()
        shared = set(bench.storage().list_folder("shared"))
        storage = bench.storage({number: StorageFault.ERROR})
        bench.step(f"error at operation {number} of the next upload")
        stored: Manifest | None = None
        try:
            stored = bench.upload(taken, storage)
        except Transient:
            bench.hit("upload-error")
            left = sorted(set(bench.storage().list_folder("shared")) - shared)
            if left:
                raise Violation("INC-03", f"an upload that raised left {left} in the shared scope.") from None
        if round_ % 2 and stored is None:
            bench.abort(live, taken)
        else:
            bench.complete(live, taken, stored or bench.upload(taken))
        taken.snapshot.release()
        bench.check_leaks()
    restored = bench.restored(bench.completed[-1], register=[VALUE], memory_bytes=MEMORY_BYTES)
    restored.compare()


class _Asked:
    """Whether a checkpoint is cancelled: from some question on; None: it never is."""

    def __init__(self, after: int | None) -> None:
        self._after = after
        self.times = 0

    def __call__(self) -> bool:
        self.times += 1
        return self._after is not None and self.times > self._after


def _upload_asked(bench: Bench, taken: Taken, asked: _Asked) -> Manifest:
    streams = bench.storage().streams(taken.checkpoint, EPOCH)
    manifest: Manifest = bench.elsewhere(partial(taken.snapshot.upload, streams, asked))
    return manifest


def _begun_large(bench: Bench) -> Live:
    """One state alone: nothing else takes time or room."""
    backend = bench.backend(bench.factory, memory_bytes=MEMORY_BYTES)
    live = bench.adopt(backend, GROUPS, Model(), register=False)
    live.register([VALUE])
    return live


def _write(bench: Bench, live: Live, salt: int) -> None:
    """Write over everything. Nothing makes the values shorter."""
    size = bench.filling_bytes(VALUE_BYTES)
    for key_group, length in GROUP_BYTES.items():
        content = shake_128(b"%d/%d" % (salt, key_group)).digest(length)
        live.put("value", key_group, b"", [(b"%d" % at, content[at : at + size]) for at in range(0, length, size)])


def _chosen(some: list[int]) -> list[int]:
    """Evenly, and at most MOST_FAULTS."""
    if len(some) <= MOST_FAULTS:
        return some
    return [some[number * (len(some) - 1) // (MOST_FAULTS - 1)] for number in range(MOST_FAULTS)]


RAISED = {
    StorageFault.ERROR: Transient,
    StorageFault.LOST_ANSWER: Transient,
    StorageFault.TORN: Transient,
    StorageFault.FULL: Full,
    StorageFault.FENCED: Fenced,
}
MOST_OPERATIONS = 60
"""Of one upload; further ones are not tried."""


def uploads(bench: Bench) -> None:
    """Each error at each operation, and the upload again behind it."""
    live = _begun_filled(bench)
    for fault, error in RAISED.items():
        for number in range(MOST_OPERATIONS):
            change_everything(live)
            fill(live, b"%d" % number)
            taken = live.snapshot()
            storage = bench.storage({number: fault})
            shared = set(bench.storage().list_folder("shared"))
            manifest = _attempt(bench, taken, storage, error)
            bench.place.epochs.clear()  # As if the claim had not been: one life tries all of them.
            if not storage.points.struck:
                bench.abort(live, taken, manifest)
                taken.snapshot.release()
                break
            bench.hit(f"upload-{fault}")
            if manifest is None and fault is not StorageFault.FENCED:
                left = sorted(set(bench.storage().list_folder("shared")) - shared)
                if left:
                    raise Violation("INC-03", f"an upload that raised left {left} in the shared scope.")
            _again(bench, live, taken, manifest)


def doubly_lost(bench: Bench) -> None:
    """The answer to a commit is lost, and the clean-up fails: the retry must find its own file."""
    live = _begun_filled(bench)
    for number in range(MOST_OPERATIONS):
        change_everything(live)
        fill(live, b"%d" % number)
        taken = live.snapshot()
        following = dict.fromkeys(range(number + 1, number + 20), StorageFault.ERROR)
        storage = bench.storage({number: StorageFault.LOST_ANSWER, **following})
        manifest = _attempt(bench, taken, storage, Transient)
        operations = storage.points.operations
        if number < len(operations) and operations[number] == "commit":
            bench.hit("lost-answer-to-commit")
        _again(bench, live, taken, manifest)
        if not storage.points.struck:
            break


def crashes(bench: Bench) -> None:
    """The process ends before and behind each operation: the next attempt goes on from the last checkpoint."""
    for fault in (StorageFault.CRASH, StorageFault.CRASH_BEHIND):
        live = _begun_filled(bench)
        for number in range(MOST_OPERATIONS):
            change_everything(live)
            taken = live.snapshot()
            storage = bench.storage({number: fault})
            lost = _attempt(bench, taken, storage, Crashed)
            if not storage.points.struck:
                bench.abort(live, taken, lost)
                break
            bench.hit("crashed")
            bench.step("the process ended; the next attempt begins")
            live = bench.restored(bench.completed[-1])
            live.compare()
            fill(live, b"%d" % number)
            following = live.snapshot()
            bench.complete(live, following, bench.upload(following))
            bench.sweep(taken.checkpoint)
            bench.check_leaks()
            bench.restored(bench.completed[-1]).compare()


def restores(bench: Bench) -> None:
    """Errors at each read, damage of each file: loud, and nothing stays of it."""
    live = bench.fresh()
    fill(live)
    change_everything(live)
    older = bench.checkpoint(live)
    fill(live, b"newer")
    live.put("value", GROUPS.start, b"newer alone", [(b"k", b"v")])
    newer = bench.checkpoint(live)
    bench.keeps_folders = False  # Who has a copy of its own there reads nothing of the storage.
    for fault, error in ((StorageFault.ERROR, Transient), (StorageFault.DAMAGED, Damaged)):
        for number in range(MOST_OPERATIONS):
            backend = bench.backend(bench.factory)
            storage = bench.storage({number: fault})
            bench.step(f"restore({newer.checkpoint}) with {fault} at operation {number}")
            raised = _restore(bench, backend, newer, storage, error)
            if not storage.points.struck:
                break
            bench.hit(f"restore-{fault}")
            _require_loud(bench, backend, raised=raised, newer=newer, older=older)
    for path in sorted({each.reference.path for each in newer.parts[0].handles if each.reference}):
        key = ("job", path)
        whole = bench.place.files[key]
        for what, content in _damages(whole.content).items():
            bench.step(f"restore({newer.checkpoint}) while {path} {what}")
            if content is None:
                del bench.place.files[key]
            else:
                bench.place.files[key] = whole._replace(content=content)
            backend = bench.backend(bench.factory)
            raised = _restore(bench, backend, newer, bench.storage(), FileNotFoundError if content is None else Damaged)
            bench.place.files[key] = whole
            bench.hit("damaged-file")
            _require_loud(bench, backend, raised=raised, newer=newer, older=older)


def _damages(content: bytes) -> Mapping[str, bytes | None]:
    damages: dict[str, bytes | None] = {"is gone": None, "is cut": content[:-1], "is empty": b""}
    for place in {0, len(content) // 3, len(content) - 1}:
        damages[f"has a bit flipped at {place}"] = content[:place] + bytes([content[place] ^ 16]) + content[place + 1 :]
    return damages


def _require_loud(
    bench: Bench, backend: KeyedStateBackend, *, raised: bool, newer: Completed, older: Completed
) -> None:
    """Behind an error nothing works but another restore, here of the older checkpoint; without one all is there."""
    if raised:
        try:
            backend.table(bench.states[0])
        except RuntimeError:
            pass
        else:
            raise Violation(bench.rule, "a state was registered behind a restore that raised; RuntimeError is right.")
        bench.step(f"restore({older.checkpoint}) into the same backend")
        backend.restore(older.parts, bench.storage().streams(older.checkpoint, EPOCH), claimed=True)
    bench.adopt(backend, GROUPS, (older if raised else newer).model).compare(drain_timers=True)


def _restore(
    bench: Bench, backend: KeyedStateBackend, completed: Completed, storage: InMemoryStorage, error: type[Exception]
) -> bool:
    """Whether it raised, as it may."""
    try:
        backend.restore(completed.parts, storage.streams(completed.checkpoint, EPOCH), claimed=True)
    except error:
        return True
    except Exception as other:
        raise Violation(bench.rule, f"restore raised {other!r}; {error.__name__} is right.") from other
    return False


def _begun_filled(bench: Bench) -> Live:
    live = bench.fresh()
    fill(live)
    bench.checkpoint(live)
    return live


def _attempt(bench: Bench, taken: Taken, storage: InMemoryStorage, error: type[BaseException]) -> Manifest | None:
    """Upload while the storage fails. None: it raised, as it may."""
    number, fault = min(storage.points.faults.items())
    bench.step(f"{fault} at operation {number} of the next upload")
    try:
        return bench.upload(taken, storage)
    except error:
        return None
    except Exception as other:
        raise Violation(bench.rule, f"upload raised {other!r}; {error.__name__} is right.") from other
    finally:
        storage.points.faults.clear()  # They are for this upload: whoever still holds the storage may go on with it.


def _again(bench: Bench, live: Live, taken: Taken, manifest: Manifest | None) -> None:
    """What the upload returned, or what it returns without a fault: everything is in it, and nothing is stored
    twice."""
    if manifest is None:
        manifest = bench.upload(taken)
        bench.hit("uploaded-again")
    completed = bench.complete(live, taken, manifest)
    taken.snapshot.release()
    bench.check_leaks()
    bench.restored(completed, claimed=False).compare(drain_timers=True)


CHECKS = (
    Check(
        "SBK-02/upload-errors", "Each error of the storage is raised, and the upload succeeds when it is repeated.",
        uploads, windows=(*(f"upload-{fault}" for fault in RAISED), "uploaded-again"),
    ),
    Check(
        "INC-03/lost-answers", "A retry behind a lost answer takes up its own file.", doubly_lost,
        windows=("lost-answer-to-commit",),
    ),
    Check(
        "SBK-02/crashes", "A crash at any operation leaves the last checkpoint whole.", crashes, windows=("crashed",),
    ),
    Check(
        "SBK-02/restore-errors", "Damage is loud, and nothing of a failed restore stays.", restores,
        windows=("restore-error", "restore-damaged", "damaged-file"),
    ),
    Check("SBK-02/large-damage", "Damage in what is long is loud, too.", damage, windows=("damaged-file",)),
    Check("ASY-05/large-cancelled", "An upload of several files is asked for each whether it goes on.", cancelled,
          windows=("cancelled",)),
    Check("INC-03/large-errors", "Of an upload of several files that raised, none is left.", errors,
          windows=("upload-error",)),
)  # fmt: skip
