"""SBK-02, ASY-05, INC-03: state of megabytes, for which a backend may write several files, or read in pieces."""

from __future__ import annotations

from concurrent.futures import CancelledError
from functools import partial
from hashlib import shake_128

from holdfast.fixtures.storages.fault_points import StorageFault
from holdfast.harness.spi.errors import Damaged, Transient
from holdfast.harness.spi.state import Manifest, StateDescriptor, StateKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, Bench
from holdfast.suites.certify.state_backend.live import Live, Taken
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
    live = _begun(bench)
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
    live = _begun(bench)
    before = set(bench.storage().list_folder(""))
    _write(bench, live, 0)
    taken = live.snapshot()
    asked = _Asked(None)
    manifest = _upload(bench, taken, asked)
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
            stored = _upload(bench, taken, asked)
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
    live = _begun(bench)
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


def _upload(bench: Bench, taken: Taken, asked: _Asked) -> Manifest:
    streams = bench.storage().streams(taken.checkpoint, EPOCH)
    manifest: Manifest = bench.elsewhere(partial(taken.snapshot.upload, streams, asked))
    return manifest


def _begun(bench: Bench) -> Live:
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


CHECKS = (
    Check("SBK-02/large-damage", "Damage in what is long is loud, too.", damage, windows=("damaged-file",)),
    Check("ASY-05/large-cancelled", "An upload of several files is asked for each whether it goes on.", cancelled,
          windows=("cancelled",)),
    Check("INC-03/large-errors", "Of an upload of several files that raised, none is left.", errors,
          windows=("upload-error",)),
)  # fmt: skip
