"""STO-01, ASY-05: a process dies at any call that leaves Python; what is seen is whole, and what is not goes."""

from __future__ import annotations

from zlib import crc32

from msgspec.structs import replace

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.storage import CheckpointStorage, Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, bytes_of
from holdfast.suites.certify.outside.messages import Act

MOST_POINTS = 80
"""Of more, evenly spread ones are taken."""
CONTENT_BYTES = 9_000
"""Of a file, where so many are within the limit."""
PIECES = 5


def _content(bench: Bench) -> bytes:
    return bytes_of(bench.longest(CONTENT_BYTES))


def checkpoint(bench: Bench) -> None:
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


CHECKS = (
    Check("STO-01/crashes", "A death at any call leaves a checkpoint whole, or absent.", checkpoint,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("STO-01/half-dropped", "A checkpoint that is half dropped is not found.", dropping,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("STO-08/half-claimed", "A claim that broke off loses nothing, and can be repeated.", claiming,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
    Check("ASY-05/leaks", "What dead processes left half written is gone behind the next claim.", leaks,
          frozenset({OUTLIVES_PROCESS}), ("died",)),
)  # fmt: skip
