"""STO-06: whatever happens to the files where they lie, nobody is given anything but what was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Damaged, Transient
from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, bytes_of

SIZES = (1, 300, 20_000)
"""Of files; less where that is the limit."""
LONG = 4 * MEBIBYTE
END_BYTES = 8
"""A checksum that stands behind the content, and the last bytes of that."""
LOUD = (Damaged, FileNotFoundError, Transient)


def damaged(bench: Bench) -> None:
    files, metadata = _written(bench)
    location = bench.location
    for name in location.names():
        whole = location.read(name)
        for what, content in _damages(whole).items():
            bench.step(f"{name} {what}")
            if content is None:
                location.remove(name)
            else:
                location.write(name, content)
            _require_right_or_loud(bench, files, metadata)
            location.write(name, whole)
    bench.step("everything is as it was")
    _require_right_or_loud(bench, files, metadata, LOUD[:0])


def damaged_far_in(bench: Bench) -> None:
    """A long file: a bit is flipped in its first, a later and its last part, or its end is cut off."""
    location = bench.location
    location.names()
    storage, epoch = bench.coordinator()
    content = bytes_of(bench.longest(LONG))
    files = [(bench.write(storage.streams(1, epoch), "long", content, Scope.SHARED), content)]
    name, whole = max(((name, location.read(name)) for name in location.names()), key=lambda each: len(each[1]))
    for at in (len(whole) // 9, len(whole) * 2 // 3, len(whole) - 100):
        bench.step(f"{name} has a bit flipped in byte {at}")
        location.write(name, whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        _require_right_or_loud(bench, files, {})
    bench.step(f"{name} lacks its end")
    location.write(name, whole[: len(whole) * 8 // 9])
    _require_right_or_loud(bench, files, {})


def exchanged(bench: Bench) -> None:
    """Stale pieces: a file has the content of another one, which is intact."""
    files, metadata = _written(bench)
    location = bench.location
    names = location.names()
    for first, second in pairwise(names):
        one, other = location.read(first), location.read(second)
        bench.step(f"{first} and {second} are exchanged")
        location.write(first, other)
        location.write(second, one)
        _require_right_or_loud(bench, files, metadata)
        location.write(first, one)
        location.write(second, other)
        bench.hit("exchanged")


def written_anew(bench: Bench) -> None:
    """The reference of a file that was deleted, behind one of its name and length."""
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    content = bytes_of(bench.longest(max(SIZES)), 1)
    old = bench.write(streams, "name", content, Scope.SHARED)
    bench.step("delete 'name', and write it anew")
    storage.delete([old], epoch)
    new = bench.write(streams, "name", content[::-1], Scope.SHARED, b"other")
    bench.require_content(streams, new, content[::-1])
    _compare(bench, "read by the reference of the old file", LOUD, content, content_of, streams, old)


def _written(bench: Bench) -> tuple[list[tuple[FileReference, bytes]], Mapping[str, bytes]]:
    location = bench.location
    location.names()  # Whoever cannot look cannot damage.
    storage, epoch = bench.coordinator()
    files = []
    for size in map(bench.longest, SIZES):
        content = bytes_of(size, size)
        files.append((bench.write(storage.streams(1, epoch), f"file-{size}", content, Scope.SHARED), content))
    metadata = {}
    for checkpoint in (1, 2):
        metadata[storage.finish(checkpoint, epoch, b"metadata %d" % checkpoint)] = b"metadata %d" % checkpoint
    storage.close()
    return files, metadata


def _damages(whole: bytes) -> Mapping[str, bytes | None]:
    """What becomes of a file, in words."""
    damages: dict[str, bytes | None] = {"is gone": None}
    if whole:
        damages |= {"is empty": b"", "is cut": whole[:-1], "is cut in half": whole[: len(whole) // 2]}
        damages["lacks its end"] = whole[:-END_BYTES]
        damages |= {"has a byte more": whole + b"\x00", "is twice there": whole + whole}
    for at in sorted({0, len(whole) // 3, len(whole) * 2 // 3, max(len(whole) - 30, 0), len(whole) - 1}):
        if whole:
            damages[f"has a bit flipped in byte {at}"] = whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :]
    return damages


def _require_right_or_loud(
    bench: Bench,
    files: Sequence[tuple[FileReference, bytes]],
    metadata: Mapping[str, bytes],
    loud: tuple[type[Exception], ...] = LOUD,
) -> None:
    try:
        storage = bench.storage()
    except Exception as error:
        if loud and isinstance(error, (*loud, PermissionError)):
            return
        raise
    for reference, content in files:
        _compare(bench, f"read of {reference.path}", loud, content, content_of, storage.streams(1, 1), reference)
    for pointer, content in metadata.items():
        _compare(bench, f"resolve({pointer!r})", loud, content, storage.resolve, pointer)
    storage.close()


def _compare(
    bench: Bench,
    what: str,
    loud: tuple[type[Exception], ...],
    content: bytes,
    call: Callable[..., bytes],
    *arguments: object,
) -> None:
    try:
        found = call(*arguments)
    except loud as error:
        bench.hit(type(error).__name__)
        return
    except Exception as other:
        raise Violation(bench.rule, f"{what} raised {other!r}; Damaged or FileNotFoundError is right.") from other
    if found != content:
        raise Violation(
            bench.rule, f"{what} returned {len(found)} bytes that nobody wrote; Damaged or FileNotFoundError is right."
        )


CHECKS = (
    Check("STO-06/damaged", "Whatever is cut, changed or gone is found.", damaged, frozenset({OUTLIVES_PROCESS}),
          ("Damaged",)),
    Check("STO-06/far-in", "So it is far from the beginning of a long file.", damaged_far_in,
          frozenset({OUTLIVES_PROCESS}), ("Damaged",)),
    Check("STO-06/written-anew", "A reference leads to its own file, or to none.", written_anew),
    Check("STO-06/exchanged", "A file with the content of another one is found.", exchanged,
          frozenset({OUTLIVES_PROCESS})),
)  # fmt: skip
