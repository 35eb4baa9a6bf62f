"""STO-02: a call that leaves Python fails at any place of a call, before its effect or behind it.

What is raised then is the file system's own affair. What it returns is true, and what it could not do can be done
again.
"""

from __future__ import annotations

from contextlib import suppress

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.file_system import Upload
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.outside.bench import bytes_of
from holdfast.suites.certify.outside.failing import again, each_point, failed

CONTENT = bytes_of(300)


def published(bench: Bench) -> None:
    """A file whose publication raised is whole, or not there; the same call again does no harm to it."""
    files = bench.files()
    for number, failing in each_point(bench):
        path = f"a/{number}"
        upload = bench.begin(files, path, CONTENT)

        def publish(upload: Upload = upload) -> bool:
            upload.publish()
            return True

        done = failed(bench, failing, "publish", publish)
        if done:
            bench.require_content(bench.files(), path, CONTENT)
        bench.step("publish again")
        with suppress(Transient, FileExistsError):
            upload.publish()
        there = path in bench.files().paths("a")
        bench.step("abandon")
        again(upload.abandon)
        if there:
            bench.require_content(bench.files(), path, CONTENT)
        else:
            bench.require_absent(files, path)
        again(files.remove, [path])


def removed(bench: Bench) -> None:
    """What is neither named nor raised for is gone; what is, can be removed again."""
    files = bench.files()
    for number, failing in each_point(bench):
        paths = [f"{number}-{each}" for each in "ab"]
        for path in paths:
            bench.publish(files, path, CONTENT)
        left = failed(bench, failing, "remove", files.remove, paths)
        there = set(files.paths(""))
        if silent := [path for path in paths if left is not None and path not in left and path in there]:
            raise Violation(bench.rule, f"remove() did not name {silent[0]!r}, which is still there.")
        bench.step("remove again")
        again(files.remove, paths)
        bench.require_paths(bench.files(), "", [])


CHECKS = (
    Check("STO-02/failed-publish", "A publication that failed anywhere leaves a whole file, or none.", published),
    Check("STO-02/failed-remove", "What could not be removed is named.", removed),
)
