"""STO-02: a path is published once; what is not there is missing; removing is idempotent."""

from __future__ import annotations

from contextlib import suppress

from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.outside.bench import MEBIBYTE, bytes_of


def taken(bench: Bench) -> None:
    files = bench.files()
    large = bytes_of(bench.longest(6 * MEBIBYTE))
    for number, (first, second) in enumerate(((b"first", b"second"), (b"", b"second"), (b"first", b""),
                                              (b"same", b"same"), (b"first", large), (large, b"second"))):  # fmt: skip
        path = f"a/{number}"
        early, late = bench.begin(files, path, first), bench.begin(bench.files(), path, second)
        early.publish()
        for _ in range(2):
            bench.refuses(f"publish {path!r}, which is there", FileExistsError, late.publish)
            bench.require_content(files, path, first)
        late.abandon()
        bench.require_content(bench.files(), path, first)
    bench.require_paths(files, "", [f"a/{number}" for number in range(6)])


def again(bench: Bench) -> None:
    """The answer to a publication is lost: the same call again leaves what it published."""
    files = bench.files()
    upload = bench.begin(files, "a", b"content")
    upload.publish()
    bench.step("publish 'a' again")
    with suppress(FileExistsError):
        upload.publish()
    bench.require_content(files, "a", b"content")
    bench.require_removed(files, ["a"])
    bench.publish(files, "a", b"other")
    bench.require_content(bench.files(), "a", b"other")


def missing(bench: Bench) -> None:
    files = bench.files()
    bench.publish(files, "a/b/c", b"content")
    for path in ("a", "a/b", "a/b/d", "nothing", "nothing/at/all", "a/b/c/d"):
        bench.require_absent(files, path)


def removing(bench: Bench) -> None:
    files = bench.files()
    paths = ["a/1", "a/10", "a/2", "b/1", "b/c/d"]
    for path in paths:
        bench.publish(files, path, b"content")
    bench.require_removed(files, ["a/1", "nothing", "a/1", "nothing/at/all", "a/1/b"])
    bench.require_paths(files, "", paths[1:])
    bench.require_removed(bench.files(), ["a/1"])
    bench.require_removed(files, ["b", "b/c", "a"])  # No files, but folders.
    bench.require_paths(bench.files(), "", paths[1:])
    bench.require_removed(files, [])
    bench.require_removed(files, paths)
    bench.require_paths(bench.files(), "", [])
    for path in paths:
        bench.publish(files, path, b"anew")
        bench.require_content(files, path, b"anew")


def unchanged(bench: Bench) -> None:
    """Nothing that happens beside a file changes it."""
    files = bench.files()
    bench.publish(files, "a", b"content")
    before = bench.begin(files, "b", b"other")
    bench.require_removed(files, ["b"])
    before.publish()
    bench.require_removed(files, ["b"])
    files.abandon_uploads()
    files.close()
    files.close()
    reader = bench.files()
    bench.require_paths(reader, "", ["a"])
    bench.require_content(reader, "a", b"content")
    if reader.describe() != files.describe():
        raise Violation(bench.rule, "describe() returns something else behind close().")


CHECKS = (
    Check("STO-02/taken", "A path that is taken is refused, and what is there stays.", taken),
    Check("STO-02/again", "A publication may be repeated, and the path is free behind a removal.", again),
    Check("STO-02/missing", "What is not there is missing, and no empty file.", missing),
    Check("STO-02/removing", "Removing is idempotent, and takes away what is named.", removing),
    Check("STO-02/unchanged", "What is published stays as it is.", unchanged),
)
