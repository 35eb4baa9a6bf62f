"""STO-05, STO-08: a newer epoch fences all older ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Fenced
from holdfast.harness.spi.storage import CheckpointStorage, Scope
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import EXCLUSIVE, MEBIBYTE, OUTLIVES_PROCESS, bytes_of
from holdfast.suites.certify.outside.messages import Act

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


CHECKS = (
    Check("STO-05/fenced", "Nothing that is done for a fenced epoch has an effect.", fenced),
    Check("STO-08/claims", "The greatest epoch wins, and a claim may be repeated beside its writers.", claims),
    Check("STO-05/late", "A write that began before the claim comes in time, or has no effect.", late,
          frozenset({OUTLIVES_PROCESS, EXCLUSIVE}), ("stood-still",)),
)  # fmt: skip
