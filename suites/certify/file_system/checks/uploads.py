"""STO-02, ASY-05: nobody sees what is under way, and nothing of it is left where it is given up."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.file_system import Upload
from holdfast.suites.certify.check import Check
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


CHECKS = (
    Check("STO-02/unseen", "Nobody sees a file before it is published.", unseen),
    Check("STO-02/abandoned", "Who gives up leaves nothing, and takes nothing away.", abandoned),
    Check("ASY-05/all-abandoned", "What others have left under way is removed.", all_abandoned),
)
