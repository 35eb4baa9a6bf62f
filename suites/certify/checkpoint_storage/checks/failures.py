"""STO-01, STO-02, STO-04, STO-09, CRD-11, SBK-07: limits are kept; requests and calls fail, and answers are lost.

After a call that failed, the storage may raise what it likes. What it returns is true, and what it could not do can be
done again.
"""

from __future__ import annotations

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.storage import CheckpointStorage, Scope
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import INLINE, INLINE_THRESHOLD, Bench, content_of
from holdfast.suites.certify.outside.bench import ENDPOINT, MEBIBYTE, bytes_of
from holdfast.suites.certify.outside.failing import again, each_point, failed
from holdfast.suites.certify.outside.relay import WireFault

MOST_REQUESTS = 40
"""Of one program; further ones are not tried."""


def retried(bench: Bench) -> None:
    storage, epoch = bench.coordinator()
    for size in (0, 300, 6 * MEBIBYTE):
        if not bench.takes(size):
            continue
        content = bytes_of(size)
        for scope in Scope:
            first = bench.write(storage.streams(1, epoch), f"file-{size}", content, scope, b"mine")
            bench.step("the answer is lost; the same token again, in one piece and in two, here and elsewhere")
            for other, cut in ((storage, size), (storage, size // 2), (bench.storage(), size // 3)):
                stream = other.streams(1, epoch).create(scope, f"file-{size}", b"mine")
                stream.write(content[:cut])
                stream.write(content[cut:])
                again = stream.commit()
                if again != first:
                    raise Violation(bench.rule, f"the retry returned {again}; {first} is right, as before.")
                if stream.commit() != first:
                    raise Violation(bench.rule, "commit called again returned another reference.")
                stream.cancel()
                bench.require_content(other.streams(1, epoch), first, content)


def given_up(bench: Bench) -> None:
    """The answer to a commit is lost, and whoever tried gives up: its file goes, and nobody else's."""
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    for scope in Scope:
        kept = bench.write(streams, "of-another", b"content", scope, b"another")
        lost = bench.write(streams, "mine", b"content", scope, b"mine")
        for name, token in (("mine", b"mine"), ("of-another", b"mine"), ("mine", b"mine")):
            bench.step(f"cancel a stream of {name!r}, token {token!r}")
            stream = streams.create(scope, name, token)
            stream.write(b"content")
            stream.cancel()
        bench.require_files(storage, kept.path.partition("/")[0], [kept.path])
        bench.require_content(streams, kept, b"content")
        bench.refuses("read what was given up", FileNotFoundError, content_of, streams, lost)
        storage.delete([kept], epoch)


def unknown_outcome(bench: Bench) -> None:
    """CRD-11: the answer to `finish` is lost. The checkpoint is there, with its files, and the call again succeeds."""
    storage, epoch = bench.coordinator()
    for checkpoint in (1, 2):
        reference = bench.write(storage.streams(checkpoint, epoch), "state", b"state")
        pointer = storage.finish(checkpoint, epoch, b"metadata")
        bench.step("the answer is lost")
        finder = bench.storage()
        bench.require_metadata(finder, f"chk-{checkpoint}", b"metadata")
        if finder.finish(checkpoint, epoch, b"metadata") != pointer:
            raise Violation(bench.rule, f"finish({checkpoint}) again returned another pointer.")
        bench.refuses(
            f"finish({checkpoint}) with other metadata",
            FileExistsError,
            finder.finish,
            checkpoint,
            epoch,
            b"other",
        )
        bench.require_content(finder.streams(checkpoint, epoch), reference, b"state")
        bench.require_metadata(storage, pointer, b"metadata")


def requests(bench: Bench) -> None:
    """Each request of a program is refused, cut, or answered to nobody."""
    relay = bench.relay
    options = {ENDPOINT: relay.url}
    small, large = bytes_of(300), bytes_of(bench.longest(6 * MEBIBYTE))
    checkpoint = 0
    for fault in WireFault:
        for number in range(MOST_REQUESTS):
            relay.disarm()
            storage, epoch = bench.storage(options=options), bench.next_epoch()
            checkpoint += 1
            bench.step(f"{fault} at request {number} of a program")
            relay.arm(number, fault)
            bench.persistently(storage.claim, epoch)
            for name, content in (("small", small), ("large", large))[: 2 if number % 4 == 0 else 1]:
                reference = bench.persistently(_write, storage, checkpoint, epoch, name, content)
                bench.checked(reference, content)
                bench.require_content(bench.storage().streams(checkpoint, epoch), reference, content)
            bench.persistently(storage.finish, checkpoint, epoch, b"metadata")
            bench.require_metadata(bench.storage(), f"chk-{checkpoint}", b"metadata")
            bench.persistently(storage.drop, checkpoint, epoch)
            bench.require_files(bench.storage(), "", [])
            storage.close()
            if not relay.struck:
                break
            bench.hit(f"request-{fault}")
    storage, _ = bench.coordinator()
    if bench.location.uploads():
        raise Violation("ASY-05", f"{bench.location.uploads()} uploads are left open behind a claim.")


def _write(storage: CheckpointStorage, checkpoint: int, epoch: int, name: str, content: bytes) -> FileReference:
    stream = storage.streams(checkpoint, epoch).create(Scope.EXCLUSIVE, name, b"token")
    half = len(content) // 2
    stream.write(content[:half])
    stream.write(content[half:])
    return stream.commit()


CONTENT = bytes_of(300)


def given_up_after_failing(bench: Bench) -> None:
    """Whoever gives up behind a commit that raised leaves nothing, and what was returned is there."""
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    for number, failing in each_point(bench):
        stream = streams.create(Scope.SHARED, f"file-{number}", b"mine")
        stream.write(CONTENT)
        reference = failed(bench, failing, "commit", stream.commit)
        bench.step("cancel")
        again(stream.cancel)
        if reference is not None:
            bench.require_content(bench.storage().streams(1, epoch), reference, CONTENT)
            storage.delete([reference], epoch)
        bench.require_files(storage, "", [])
        other = bench.write(streams, f"file-{number}", CONTENT[::-1], Scope.SHARED, b"other")
        bench.require_content(streams, other, CONTENT[::-1])
        storage.delete([other], epoch)


def published(bench: Bench) -> None:
    """A checkpoint whose publication raised is published by the same call again."""
    storage, epoch = bench.coordinator()
    for number, failing in each_point(bench, first=1):
        pointer = failed(bench, failing, "finish", storage.finish, number, epoch, CONTENT)
        if pointer is None:
            bench.step("finish again")
            pointer = again(storage.finish, number, epoch, CONTENT)
        bench.require_metadata(bench.storage(), pointer, CONTENT)
        again(storage.drop, number, epoch)


def removed(bench: Bench) -> None:
    """What is neither named nor raised for is gone; what is, can be removed again."""
    storage, epoch = bench.coordinator()
    for number, failing in each_point(bench):
        files = [bench.write(storage.streams(1, epoch), f"{number}-{each}", CONTENT, Scope.SHARED) for each in "ab"]
        left = failed(bench, failing, "delete", storage.delete, files, epoch)
        named = files if left is None else list(left)
        there = set(storage.list_folder(""))
        if silent := [each.path for each in files if each not in named and each.path in there]:
            raise Violation(bench.rule, f"delete() did not name {silent[0]}, which is still there.")
        bench.step("delete again")
        again(storage.delete, files, epoch)
        bench.require_files(storage, "", [])


def dropped(bench: Bench) -> None:
    """A checkpoint whose removal raised is removed by the same call again."""
    storage, epoch = bench.coordinator()
    for number, failing in each_point(bench, first=1):
        bench.write(storage.streams(number, epoch), "state", CONTENT)
        storage.finish(number, epoch, CONTENT)

        def drop(number: int = number) -> bool:
            storage.drop(number, epoch)
            return True

        if not failed(bench, failing, "drop", drop):
            bench.step("drop again")
            again(drop)
        bench.require_files(bench.storage(), "", [])


LARGEST_TRIED = 32 * MEBIBYTE
"""A limit above this is not tried: the memory belongs to others, too."""
DEFAULT_THRESHOLD, LARGEST_THRESHOLD = 20 << 10, MEBIBYTE


def longest(bench: Bench) -> None:
    limit = bench.description.max_file_bytes
    if limit is None:
        raise CannotTry("it has no limit of its own")
    if limit > LARGEST_TRIED:
        raise CannotTry(f"max_file_bytes is {limit}, which is too large to be tried")
    storage, epoch = bench.coordinator()
    streams = storage.streams(1, epoch)
    content = bytes_of(limit + 1)
    kept = [bench.write(streams, f"fits-{size}", content[:size]) for size in (limit - 1, limit)]
    whole = streams.create(Scope.EXCLUSIVE, "too-long", b"token")
    pieces = streams.create(Scope.SHARED, "too-long-by-one", b"token")
    pieces.write(content[:limit])
    for what, stream, piece in (("at once", whole, content), ("in pieces", pieces, b"x")):

        def call(stream=stream, piece=piece) -> None:  # type: ignore[no-untyped-def]
            stream.write(piece)
            stream.commit()

        bench.refuses(f"write {limit + 1} bytes {what}", Full, call, naming="max_file_bytes")
        stream.cancel()
    bench.refuses(f"finish with {limit + 1} bytes", Full, storage.finish, 1, epoch, content, naming="max_file_bytes")
    bench.refuses("resolve what did not fit", FileNotFoundError, lambda: storage.resolve("chk-1"))
    bench.require_files(storage, "", [each.path for each in kept])
    for reference in kept:
        bench.require_content(streams, reference, content[: reference.length])
    bench.step("what fits is published")
    bench.require_metadata(storage, storage.finish(1, epoch, content[:limit]), content[:limit])


def inline(bench: Bench) -> None:
    bench.step("the default threshold")
    default = bench.description.options[INLINE_THRESHOLD][0]
    if default != str(DEFAULT_THRESHOLD):
        raise Violation(bench.rule, f"the default threshold is {default}; {DEFAULT_THRESHOLD} is right.")
    bench.coordinator()
    for threshold in (0, 1, 300, DEFAULT_THRESHOLD, LARGEST_THRESHOLD):
        storage = bench.storage(options={INLINE_THRESHOLD: str(threshold)})
        streams = storage.streams(1, 1)
        for size in filter(bench.takes, sorted({0, 1, threshold - 1, threshold, threshold + 1} - {-1})):
            content = bytes_of(size, threshold)
            stream = streams.create(Scope.EXCLUSIVE, f"{threshold}-{size}", b"token")
            bench.step(f"write {size} bytes, threshold {threshold}")
            for first in range(0, size, 999):
                stream.write(content[first : first + 999])
            before = set(storage.list_folder(""))
            reference = bench.checked(stream.commit(), content)
            added = set(storage.list_folder("")) - before
            inside = threshold > 0 and size <= threshold
            if bool(added) == inside:
                where = "in a file" if added else "in its reference"
                raise Violation(bench.rule, f"{size} bytes are kept {where}, though the threshold is {threshold}.")
            bench.require_content(bench.storage().streams(1, 1), reference, content)
            if size > 2:
                read = b"".join(streams.read(reference, 1, size - 2))
                if read != content[1:-1]:
                    raise Violation(bench.rule, f"a range of {size} bytes, threshold {threshold}, is another one.")
            if list(storage.delete([reference], 1)):
                raise Violation(bench.rule, f"{size} bytes, threshold {threshold}, cannot be deleted.")
    for wrong in (str(LARGEST_THRESHOLD + 1), "-1", "20 apples"):
        bench.refuses(
            f"a threshold of {wrong}",
            ValueError,
            lambda wrong=wrong: bench.storage(options={INLINE_THRESHOLD: wrong}),
            naming=INLINE_THRESHOLD,
        )


CHECKS = (
    Check("SBK-07/longest", "The longest file fits, and one byte more is Full.", longest),
    Check("STO-04/inline", "Files up to the threshold are kept in their references.", inline, frozenset({INLINE})),
    Check("STO-09/retried", "A retry with its token takes up its own file.", retried),
    Check("STO-02/given-up", "Who gives up behind a lost answer takes its own file away.", given_up),
    Check("CRD-11/unknown-outcome", "A checkpoint whose answer was lost is found, with its files.", unknown_outcome),
    Check("STO-09/requests", "Any one request may fail: the same call again succeeds.", requests,
          windows=("tried-again", *(f"request-{fault}" for fault in WireFault))),
    Check("STO-02/failed-commit", "Who gives up behind a commit that failed anywhere leaves nothing.",
          given_up_after_failing),
    Check("STO-02/failed-delete", "What could not be deleted is named.", removed),
    Check("STO-03/failed-drop", "A drop that failed anywhere says so, and is done by the same call again.", dropped),
    Check("CRD-11/failed-finish", "A publication that failed anywhere succeeds by the same call again.", published),
)  # fmt: skip
