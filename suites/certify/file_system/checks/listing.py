"""STO-07: a listing holds every file below a folder, and nothing else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from holdfast.harness.spi.file_system import FileSystem
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.file_system.bench import Bench

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


CHECKS = (
    Check("STO-07/listing", "A folder has the files below it, by whole segments, in order.", folders),
    Check("STO-07/many", "A listing of many files is whole.", many),
)
