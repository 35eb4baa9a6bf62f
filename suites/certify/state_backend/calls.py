"""What a drawn program does with checkpoints and lives."""

from __future__ import annotations

from concurrent.futures import CancelledError
from functools import partial

from holdfast.fixtures.storages.in_memory import StorageFault
from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.state import Flag, SnapshotKind
from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.state_backend.bench import EPOCH
from holdfast.suites.certify.state_backend.failing import UNKNOWN
from holdfast.suites.certify.state_backend.job import AS_STORED, LATER, MOST_RETAINED, WAYS
from holdfast.suites.certify.state_backend.model import Model
from holdfast.suites.certify.state_backend.work import Work

FEW = (1, 2, 3, 11, 17, 33)
RELEASES = (1, 3, 0, 9)
MOST_PENDING = 100
FAULTS = (StorageFault.ERROR, StorageFault.FULL, StorageFault.LOST_ANSWER)


class Calls(Work):
    """All of a program."""

    def snapshot(self, kind: int, *_: int) -> None:
        if len(self.job.pending) < MOST_PENDING:
            self.job.take(SnapshotKind.SAVEPOINT if kind % 4 == 1 else SnapshotKind.CHECKPOINT)

    def snapshots(self, at: int, of: int, count: int, _: int) -> None:
        """Several, between which a little changes."""
        for number in range(FEW[count % len(FEW)] if self._may_store(FEW[count % len(FEW)]) else 3):
            self.snapshot(0)
            self.change(at, of, number, 0)

    def checkpoint(self, at: int, of: int, retain: int, kind: int) -> None:
        """All of one, behind a little change, and another one behind its snapshot."""
        self.change(at, of, retain, 0)
        self.snapshot(kind)
        pending = self.job.pending[-1]
        self.change(at, of, retain + 1, 0)
        self.job.finish(pending, 1 + retain % 3)
        self.job.release(pending, kind % 3)

    def checkpoints(self, at: int, of: int, count: int, retain: int) -> None:
        """Several, one behind the other, between which a little changes."""
        for number in range(FEW[count % len(FEW)] if self._may_store(FEW[count % len(FEW)]) else 3):
            self.change(at, of, number, 0)
            self.job.checkpoint_now(1 + retain % 3)

    def _may_store(self, times: int) -> bool:
        """Whether all of the state may be stored so often, which counts then."""
        values = times * sum(len(held) for live in self.job.lives for held in live.model.values.values())
        if values > self.left:
            return False
        self.left -= values
        return True

    def upload(self, which: int, *_: int) -> None:
        part = self.job.part(which)
        self.job.store(part, self.bench.upload(part.taken))

    def begin_upload(self, which: int, *_: int) -> None:
        self.job.begin_upload(self.job.part(which))

    def go_on(self, steps: int, *_: int) -> None:
        """The upload performs some operations of the storage."""
        for _step in range(1 + steps % 4):
            if self.job.under_way is not None:
                self.bench.step("the upload performs one operation of the storage")
                self.bench.thread.step()
                if self.bench.thread.done:
                    self.job.settle()

    def fail_upload(self, which: int, operation: int, fault: int, again: int) -> None:
        """An operation of the storage fails; the upload comes again, now or later."""
        part, kind = self.job.part(which), FAULTS[fault % len(FAULTS)]
        self.bench.step(f"{kind} at operation {operation % 7} of the next upload")
        shared = set(self.bench.storage().list_folder("shared"))
        try:
            self.job.store(part, self.bench.upload(part.taken, self.bench.storage({operation % 7: kind})))
        except (Transient, Full):
            self.bench.hit("drawn-upload-error")
            self._require_nothing_new(shared, "INC-03", "an upload that raised")
            if again % 2:
                self.job.store(part, self.bench.upload(part.taken))

    def cancel(self, which: int, after: int, *_: int) -> None:
        """The upload hears at some question that it is cancelled, and the checkpoint is aborted."""
        part = self.job.part(which)
        questions = iter([False] * (after % 5))
        streams = self.bench.storage().streams(part.taken.checkpoint, EPOCH)
        shared = set(self.bench.storage().list_folder("shared"))
        self.bench.step(f"{part.live.name}: upload of {part.taken.checkpoint} is cancelled at question {after % 5}")
        upload = partial(part.taken.snapshot.upload, streams, lambda: next(questions, True))
        try:
            part.manifest = self.bench.elsewhere(upload)
        except CancelledError:
            self.bench.hit("cancelled")
            self._require_nothing_new(shared, "ASY-05", "a cancelled upload")
        self.job.give_up(next(each for each in self.job.pending if part in each.parts))

    def _require_nothing_new(self, before: set[str], rule: str, what: str) -> None:
        if left := sorted(set(self.bench.storage().list_folder("shared")) - before):
            raise Violation(rule, f"{what} left {left} in the shared scope.")

    def complete(self, which: int, retain: int, kept: int, released: int) -> None:
        if self.job.pending:
            pending = self.job.pending[which % len(self.job.pending)]
            self.job.finish(pending, 1 + retain % 3, keep_older=kept % 2 == 0)
            self.job.release(pending, released % 3)

    def abort(self, which: int, released: int, *_: int) -> None:
        if self.job.pending:
            self.job.give_up(self.job.pending[which % len(self.job.pending)], RELEASES[released % len(RELEASES)])

    def tell(self, which: int, confirmed: int, *_: int) -> None:
        """What it was told before, or what is unknown, is no error."""
        what = ("aborted", "confirmed")[confirmed % 2]
        known = [each.checkpoint for each in self.bench.completed] if confirmed % 2 else self.job.given_up
        checkpoint = known[which % len(known)] if known and confirmed // 2 % 4 else UNKNOWN + which
        for live in self.job.lives:
            self.bench.step(f"{live.name}: {what}({checkpoint}), again or of the unknown")
            (live.backend.confirmed if confirmed % 2 else live.backend.aborted)(checkpoint)

    def subsume(self, which: int, *_: int) -> None:
        self.job.subsume_one(which)

    # ---------------------------------------------------------------- lives
    def restore(self, which: int, width: int, how: int, ways: int) -> None:
        """Restore from the newest checkpoint most times, else from an older one or from a savepoint."""
        self._restore(which, width, how, ways)

    def restore_in_vain(self, which: int, width: int, how: int, ways: int) -> None:
        """A first try fails."""
        self._restore(which, width, how, ways, failing=1 + how // 8 % 50)

    def _restore(self, which: int, width: int, how: int, ways: int, failing: int = 0) -> None:
        if which % 2 == 0 or not self.bench.completed:
            self.job.checkpoint_now(2)
        known = [*self.bench.completed[::-1], *self.bench.savepoints[::-1]]
        completed = known[which // 2 % 4 % len(known)]
        self.job.die(closed=how % 2 == 1)
        if how // 2 % 4 == 1 and completed.checkpoint == max(each.checkpoint for each in known):
            self.bench.count_from(completed.checkpoint)  # Numbers that the dead attempt had begun come again.
        self.job.begin_again(completed, self.widths[width % len(self.widths)], claimed=how // 2 % 4 != 2,
                             ways=_ways(ways), failing=failing, compared=which // 8 % 2 == 0)  # fmt: skip

    def late(self, which: int, what: int, *_: int) -> None:
        """An attempt that is dead goes on for a while."""
        if self.job.dead:
            self.job.go_on_late(which, ("upload", "confirmed", "aborted", "release", "close")[what % 5])

    def move(self, which: int, width: int, ways: int, _: int) -> None:
        """The canonical form of a snapshot becomes the state of another attempt."""
        if Flag.CANONICAL not in self.bench.flags:
            return
        self.snapshot(0)
        pending = self.job.pending[which % len(self.job.pending)]
        entries = [each for part in pending.parts for each in self.job.entries_of(part)]
        model = Model()
        for part in pending.parts:
            model.add(part.taken.model)
        self.job.die(closed=False)
        self.job.begin_from_entries(entries, model, self.widths[width % len(self.widths)], _ways(ways))

    def read(self, which: int, at: int, of: int, first: int) -> None:
        """The canonical form of a snapshot, while the task writes."""
        if Flag.CANONICAL not in self.bench.flags:
            return
        if not self.job.pending:
            self.snapshot(0)
            self.change(at, of, first, 0)
        between = partial(self.put, at, of, first, 0)
        for part in self.job.pending[which % len(self.job.pending)].parts:
            self.job.entries_of(part, between, first % 9)

    def register_later(self, ways: int, *_: int) -> None:
        """What was restored and not registered."""
        self.job.register_restored([each for each in _ways(ways) if each != LATER] or [AS_STORED])

    # ---------------------------------------------------------------- the end
    def end(self) -> None:
        """All that completes can be restored, and behind the rest of it no file is left."""
        if not hasattr(self, "job"):
            return
        self.finish_scans()
        self.job.settle()
        self.compare()
        for pending in list(self.job.pending):
            self.job.verify(self.job.finish(pending, MOST_RETAINED))
            self.job.release(pending)
        self.job.verify(self.job.checkpoint_now(2))
        for completed in (*self.bench.completed[:-1], *self.bench.savepoints[-1:]):
            self.job.verify(completed)
        if not self.job.dead:
            self.bench.check_leaks()


def _ways(number: int) -> list[int]:
    """Of several states, one behind the other."""
    return [WAYS[number // len(WAYS) ** place % len(WAYS)] for place in range(4)]
