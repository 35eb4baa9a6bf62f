"""SBK-07, STO-04: what is declared fits, one byte more is Full; small files are kept in their references."""

from __future__ import annotations

from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import INLINE, Bench
from holdfast.suites.certify.checkpoint_storage.target import INLINE_THRESHOLD
from holdfast.suites.certify.outside.bench import MEBIBYTE, bytes_of

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
)
