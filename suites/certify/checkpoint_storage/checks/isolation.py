"""STO-05, STO-07, STO-08: newer epochs fence older ones, jobs are apart, and the work of other processes is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Fenced
from holdfast.harness.spi.storage import CheckpointStorage, Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import EXCLUSIVE, MEBIBYTE, OUTLIVES_PROCESS, bytes_of
from holdfast.suites.certify.outside.messages import Act

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


CONTENT = bytes_of(300)
MOST_STOPS = 60
"""Points at which a late writer stands still; of more, evenly spread ones are taken."""


def fenced(bench: Bench) -> None:
    ours, epoch = bench.coordinator()
    kept = bench.write(ours.streams(1, epoch), "kept", CONTENT, Scope.SHARED)
    pending = bench.write(ours.streams(3, epoch), "of-a-pending-checkpoint", CONTENT)
    pointer = ours.finish(1, epoch, b"metadata")
    begun = ours.streams(2, epoch).create(Scope.SHARED, "begun", b"token")
    begun.write(CONTENT)
    seen = list(ours.list_folder(""))
    theirs, newer = bench.coordinator()
    bench.require_files(theirs, "", seen)
    for what, call in calls_of(ours, epoch):
        bench.refuses(f"{what} of the older epoch", Fenced, call)
        bench.require_files(theirs, "", seen)
    bench.refuses("commit of a stream that began before", Fenced, begun.commit)
    begun.cancel()
    bench.require_files(theirs, "", seen)
    for reference in (kept, pending):
        bench.require_content(theirs.streams(1, newer), reference, CONTENT)
    bench.step("reading is not fenced")
    bench.require_content(ours.streams(1, epoch), kept, CONTENT)
    bench.require_metadata(ours, pointer, b"metadata")
    bench.step("the newer epoch goes on, under the same names")
    taken = bench.write(theirs.streams(2, newer), "begun", b"newer", Scope.SHARED, b"newer")
    bench.require_content(ours.streams(2, epoch), taken, b"newer")
    bench.require_metadata(theirs, theirs.finish(2, newer, b"newer"), b"newer")
    bench.step("and removes what the older one left")
    theirs.drop(1, newer)
    theirs.delete([kept, pending], newer)
    bench.require_files(theirs, "", [taken.path, *theirs.list_folder("chk-2")])


def calls_of(storage: CheckpointStorage, epoch: int) -> Sequence[tuple[str, Callable[[], object]]]:
    """All that changes something, in words."""
    reference = next(iter(storage.list_folder("shared")))
    gone = FileReference(reference, len(CONTENT), 0)

    def commit() -> object:
        stream = storage.streams(2, epoch).create(Scope.EXCLUSIVE, "late", b"token")
        stream.write(b"late")
        return stream.commit()

    return (
        ("create, write and commit", commit),
        ("finish of a new checkpoint", lambda: storage.finish(2, epoch, b"late")),
        ("drop", lambda: storage.drop(1, epoch)),
        ("delete", lambda: storage.delete([gone], epoch)),
        ("delete of a task", lambda: storage.streams(1, epoch).delete([gone])),
        ("claim", lambda: storage.claim(epoch)),
    )


def claims(bench: Bench) -> None:
    """Numbers of epochs are compared as numbers, and a claim may be repeated."""
    long = bytes_of(bench.longest(MEBIBYTE) - len(CONTENT))
    for earlier, later in ((1, 2), (2, 9), (9, 10), (10, 11), (11, 100), (100, 1 << 33)):
        storage, other = bench.storage(), bench.storage()
        bench.step(f"claim({earlier}), twice, then claim({later})")
        storage.claim(earlier)
        storage.claim(earlier)
        other.claim(earlier)
        pointer = storage.finish(earlier, earlier, b"of %d" % earlier)
        other.claim(later)
        begun = other.streams(later, later).create(Scope.SHARED, f"begun-by-{later}", b"token")
        begun.write(long)
        for claimer in (other, bench.storage()):
            claimer.claim(later)
        bench.step("commit what was begun before the claim was repeated")
        begun.write(CONTENT)
        taken = bench.checked(begun.commit(), long + CONTENT)
        bench.require_content(other.streams(later, later), taken, long + CONTENT)
        for fenced_one in (earlier, earlier - 1):
            bench.refuses(f"claim({fenced_one})", Fenced, storage.claim, fenced_one)
        bench.refuses(f"finish of epoch {earlier}", Fenced, storage.finish, 1_000, earlier, b"")
        bench.require_metadata(other, pointer, b"of %d" % earlier)
        bench.require_metadata(other, other.finish(1_000 + later, later, b"later"), b"later")


def late(bench: Bench) -> None:
    """An older attempt stands still anywhere in a commit or a finish, and goes on behind the claim of a newer one."""
    victims = bench.victims
    number, width = 0, 1
    for _ in bench.turns():
        epoch = bench.next_epoch()
        checkpoint = epoch
        acts = [
            Act("claim", epoch=epoch),
            Act("write", checkpoint=checkpoint, epoch=epoch, name=f"late-{epoch}", content=CONTENT, scope="shared"),
            Act("finish", checkpoint=checkpoint, epoch=epoch, content=b"late"),
        ]
        if not number:
            width = max(1, victims.run(acts, counted_from=1).points // bench.most(MOST_STOPS))
            number = 1
            continue
        stopped = victims.stop(acts, number - 1, counted_from=1)
        if stopped is None:
            break
        bench.step(f"a writer of epoch {epoch} stands still {stopped.where}")
        (successor, newer), report = bench.beside(stopped, bench.coordinator)
        seen = list(successor.list_folder(""))
        there = f"chk-{checkpoint}" in {path.partition("/")[0] for path in seen}
        bench.step("it goes on")
        _, written, finished = (report or stopped.go_on()).outcomes
        bench.hit("stood-still")
        for looker in (successor, bench.storage()):
            bench.require_files(looker, "", seen)
        shared = f"late-{epoch}" in " ".join(seen)
        for what, outcome, happened in (("commit", written, shared), ("finish", finished, there)):
            if outcome.error not in ("", "Fenced", "Transient"):
                raise Violation(bench.rule, f"the late {what} raised {outcome.error}: {outcome.text}; Fenced is right.")
            if not outcome.error and not happened:
                raise Violation(bench.rule, f"the late {what} returned, and the newer epoch sees nothing of it.")
        if there:
            bench.require_metadata(successor, f"chk-{checkpoint}", b"late")
        else:
            bench.refuses("resolve what came too late", FileNotFoundError, bench.storage().resolve, f"chk-{epoch}")
            bench.step("the newer epoch publishes the same checkpoint")
            successor.finish(checkpoint, newer, b"newer")
            bench.require_metadata(bench.storage(), f"chk-{checkpoint}", b"newer")
        if not shared:
            own = bench.write(successor.streams(1, newer), f"late-{epoch}", b"newer", Scope.SHARED, b"newer")
            bench.require_content(bench.storage().streams(1, newer), own, b"newer")
        number += width


def seen_again(bench: Bench) -> None:
    """One checkpoint is dropped, and another one published."""
    storage, epoch = bench.coordinator()
    bench.write(storage.streams(1, epoch), "state", CONTENT)
    pointer = storage.finish(1, epoch, b"ours")
    lookers = (storage, bench.storage())
    for looker in lookers:
        bench.require_metadata(looker, pointer, b"ours")
        bench.refuses("resolve chk-2", FileNotFoundError, looker.resolve, "chk-2")
        bench.require_files(looker, "chk-1", ["chk-1/_metadata", "chk-1/state"])
        bench.require_files(looker, "chk-2", [])
    _elsewhere(bench, [
        Act("drop", checkpoint=1, epoch=epoch),
        Act("write", checkpoint=2, epoch=epoch, name="state", content=CONTENT),
        Act("finish", checkpoint=2, epoch=epoch, content=b"theirs"),
    ])  # fmt: skip
    for looker in lookers:
        bench.refuses("resolve chk-1", FileNotFoundError, looker.resolve, pointer)
        bench.require_metadata(looker, "chk-2", b"theirs")
        bench.require_files(looker, "chk-1", [])
        bench.require_files(looker, "chk-2", ["chk-2/_metadata", "chk-2/state"])


def fenced_elsewhere(bench: Bench) -> None:
    """Nobody in this process has claimed the newer epoch."""
    ours, epoch = bench.coordinator()
    bench.write(ours.streams(1, epoch), "kept", CONTENT, Scope.SHARED)
    ours.finish(1, epoch, b"ours")
    bench.write(ours.streams(5, epoch), "gone", CONTENT)
    ours.drop(5, epoch)
    seen = list(ours.list_folder(""))
    _elsewhere(bench, [Act("claim", epoch=bench.next_epoch())])
    for what, call in calls_of(ours, epoch):
        bench.refuses(f"{what} of the older epoch", Fenced, call)
        bench.require_files(bench.storage(), "", seen)


def _elsewhere(bench: Bench, acts: Sequence[Act]) -> None:
    bench.step(f"another process: {', '.join(act.verb for act in acts)}")
    for act, outcome in zip(acts, bench.victims.run(acts).outcomes, strict=True):
        if outcome.error:
            raise Violation(bench.rule, f"{act.verb} in another process raised {outcome.error}: {outcome.text}")


CHECKS = (
    Check("STO-05/fenced", "Nothing that is done for a fenced epoch has an effect.", fenced),
    Check("STO-08/claims", "The greatest epoch wins, and a claim may be repeated beside its writers.", claims),
    Check("STO-05/late", "A write that began before the claim comes in time, or has no effect.", late,
          frozenset({OUTLIVES_PROCESS, EXCLUSIVE}), ("stood-still",)),
    Check("STO-08/jobs", "Two jobs on one place see nothing of each other.", jobs),
    Check("STO-08/names", "Two names are two jobs, however alike they are.", names),
    Check("STO-07/seen-again", "What another process publishes and drops is seen by whoever has looked before.",
          seen_again, frozenset({OUTLIVES_PROCESS})),
    Check("STO-05/fenced-elsewhere", "A claim of another process fences whoever knew an older one.",
          fenced_elsewhere, frozenset({OUTLIVES_PROCESS})),
)  # fmt: skip
