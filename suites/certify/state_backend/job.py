"""The job of a drawn program: its subtasks, the checkpoints that are under way, and what is left of dead attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from msgspec.structs import replace

from holdfast.harness.spi.errors import Incompatible
from holdfast.harness.spi.state import (
    Flag,
    Manifest,
    SnapshotKind,
    StateDescriptor,
    StateEntry,
    StateKind,
)
from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.state_backend.bench import (
    EPOCH,
    Bench,
    Completed,
    never,
    overlapping,
    require_full,
    require_manifest,
)
from holdfast.suites.certify.state_backend.content import GROUPS_EACH, PASSED_MS, PLACES, converted
from holdfast.suites.certify.state_backend.failing import UNKNOWN, tried_in_vain
from holdfast.suites.certify.state_backend.live import Live, OpenScan, Part, Pending, ascending
from holdfast.suites.certify.state_backend.model import TIMER_KINDS, Model

AMPLE_BYTES, SMALL_BYTES = 1 << 26, 1 << 16
FIRST_SUBTASKS = (0, 0, 9, 99)
FIRST_ATTEMPTS = (2, 2, 9, 99)
"""The first one was made to be described."""
FIRST_CHECKPOINTS = (0, 0, 8, 98, 254, 998)
"""Numbers that one with a digit or a byte more follows, in some."""
AS_STORED, LATER, REFUSED, LONGER, NEWER = range(5)
"""Ways to register a restored state."""
WAYS = (AS_STORED, AS_STORED, AS_STORED, LATER, REFUSED, LONGER, NEWER, NEWER)
"""As frequent as they are drawn."""
MOST_RETAINED = 1_000


class Job:
    """Of one operator.

    Attributes:
        lives: of the newest attempt, by their key groups.
        pending: its checkpoints, oldest first.
        dead: what earlier attempts had under way.
        given_up: numbers of checkpoints of the newest attempt that were aborted.
        scans: that are open.
        under_way: whose upload stands still in its middle.
    """

    def __init__(self, bench: Bench, width: int, place: int, first: int, *, small: bool) -> None:
        start, bench.max_parallelism = PLACES[place % len(PLACES)]
        bench.memory_bytes = SMALL_BYTES if small and Flag.SPILLS in bench.flags else AMPLE_BYTES
        bench.begin_at(FIRST_ATTEMPTS[first // 4 % 4], FIRST_CHECKPOINTS[first // 16 % 6])
        self.bench = bench
        self.groups = range(start, start + GROUPS_EACH)
        self.pending: list[Pending] = []
        self.dead: list[tuple[Live, list[Part]]] = []
        self.given_up: list[int] = []
        self.scans: list[OpenScan] = []
        self.under_way: Part | None = None
        subtask = FIRST_SUBTASKS[first % 4]
        self._first_subtask = subtask if subtask + GROUPS_EACH <= bench.max_parallelism else 0
        self._rests_on: Completed | None = None
        self._foreign: dict[int, list[Manifest]] = {}
        self.lives = [
            bench.adopt(bench.backend(bench.factory, groups, subtask=subtask), groups, Model(), register=False,
                        subtask=subtask)
            for subtask, groups in self._split(width)
        ]  # fmt: skip

    def _split(self, width: int) -> Iterator[tuple[int, range]]:
        """Subtasks and their key groups."""
        bounds = [self.groups.start + GROUPS_EACH * index // width for index in range(width + 1)]
        for index in range(width):
            yield self._first_subtask + index, range(bounds[index], bounds[index + 1])

    # ---------------------------------------------------------------- states
    @property
    def descriptors(self) -> dict[str, StateDescriptor]:
        """The descriptors of all states, registered or not."""
        return self.lives[0].model.descriptors

    def states(self, of: Callable[[StateKind], bool]) -> list[StateDescriptor]:
        """Those that are registered and of such a kind."""
        there = self.lives[0].registered
        return [each for name, each in self.descriptors.items() if name in there and of(each.kind)]

    def owner(self, key_group: int) -> Live:
        """The subtask of a key group."""
        [live] = [each for each in self.lives if key_group in each.groups]
        return live

    def register(self, descriptor: StateDescriptor) -> None:
        """A new state."""
        for live in self.lives:
            self.bench.step(f"{live.name} registers {descriptor.name!r}, {descriptor.kind}")
            live.register([descriptor])

    def register_restored(self, ways: Sequence[int]) -> None:
        """Register the states that were restored and are not registered yet.

        Args:
            ways: of each state, one behind the other.
        """
        for live in self.lives:
            for number, each in enumerate(sorted(live.model.descriptors.values(), key=lambda each: each.name)):
                if each.name not in live.registered:
                    self._register(live, each, ways[number % len(ways)])

    def _register(self, live: Live, stored: StateDescriptor, way: int) -> None:
        """Register a restored state in some way."""
        is_table, now_ms = stored.kind not in TIMER_KINDS, self.bench.now_ms
        if way == LATER:
            return
        if way == REFUSED and is_table and live.model.holds(stored.name, now_ms):
            for wrong in (replace(stored, version=stored.version + 1), replace(stored, key_format="another")):
                live.refuses(f"register {wrong}", Incompatible, partial(live.register_in_vain, wrong))
        if way == LONGER and stored.ttl_ms is not None:
            stored = replace(stored, ttl_ms=PASSED_MS[(PASSED_MS.index(stored.ttl_ms) + 1) % len(PASSED_MS)])
        if way == NEWER and is_table and Flag.MIGRATES in self.bench.flags:
            self.bench.hit("migrated")
            self.bench.step(f"{live.name} registers {stored.name!r} in version {stored.version + 1}, with a conversion")
            live.migrate(replace(stored, version=stored.version + 1), converted(stored.kind))
        else:
            self.bench.step(f"{live.name} registers {stored}")
            live.register([stored])

    # ---------------------------------------------------------------- checkpoints
    def take(self, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> Pending:
        """A snapshot of every subtask."""
        checkpoint = self.bench.next_checkpoint()
        taken = Pending(checkpoint, [Part(live, live.snapshot(kind, checkpoint)) for live in self.lives])
        self.pending.append(taken)
        if len(self.pending) > 2:
            self.bench.hit("three-open-snapshots")
        return taken

    def part(self, number: int) -> Part:
        """One that is not stored, and not under way; of a new checkpoint, if there is none."""
        self.settle()
        parts = [part for each in self.pending for part in each.parts if part.manifest is None]
        parts = parts or list(self.take().parts)
        return parts[number % len(parts)]

    def begin_upload(self, part: Part) -> None:
        """Up to its first operation of the storage, or all of it by a backend that is not asynchronous."""
        if Flag.ASYNC_SNAPSHOT not in self.bench.flags:
            self.store(part, self.bench.upload(part.taken))
            return
        self.bench.step(f"{part.live.name}: upload of checkpoint {part.taken.checkpoint} begins on the upload thread")
        streams = self.bench.storage().streams(part.taken.checkpoint, EPOCH)
        self.bench.thread.start(partial(part.taken.snapshot.upload, streams, never))
        self.under_way = part
        if not self.bench.thread.done:
            self.bench.hit("snapshot-overlapped-a-write")

    def settle(self) -> None:
        """The upload that is under way goes on to its end."""
        if self.under_way is None:
            return
        part, self.under_way = self.under_way, None
        self.bench.step(f"{part.live.name}: the upload of checkpoint {part.taken.checkpoint} goes on to its end")
        if part.live in self.lives:
            self.store(part, require_manifest(self.bench.thread.finish()))
        else:
            self._in_vain(self.bench.thread.finish)
        self.bench.check_threads()

    def _in_vain(self, call: Callable[[], object]) -> None:
        """What a dead attempt raises is nobody's concern, unless it would overwrite a file."""
        try:
            call()
        except (Violation, FileExistsError):
            raise
        except Exception as error:
            self.bench.step(f"    {error}")

    def store(self, part: Part, manifest: Manifest) -> None:
        """A part was uploaded: what it describes is as of its snapshot, and it rests on nothing that it may not."""
        part.manifest = manifest
        wanted = sorted(part.taken.model.descriptors.values(), key=lambda each: each.name)
        found = sorted(manifest.descriptors, key=lambda each: each.name)
        part.live.same(f"descriptors of checkpoint {part.taken.checkpoint}", found, wanted)
        numbers = (manifest.checkpoint, manifest.subtask, manifest.max_parallelism)
        wanted_numbers = (part.taken.checkpoint, part.live.subtask, self.bench.max_parallelism)
        part.live.same("checkpoint, subtask and maximum parallelism of a manifest", numbers, wanted_numbers)
        if foreign := self._foreign.get(part.live.subtask):
            require_full(manifest, foreign, "a restore that may claim nothing")

    def finish(self, pending: Pending, retain: int, *, keep_older: bool = True) -> Completed:
        """What is not stored yet is, and it completes; those before it are aborted, or go on."""
        for part in pending.parts:
            if part.manifest is None:
                self.settle()
            if part.manifest is None:
                self.store(part, self.bench.upload(part.taken))
        self.pending.remove(pending)
        if any(each.checkpoint < pending.checkpoint for each in self.pending):
            self.bench.hit("two-in-flight")
        acknowledged = [(part.live, part.taken, require_manifest(part.manifest)) for part in pending.parts]
        completed = self.bench.complete_all(acknowledged, retain=retain)
        if pending.parts[0].taken.kind is SnapshotKind.CHECKPOINT:
            self._foreign.clear()
            if self._rests_on is None or self._rests_on.checkpoint < completed.checkpoint:
                self._rests_on = completed
        if not keep_older:
            for each in [each for each in self.pending if each.checkpoint < pending.checkpoint]:
                self.give_up(each)
        return completed

    def give_up(self, pending: Pending, times: int = 1) -> None:
        """It is aborted, and its snapshots are released so many times."""
        if self.under_way in pending.parts:
            self.settle()
        self.pending.remove(pending)
        for part in pending.parts:
            if part.manifest is not None:
                self.bench.hit("aborted-behind-its-upload")
            self.bench.abort(part.live, part.taken, part.manifest)
        self.given_up.append(pending.checkpoint)
        self.release(pending, times)

    def release(self, pending: Pending, times: int = 1) -> None:
        """Its snapshots are of no use any more."""
        for part in pending.parts:
            for _ in range(times):
                self.bench.step(f"{part.live.name}: release the snapshot of checkpoint {pending.checkpoint}")
                part.taken.snapshot.release()

    def checkpoint_now(self, retain: int) -> Completed:
        """All of one."""
        pending = self.take()
        completed = self.finish(pending, retain)
        self.release(pending)
        return completed

    def subsume_one(self, number: int) -> None:
        """Any completed checkpoint goes but the newest, and the one that the lives rest on."""
        unused = [
            at for at, each in enumerate(self.bench.completed[:-1])
            if self._rests_on is None or each.checkpoint != self._rests_on.checkpoint
        ]  # fmt: skip
        if unused:
            self.bench.hit("subsumed")
            self.bench.subsume(unused[number % len(unused)])

    # ---------------------------------------------------------------- restores
    def begin_again(
        self,
        completed: Completed,
        width: int,
        *,
        claimed: bool,
        ways: Sequence[int],
        compared: bool = True,
        failing: int = 0,
    ) -> None:
        """Another attempt begins from a checkpoint.

        Args:
            completed: which.
            width: number of subtasks.
            claimed: as of `restore`.
            ways: how each state is registered, one behind the other.
            compared: whether everything is read at once.
            failing: how a first try fails; 0: there is none.
        """
        bench = self.bench
        self.lives, self._foreign, self._rests_on = [], {}, completed
        for subtask, groups in self._split(width):
            backend = bench.backend(bench.factory, groups, subtask=subtask)
            parts = overlapping(completed.parts, groups)
            if not failing or not tried_in_vain(bench, backend, completed, parts, claimed=claimed, failing=failing):
                bench.step(f"subtask {subtask} restores {completed.checkpoint} in {groups}, claimed={claimed}")
                backend.restore(parts, bench.storage().streams(completed.checkpoint, EPOCH), claimed=claimed)
            self.lives.append(bench.adopt(backend, groups, completed.model, register=False, subtask=subtask))
            if not claimed or [part.subtask for part in parts] != [subtask]:
                self._foreign[subtask] = parts
        self._live_on(ways, compared=compared)
        bench.hit("restarted")
        if width != len(completed.parts):
            bench.hit("rescaled")

    def begin_from_entries(self, entries: Sequence[StateEntry], model: Model, width: int, ways: Sequence[int]) -> None:
        """Another attempt begins from the canonical form of a state, in no order."""
        self.lives, self._foreign, self._rests_on = [], {}, None
        for subtask, groups in self._split(width):
            backend = self.bench.backend(self.bench.factory, groups, subtask=subtask)
            self.bench.step(f"subtask {subtask} restores {len(entries)} entries in {groups}")
            backend.restore_entries(list(model.descriptors.values()), iter(entries[::-1]))
            self.lives.append(self.bench.adopt(backend, groups, model, register=False, subtask=subtask))
        self._live_on(ways)
        self.bench.hit("moved")

    def _live_on(self, ways: Sequence[int], *, compared: bool = True) -> None:
        self.register_restored(ways)
        for live in self.lives if compared else ():
            live.compare()

    def verify(self, completed: Completed) -> None:
        """Somebody else restores it, and goes at once."""
        restored = self.bench.restored(
            completed, self.groups, subtask=self._first_subtask, claimed=False,
            register=list(completed.model.descriptors.values()),
        )  # fmt: skip
        restored.compare(drain_timers=True)
        restored.close()

    def die(self, *, closed: bool) -> None:
        """Whatever was under way is that of a dead attempt from now on; what is closed says so."""
        if closed:
            self.settle()
        for live in self.lives:
            parts = [part for each in self.pending for part in each.parts if part.live is live]
            self.dead.append((live, parts))
            if closed:
                live.close()
        if closed:
            for scan in self.scans:
                scan.refused()
        self.scans.clear()
        self.given_up.clear()  # Their numbers may come again.
        self.pending.clear()
        self.bench.pending.clear()

    def go_on_late(self, which: int, what: str) -> None:
        """An attempt that is dead does something. What it raises is nobody's concern."""
        self.settle()
        live, parts = self.dead[which % len(self.dead)]
        part = parts[which // 4 % len(parts)] if parts else None
        checkpoint = part.taken.checkpoint if part is not None else UNKNOWN
        completed = self.bench.completed[0].checkpoint if self.bench.completed else UNKNOWN
        calls: dict[str, Callable[[], object]] = {
            "confirmed": lambda: live.backend.confirmed(completed),
            "aborted": lambda: live.backend.aborted(checkpoint),
            "close": live.close,
        }
        if part is not None:
            calls["release"] = part.taken.snapshot.release
            if part.manifest is None:
                calls["upload"] = lambda: self._upload_late(part)
        if what in calls:
            self.bench.step(f"{live.name}, whose attempt is dead: {what} of checkpoint {checkpoint}")
            self.bench.hit("late-calls")
            self._in_vain(calls[what])

    def _upload_late(self, part: Part) -> None:
        part.manifest = self.bench.upload(part.taken)

    def entries_of(self, part: Part, between: Callable[[], None] | None = None, first: int = 0) -> list[StateEntry]:
        """The canonical form of a part, which is compared.

        Args:
            part: which.
            between: is called when the first ones were taken, if the backend is asynchronous; None: nothing is.
            first: how many those are.
        """
        self.settle()
        self.bench.step(f"{part.live.name}: entries of the snapshot of checkpoint {part.taken.checkpoint}")
        found: list[StateEntry] = []
        if between is not None and Flag.ASYNC_SNAPSHOT in self.bench.flags:
            entries = self.bench.thread.run(part.taken.snapshot.entries)
            found += self.bench.thread.run(lambda: list(islice(entries, first)))
            self.bench.hit("entries-overlapped-a-write")
            between()
            found += self.bench.thread.run(lambda: list(entries))
        else:
            found += self.bench.elsewhere(lambda: list(part.taken.snapshot.entries()))
        now_ms = self.bench.now_ms
        alive = [each for each in ascending(found) if not 0 <= each.expires_ms <= now_ms]
        part.live.same("the canonical form", alive, part.taken.model.entries(now_ms))
        described = [each.name for each in part.taken.snapshot.descriptors()]
        part.live.same("its descriptors", described, sorted(part.taken.model.descriptors))
        return found
