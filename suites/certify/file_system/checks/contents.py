"""STO-07, ASY-03: files and listings are what was written, for everybody, at once and behind a loss of power."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from holdfast.harness.spi.file_system import FileSystem
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.outside.bench import MEBIBYTE, OUTLIVES_PROCESS, bytes_of
from holdfast.suites.certify.outside.messages import Act

PATHS = ("a", "b/1", "b/10", "b/c/1", "b-c/1", "b.c", "bc/1", "c/d/e/f", "d-_.d", "d_d/1", "d-d/1", "dxd/1")
MANY = 1_050
"""More than one page of any store that is known."""
WRITERS_FAR = 16
"""Threads that write many files where each is a number of requests."""


def folders(bench: Bench) -> None:
    files = bench.files()
    for path in reversed(PATHS):
        bench.publish(files, path, b"content")
    for reader in (files, bench.files()):
        bench.require_paths(reader, "", PATHS)
        for folder in ("b", "b/c", "b-c", "bc", "c", "c/d", "c/d/e", "d_d", "b/1", "a", "nothing", "b/c/d"):
            bench.require_paths(reader, folder, [path for path in PATHS if path.startswith(f"{folder}/")])


def many(bench: Bench) -> None:
    files = bench.files()
    paths = [f"many/{number:04d}" for number in range(MANY)]
    bench.step(f"publish {MANY} files")
    with ThreadPoolExecutor(WRITERS_FAR if bench.location.far else 1) as pool:
        list(pool.map(lambda path: _publish(files, path), paths))
    bench.require_paths(files, "many", paths)
    bench.require_paths(bench.files(), "", paths)
    bench.require_removed(files, paths)
    bench.require_paths(bench.files(), "", [])


def _publish(files: FileSystem, path: str) -> None:
    upload = files.begin(path)
    upload.write(b"x")
    upload.publish()


SIZES = (0, 1, 4_095, 4_096, 4_097, 100_000, MEBIBYTE, MEBIBYTE + 1, 5 * MEBIBYTE, 5 * MEBIBYTE + 1, 11 * MEBIBYTE)
"""Around the sizes of buffers and of the parts of uploads."""


def round_trip(bench: Bench) -> None:
    files = bench.files()
    written = {}
    for number, size in enumerate(sorted({bench.longest(size) for size in SIZES})):
        written[f"sizes/file-{size}"] = bytes_of(size, number)
        bench.publish(files, f"sizes/file-{size}", bytes_of(size, number), pieces=1 + number % 4)
    written["bytes"] = bytes(range(256)) + b"\x00" * 300 + b"\r\n\x1a"
    bench.publish(files, "bytes", written["bytes"], pieces=50)
    for reader in (files, bench.files()):
        for path, content in written.items():
            bench.require_content(reader, path, content)


def side_by_side(bench: Bench) -> None:
    """Several files are under way at a time, and written in turns."""
    files = bench.files()
    size = bench.longest(60_000)
    contents = [bytes_of(size, number) for number in range(3)]
    uploads = [files.begin(f"{number}") for number in range(3)]
    bench.step("write three files in turns")
    for first in range(0, size, 7_000):
        for upload, content in zip(uploads, contents, strict=True):
            upload.write(content[first : first + 7_000])
    for upload in reversed(uploads):
        upload.publish()
    for number, content in enumerate(contents):
        bench.require_content(files, f"{number}", content)


def ranges(bench: Bench) -> None:
    files = bench.files()
    size = bench.longest(3 * MEBIBYTE + 7)
    content = bytes_of(size)
    bench.publish(files, "ranges", content)
    bench.publish(files, "empty", b"")
    for start, end in (
        (0, 0), (0, 1), (0, size), (1, size), (size - 1, size), (size, size), (size // 3, size // 2), (4_095, 4_097),
        (MEBIBYTE - 1, MEBIBYTE + 1), (0, size + 1), (size - 1, size + 5), (size, size + 5), (size + 9, size + 10),
        (1, size - 1), *((3, 3 + 2**bits + over) for bits in (12, 16, 20) for over in (-1, 0, 1)),
    ):  # fmt: skip
        bench.step(f"read {start} to {end} of {size}")
        found = b"".join(files.read("ranges", start, end))
        if found != content[start:end]:
            raise Violation(bench.rule, f"read({start}, {end}) of {size} bytes gives {len(found)}, or others.")
    for path, there in (("ranges", content), ("empty", b"")):
        for length in (1, 44, 70_000, len(there) or 1, size + 1):
            bench.step(f"read the last {length} of {len(there)}")
            if files.tail(path, length) != there[-length:]:
                raise Violation(bench.rule, f"tail({length}) of {len(there)} bytes gives others.")


def at_once(bench: Bench) -> None:
    """Who looks behind a publication or a removal sees it, whatever was seen before."""
    writer, readers = bench.files(), [bench.files(), bench.files()]
    there: list[str] = []
    for number in range(6):
        for reader in readers:
            bench.require_paths(reader, "", there)
            bench.require_absent(reader, f"folder/{number}")
        bench.publish(writer, f"folder/{number}", b"%d" % number)
        there.append(f"folder/{number}")
        for reader in readers:
            bench.require_paths(reader, "", there)
            bench.require_paths(reader, "folder", there)
            bench.require_content(reader, f"folder/{number}", b"%d" % number)
        if number % 2:
            bench.require_removed(writer, [there[0]])
            for reader in readers:
                bench.require_absent(reader, there[0])
            del there[0]


def another_process(bench: Bench) -> None:
    files = bench.files()
    content = bytes_of(bench.longest(100_000))
    bench.publish(files, "a/ours", content)
    bench.step("another process reads what is here, and writes")
    read, listed, written = bench.victims.run([
        Act("read", name="a/ours"),
        Act("paths"),
        Act("publish", name="a/theirs", content=content[1:], piece_bytes=999),
    ]).outcomes  # fmt: skip
    for what, outcome in (("read", read), ("paths", listed), ("publish", written)):
        if outcome.error:
            raise Violation(bench.rule, f"{what} in another process raised {outcome.error}: {outcome.text}")
    if read.content != content or listed.text != "a/ours":
        raise Violation(bench.rule, f"another process reads {len(read.content)} bytes, and lists {listed.text!r}.")
    bench.require_content(files, "a/theirs", content[1:])
    bench.require_paths(files, "", ["a/ours", "a/theirs"])


def durable(bench: Bench) -> None:
    acts = [
        Act("publish", name="first", content=bytes_of(300)),
        Act("publish", name="a/b/second", content=bytes_of(bench.longest(100_000))),
        Act("publish", name="a/third", content=b""),
    ]
    bench.require_kept(
        acts, "the publication", lambda act, _: bench.require_content(bench.files(), act.name, act.content)
    )


CHECKS = (
    Check("STO-07/round-trip", "Contents of all sizes are read as they were written.", round_trip),
    Check("STO-07/side-by-side", "Files that are written in turns do not mix.", side_by_side),
    Check("STO-07/ranges", "A range is exactly that range, also where the file ends within it.", ranges),
    Check("STO-07/at-once", "What was published or removed is so at once, for everybody.", at_once),
    Check("STO-07/another-process", "What one process stores another reads.", another_process,
          frozenset({OUTLIVES_PROCESS})),
    Check("ASY-03/synchronised", "What was published survives a loss of power.", durable,
          frozenset({OUTLIVES_PROCESS})),
    Check("STO-07/listing", "A folder has the files below it, by whole segments, in order.", folders),
    Check("STO-07/many", "A listing of many files is whole.", many),
)  # fmt: skip
