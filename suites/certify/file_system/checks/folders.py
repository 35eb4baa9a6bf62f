"""STO-08: those of one folder see nothing of another one."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.file_system.bench import Bench

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


CHECKS = (Check("STO-08/folders", "What is done in one folder is done in no other.", apart),)
