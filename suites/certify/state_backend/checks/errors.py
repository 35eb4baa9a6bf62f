"""The error table: each typed error of the storage is provoked at each operation of an upload and of a restore."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.fixtures.storages.fault_points import Crashed, StorageFault
from holdfast.fixtures.storages.in_memory import InMemoryStorage
from holdfast.harness.spi.errors import Damaged, Fenced, Full, Transient
from holdfast.harness.spi.state import KeyedStateBackend, Manifest
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, Bench, Completed
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill
from holdfast.suites.certify.state_backend.live import Live, Taken

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
    live = _begun(bench)
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
    live = _begun(bench)
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
        live = _begun(bench)
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


def _begun(bench: Bench) -> Live:
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
)  # fmt: skip
