"""STO-01, STO-06, STO-08, ASY-05: files are damaged, or a process dies; what is read is what was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from zlib import crc32

from msgspec.structs import replace

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Damaged, Transient
from holdfast.harness.spi.storage import CheckpointStorage, Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench, content_of
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, bytes_of
from holdfast.suites.certify.outside.messages import Act

MOST_POINTS = 80
"""Of more, evenly spread ones are taken."""
CONTENT_BYTES = 9_000
"""Of a file, where so many are within the limit."""
PIECES = 5


def _content(bench: Bench) -> bytes:
    return bytes_of(bench.longest(CONTENT_BYTES))


def checkpointing(bench: Bench) -> None:
    """While a checkpoint is written and published."""
    victims, content = bench.victims, _content(bench)
    piece_bytes = -(-len(content) // PIECES)
    number, width = -1, 1
    for _ in bench.turns():
        epoch = bench.next_epoch()
        acts = [
            Act("claim", epoch=epoch),
            Act("write", checkpoint=epoch, epoch=epoch, name="state", content=content, piece_bytes=piece_bytes),
            Act("finish", checkpoint=epoch, epoch=epoch, content=b"metadata %d" % epoch),
        ]
        if number < 0:
            width = max(1, victims.run(acts, counted_from=1).points // bench.most(MOST_POINTS))
            number = 0
            bench.storage().drop(epoch, epoch)
            continue
        where = victims.kill(acts, number, counted_from=1)
        bench.step(f"a process of epoch {epoch} dies {where or 'nowhere'}")
        _require_all_or_nothing(bench, bench.storage(), epoch, content)
        if not where:
            break
        bench.hit("died")
        bench.step("it, as it were, tries again")
        retry = bench.storage()
        bench.write(retry.streams(epoch, epoch), "state", content)
        pointer = retry.finish(epoch, epoch, b"metadata %d" % epoch)
        bench.require_metadata(bench.storage(), pointer, b"metadata %d" % epoch)
        _require_all_or_nothing(bench, retry, epoch, content)
        if len(there := list(retry.list_folder(f"chk-{epoch}"))) != 2:
            raise Violation(bench.rule, f"behind the retry chk-{epoch} holds {there}.")
        retry.drop(epoch, epoch)
        number += width


def _require_all_or_nothing(bench: Bench, storage: CheckpointStorage, epoch: int, content: bytes) -> None:
    listed = list(storage.list_folder(f"chk-{epoch}"))
    try:
        found = storage.resolve(f"chk-{epoch}")
    except FileNotFoundError:
        published = False
    else:
        published = True
        if found != b"metadata %d" % epoch:
            raise Violation(bench.rule, f"a checkpoint is there with {len(found)} bytes that nobody wrote.")
    if published != any(path.endswith("_metadata") for path in listed):
        raise Violation(bench.rule, f"chk-{epoch} holds {listed}, and resolve shows the opposite.")
    data = [path for path in listed if not path.endswith("_metadata")]
    if published and not data:
        raise Violation(bench.rule, "a checkpoint is published, and its file is not there.")
    for path in data:
        reference = FileReference(path, len(content), crc32(content))
        bench.require_content(storage.streams(epoch, epoch), reference, content)


def dropping(bench: Bench) -> None:
    """While a checkpoint is dropped: one that is still found has all of its files."""
    victims, content = bench.victims, _content(bench)
    for number in bench.turns():
        storage, epoch = bench.coordinator()
        files = [bench.write(storage.streams(epoch, epoch), name, content) for name in ("a", "z")]
        pointer = storage.finish(epoch, epoch, b"metadata")
        where = victims.kill([Act("drop", checkpoint=epoch, epoch=epoch)], number)
        bench.step(f"a process dies {where or 'nowhere'} while it drops {epoch}")
        try:
            found = storage.resolve(pointer)
        except FileNotFoundError:
            pass
        else:
            bench.require_metadata(storage, pointer, found)
            for reference in files:
                bench.require_content(storage.streams(epoch, epoch), reference, content)
        storage.drop(epoch, epoch)
        bench.require_files(storage, f"chk-{epoch}", [])
        if not where:
            break
        bench.hit("died")


def claiming(bench: Bench) -> None:
    """While an epoch is claimed: what is there stays there, and the next claim succeeds."""
    victims, content = bench.victims, _content(bench)
    storage, epoch = bench.coordinator()
    reference = bench.write(storage.streams(1, epoch), "state", content, Scope.SHARED)
    pointer = storage.finish(1, epoch, b"metadata")
    for number in bench.turns():
        epoch = bench.next_epoch()
        where = victims.kill([Act("claim", epoch=epoch)], number)
        bench.step(f"a process dies {where or 'nowhere'} while it claims {epoch}")
        reader = bench.storage()
        bench.require_metadata(reader, pointer, b"metadata")
        bench.require_content(reader.streams(1, epoch), reference, content)
        if not where:
            break
        bench.hit("died")
        if number % 2:
            reader, epoch = bench.coordinator()
        else:
            bench.step(f"claim({epoch}) again")
            reader.claim(epoch)
        bench.require_files(reader, "", [reference.path, *reader.list_folder("chk-1")])
        bench.require_metadata(reader, pointer, b"metadata")
        own = bench.write(reader.streams(epoch, epoch), "own", b"own")
        bench.require_content(reader.streams(epoch, epoch), own, b"own")
        reader.drop(epoch, epoch)


def leaks(bench: Bench) -> None:
    """Processes die in the middle of a file, again and again: behind the next claim nothing of it is left."""
    victims = bench.victims
    size = bench.longest(6 * MEBIBYTE)
    epoch = bench.next_epoch()
    write = Act("write", name="state", content=bytes_of(size), scope="shared", piece_bytes=MEBIBYTE)

    def acts(epoch: int) -> list[Act]:
        return [Act("claim", epoch=epoch), replace(write, epoch=epoch, checkpoint=epoch, name=f"state-{epoch}")]

    points = victims.run(acts(epoch), counted_from=1).points
    counts: list[int] = []
    first: frozenset[str] = frozenset()
    for round_number in range(4):
        for share in (1, 2, 3, 4):
            epoch = bench.next_epoch()
            victims.kill(acts(epoch), points * share // 5, counted_from=1)
            bench.hit("died")
        storage, epoch = bench.coordinator()
        bench.step(f"round {round_number}: 4 processes died in the middle of a file; epoch {epoch} has claimed")
        storage.delete([FileReference(path, 0, 0) for path in storage.list_folder("")], epoch)
        bench.require_files(storage, "", [])
        storage.close()
        first = first if counts else bench.raw()
        counts.append(len(bench.raw()))
    uploads = bench.location.uploads()
    if uploads or bench.left_behind(first):
        raise Violation(
            bench.rule,
            f"things that lie there behind 4, 8, 12 and 16 deaths: {counts}, with {uploads} uploads open; their number "
            f"is to stay.",
        )


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
    Check("STO-01/crashes", "A death at any call leaves a checkpoint whole, or absent.", checkpointing,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("STO-01/half-dropped", "A checkpoint that is half dropped is not found.", dropping,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("STO-08/half-claimed", "A claim that broke off loses nothing, and can be repeated.", claiming,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("ASY-05/leaks", "What dead processes left half written is gone behind the next claim.", leaks,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
)  # fmt: skip
