"""STO-01, STO-02, CRD-11: a call that leaves Python fails at any place of a call, before its effect or behind it.

What is raised then is the storage's own affair. What it returns is true, and what it could not do can be done again.
"""

from __future__ import annotations

from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import bytes_of
from holdfast.suites.certify.outside.failing import again, each_point, failed

CONTENT = bytes_of(300)


def given_up(bench: Bench) -> None:
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


CHECKS = (
    Check("STO-02/failed-commit", "Who gives up behind a commit that failed anywhere leaves nothing.", given_up),
    Check("STO-02/failed-delete", "What could not be deleted is named.", removed),
    Check("STO-03/failed-drop", "A drop that failed anywhere says so, and is done by the same call again.", dropped),
    Check("CRD-11/failed-finish", "A publication that failed anywhere succeeds by the same call again.", published),
)
