"""A restore that is to fail at first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial

from holdfast.fixtures.storages.in_memory import StorageFault
from holdfast.harness.spi.errors import Damaged, Transient
from holdfast.harness.spi.state import KeyedStateBackend, Manifest, StateDescriptor, StateKind
from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, Bench, Completed

UNKNOWN = 1 << 40
"""A checkpoint that never was."""
OPERATIONS = 6


def tried_in_vain(
    bench: Bench, backend: KeyedStateBackend, completed: Completed, parts: Sequence[Manifest], *, claimed: bool,
    failing: int,
) -> bool:  # fmt: skip
    """Try a restore while a bit of a file is another one, or the storage fails: it holds nothing then.

    Args:
        bench, backend, completed, parts, claimed: of the restore.
        failing: which file or operation, and how.

    Returns:
        Whether it succeeded all the same.

    Raises:
        Violation: behind an error something works but another restore.
    """
    at, damages = divmod(failing, 2)
    paths = sorted(each.reference.path for part in parts for each in part.handles if each.reference is not None)
    path = paths[at % len(paths)] if damages and paths else ""
    faults = {} if path else {at % OPERATIONS: StorageFault.ERROR}
    what = f"a bit of {path} is flipped" if path else f"operation {at % OPERATIONS} of the storage fails"
    bench.step(f"restore({completed.checkpoint}) while {what}")
    error: type[Exception] = Damaged if path else Transient
    with _flipped(bench, path, at) if path else nullcontext():
        try:
            backend.restore(parts, bench.storage(faults).streams(completed.checkpoint, EPOCH), claimed=claimed)
        except error:
            bench.hit("failed-restore")
        else:
            return True
    table = partial(backend.table, StateDescriptor(name="another", kind=StateKind.VALUE))
    for call in (table, partial(backend.snapshot, UNKNOWN)):
        try:
            call()
        except RuntimeError:
            continue
        raise Violation("SBK-02", "behind a restore that raised, everything but another one raises RuntimeError.")
    return False


@contextmanager
def _flipped(bench: Bench, path: str, number: int) -> Iterator[None]:
    """While one bit of a file is another one."""
    files, key = bench.place.files, ("job", path)
    whole = files[key]
    at = number * 7_919 % max(len(whole.content), 1)
    flipped = bytes(each ^ 16 for each in whole.content[at : at + 1])
    files[key] = whole._replace(content=whole.content[:at] + flipped + whole.content[at + 1 :])
    try:
        yield
    finally:
        files[key] = whole
