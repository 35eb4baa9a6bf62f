"""STO-08: jobs on one place see nothing of each other, whatever they are called."""

from __future__ import annotations

from holdfast.harness.spi.storage import CheckpointStorage, Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench

JOBS = ("job", "job-2", "jo", "Job", "job/2", "..", ".", "job 3", "chk-1", "shared", "jöb", "job%2F2")
LONGEST = 80
"""Bytes of a name that every storage takes (spi.storage.StorageContext)."""
ALIKE = (
    "a/b", "a_b", "a-b", "a.b", "a+b", "a%2Fb", "a%2fb", "a%252Fb", "a//b", "/a/b", "a/b/", "a/./b", "a/../a/b", "a\\b",
    "a:b", "a b", " a b", "a b ", "a b.", "a%20b", "ab", "A/B", "A_B", "j\u00f6b", "jo\u0308b", "j\u00d6b", "job",
    "j?b", "j_b", "~", "$HOME", "*", "con", "%", "%%", "a" * LONGEST, "a" * (LONGEST - 1) + "b",
    "\u00f6" * (LONGEST // 2),
)  # fmt: skip
"""Names that become one where letters are replaced, unfolded, normalised or left out."""
TOO_LONG = tuple("a" * length + last for length in (100, 300, 5_000) for last in "xy")
"""Names that may be refused, and that become one where they are cut."""


def jobs(bench: Bench) -> None:
    storages = {job: bench.storage(job) for job in JOBS}
    references, pointers, seen = {}, {}, {}
    for number, (job, storage) in enumerate(storages.items(), start=1):
        bench.step(f"job {job!r} claims epoch {number}, writes and publishes")
        storage.claim(number)
        references[job] = bench.write(storage.streams(1, number), "state", job.encode(), Scope.SHARED)
        pointers[job] = storage.finish(1, number, job.encode())
        seen[job] = [references[job].path, *storage.list_folder("chk-1")]
    for job, storage in storages.items():
        bench.require_files(storage, "", seen[job])
        bench.require_content(storage.streams(1, 1), references[job], job.encode())
        bench.require_metadata(storage, pointers[job], job.encode())
    first, *rest = JOBS
    bench.step(f"job {first!r} drops and deletes all that it has, and is claimed again")
    storages[first].claim(1_000)
    storages[first].drop(1, 1_000)
    storages[first].delete([references[first]], 1_000)
    bench.require_files(storages[first], "", [])
    for number, job in enumerate(rest, start=2):
        bench.require_files(storages[job], "", seen[job])
        bench.require_content(storages[job].streams(1, number), references[job], job.encode())
        bench.require_metadata(storages[job], pointers[job], job.encode())
        bench.write(storages[job].streams(2, number), "goes-on", b"")


def names(bench: Bench) -> None:
    """Each is new when its turn comes, and claims a lower epoch than the one before."""
    storages: dict[str, CheckpointStorage] = {}
    paths: dict[str, list[str]] = {}
    for number, job in enumerate((*ALIKE, *TOO_LONG)):
        called = _called(job)
        bench.step(f"a storage of job {called}")
        try:
            storage = bench.storage(job)
        except ValueError as error:
            if job in TOO_LONG:
                continue
            raise Violation(bench.rule, f"job {called} is refused, and its name is none too long: {error}") from error
        if there := list(storage.list_folder("")):
            others = [_called(other) for other, files in paths.items() if set(files) & set(there)]
            whose = f"job {others[0]}" if others else "nobody that is known"
            raise Violation(bench.rule, f"job {called} is new, and sees files of {whose}: {there}.")
        epoch = len(ALIKE) + len(TOO_LONG) - number
        storage.claim(epoch)
        content = b"of job %d" % number
        reference = bench.write(storage.streams(1, epoch), f"of-{number}", content, Scope.SHARED)
        storages[job], paths[job] = storage, [reference.path]
        bench.require_content(storage.streams(1, epoch), reference, content)
    for job, storage in storages.items():
        bench.step(f"job {_called(job)} again")
        bench.require_files(storage, "", paths[job])


def _called(job: str) -> str:
    """The name, or both of its ends."""
    return repr(job) if len(job) < LONGEST else f"{job[:8]}...{job[-8:]} of {len(job)} characters"


CHECKS = (
    Check("STO-08/jobs", "Two jobs on one place see nothing of each other.", jobs),
    Check("STO-08/names", "Two names are two jobs, however alike they are.", names),
)
