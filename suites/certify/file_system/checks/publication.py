"""STO-02, ASY-05, STO-08: a path is published once and unseen before; what is given up or removed goes, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.file_system import Upload
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.outside.bench import MEBIBYTE, bytes_of


def _contents(bench: Bench) -> Sequence[bytes]:
    """Nothing, little, and more than a part of an upload."""
    return [content for content in (b"", bytes_of(300), bytes_of(11 * MEBIBYTE)) if bench.takes(len(content))]


def unseen(bench: Bench) -> None:
    files = bench.files()
    for number, content in enumerate(_contents(bench)):
        upload = bench.begin(files, f"a/{number}", content)
        for reader in (files, bench.files()):
            bench.require_paths(reader, "", [f"a/{each}" for each in range(number)])
            bench.require_absent(reader, f"a/{number}")
        upload.publish()
        bench.require_content(files, f"a/{number}", content)
    bench.require_paths(bench.files(), "", [f"a/{number}" for number in range(len(_contents(bench)))])


def abandoned(bench: Bench) -> None:
    files = bench.files()
    for content in _contents(bench):
        bench.publish(files, "a/kept", content)
        before = bench.raw()
        for path in ("a/kept", "a/new", "b"):
            upload = bench.begin(files, path, content)
            bench.step(f"abandon {path!r}, twice")
            upload.abandon()
            upload.abandon()
        bench.require_paths(files, "", ["a/kept"])
        bench.require_nothing_left(before, "abandon()", bench.rule)
        published = bench.begin(files, "a/published", content)
        published.publish()
        bench.step("abandon 'a/published', which is published")
        published.abandon()
        bench.require_content(bench.files(), "a/published", content)
        bench.require_content(files, "a/kept", content)
        bench.require_removed(files, ["a/kept", "a/published"])


def all_abandoned(bench: Bench) -> None:
    """What others have left under way goes; what they have published stays; who goes on publishes all or nothing."""
    files = bench.files()
    bench.publish(files, "kept", b"content")
    bench.step("abandon_uploads()")
    files.abandon_uploads()
    before = bench.raw()
    for content in _contents(bench):
        for path in ("a", "b/c", "kept"):
            bench.begin(bench.files(), path, content)
        bench.step("abandon_uploads()")
        bench.files().abandon_uploads()
        bench.require_paths(files, "", ["kept"])
        bench.require_nothing_left(before, "abandon_uploads()", bench.rule)
        for more in (more for more in (b"", b"more") if bench.takes(len(content) + len(more))):
            late = bench.begin(bench.files(), "late", content)
            files.abandon_uploads()
            bench.step(f"write {len(more)} bytes more, and publish all the same")
            if _published(late, more):
                bench.require_content(files, "late", content + more)
                bench.require_removed(files, ["late"])
            else:
                bench.require_absent(files, "late")
            late.abandon()
            bench.require_nothing_left(before, "a late publication", bench.rule)
    bench.require_content(bench.files(), "kept", b"content")


def _published(upload: Upload, more: bytes) -> bool:
    try:
        if more:
            upload.write(more)
        upload.publish()
    except Transient:
        return False
    return True


FOLDERS = ("job", "job2", "jo", "job-", "j_b", "JOB", "a%2Fb", "a%20b%3A", "%2E%2E", "x" * 100)
"""As checkpoint storages name them: percent-encoded names of jobs."""


def apart(bench: Bench) -> None:
    every = {folder: bench.files(folder) for folder in FOLDERS}
    for folder, files in every.items():
        bench.publish(files, "a/b", folder.encode())
    left = {folder: bench.begin(files, "a/c", folder.encode()) for folder, files in every.items()}
    while left:
        folder = next(iter(left))
        upload, files = left.pop(folder), every[folder]
        bench.step(f"{folder!r} publishes what it had begun, abandons its uploads, and removes its files")
        upload.publish()
        bench.require_paths(files, "", ["a/b", "a/c"])
        bench.require_content(files, "a/c", folder.encode())
        files.abandon_uploads()
        bench.require_removed(files, ["a/b", "a/c"])
        bench.require_paths(files, "", [])
        for other in left:
            bench.require_paths(every[other], "", ["a/b"])
            bench.require_content(every[other], "a/b", other.encode())


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
    Check("STO-02/unseen", "Nobody sees a file before it is published.", unseen),
    Check("STO-02/abandoned", "Who gives up leaves nothing, and takes nothing away.", abandoned),
    Check("ASY-05/all-abandoned", "What others have left under way is removed.", all_abandoned),
    Check("STO-08/folders", "What is done in one folder is done in no other.", apart),
)
