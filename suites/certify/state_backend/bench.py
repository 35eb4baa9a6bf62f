"""Where a check takes place: backends, a storage, a second thread, and a coordinator that the kit owns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import copytree
from typing import Any

import msgspec

from holdfast.fixtures.storages.in_memory import FaultPoints, InMemoryStorage, Place, StorageFault
from holdfast.harness.lease import Lease
from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.state import (
    Flag,
    KeyedStateBackend,
    KeyedStateBackendFactory,
    Manifest,
    SnapshotKind,
    StateContext,
    StateDescriptor,
)
from holdfast.harness.spi.storage import Scope, StorageContext
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry, Violation, raised_by_closing
from holdfast.suites.certify.state_backend.live import Live, Taken, states_for
from holdfast.suites.certify.state_backend.model import Model
from holdfast.suites.certify.state_backend.world import Registry, World

MAX_PARALLELISM = 16
GROUPS = range(4, 8)
GROUP = GROUPS.start
AMPLE_BYTES = 1 << 22
LEAST_FILLING_BYTES = 64
EPOCH = 1


class Completed(msgspec.Struct, frozen=True):
    """A checkpoint that completed, with what must be in it."""

    checkpoint: int
    parts: tuple[Manifest, ...]
    model: Any


class Bench(World):
    """One check's own world, in which backends live.

    Attributes:
        other: makes backends of somebody else, for what moves between backends.
        seed: of random programs.
        flags: that the backend declares.
        answers: of all backends.
        completed: checkpoints that can be restored, oldest first.
        savepoints: so do these, which stay.
        attempt: number of the newest one.
        memory_bytes, max_parallelism: of backends of which nothing else is said.
        keeps_folders: an attempt finds what the one before it left; only where LOCAL_RECOVERY is declared.
    """

    def __init__(
        self, factory: KeyedStateBackendFactory, other: KeyedStateBackendFactory, rule: str = "SBK-01", seed: int = 0
    ) -> None:
        super().__init__(rule)
        self.factory = factory
        self.other = other
        self.seed = seed
        self.answers = Answers(rule)
        self.place = Place()
        self.registry = Registry()
        self.completed: list[Completed] = []
        self.savepoints: list[Completed] = []
        self.keeps_folders = True
        self.attempt = 0
        self.max_parallelism = MAX_PARALLELISM
        self.memory_bytes = AMPLE_BYTES
        self._begun: set[int] = set()
        self._disk = Lease("kit")
        self._folders: dict[int, Path] = {}
        self.flags: frozenset[Flag] = frozenset()
        self._backends: list[KeyedStateBackend] = []
        try:
            self.description = self.backend(factory).describe()
        except BaseException:
            self.close()
            raise
        self.flags = self.description.flags
        self.limits = {
            "max_key_bytes": self.description.max_key_bytes,
            "max_value_bytes": self.description.max_value_bytes,
            "max_namespace_bytes": self.description.max_namespace_bytes,
        }
        self.states = states_for(self.flags)

    # ---------------------------------------------------------------- lives
    def begin_at(self, attempt: int, checkpoint: int) -> None:
        """The next attempt has this number, and the next checkpoint is behind that."""
        self.attempt = attempt - 1
        self._begun.clear()
        self.count_from(checkpoint)

    def backend(
        self,
        factory: KeyedStateBackendFactory,
        groups: range = GROUPS,
        *,
        subtask: int = 0,
        memory_bytes: int | None = None,
        options: Mapping[str, str] | None = None,
        max_parallelism: int | None = None,
    ) -> KeyedStateBackend:
        """A backend, which is closed at the end of the check. Other subtasks share its attempt; a second life of its
        own subtask is of the next one."""
        if subtask in self._begun or not self._begun:
            self.attempt += 1
            self._begun.clear()
        self._begun.add(subtask)
        context = StateContext(
            job="job",
            operator="operator",
            subtask=subtask,
            attempt=self.attempt,
            key_groups=groups,
            max_parallelism=max_parallelism or self.max_parallelism,
            memory_bytes=memory_bytes or self.memory_bytes,
            options=options or {},
            folder=self._folder(subtask),
        )
        backend = self.answers.made(factory, KeyedStateBackend, context)
        self._backends.append(backend)
        return backend

    def _folder(self, subtask: int) -> Path:
        """The folder of a new life: empty, or with LOCAL_RECOVERY a copy of what the last one left."""
        folder = self._disk.room / f"{self.attempt}-{subtask}-{len(self._backends)}"
        before = self._folders.get(subtask) if self.keeps_folders and Flag.LOCAL_RECOVERY in self.flags else None
        if before is None:
            folder.mkdir()
        else:
            copytree(before, folder)
        self._folders[subtask] = folder
        return folder

    def fresh(self, groups: range = GROUPS, *, subtask: int = 0, memory_bytes: int | None = None) -> Live:
        """A first life, with every state registered."""
        backend = self.backend(self.factory, groups, subtask=subtask, memory_bytes=memory_bytes)
        live = self._live(backend, groups, Model(), subtask)
        live.register(self.states)
        return live

    def restored(
        self,
        completed: Completed,
        groups: range = GROUPS,
        *,
        subtask: int = 0,
        claimed: bool = True,
        register: Sequence[StateDescriptor] | None = None,
        memory_bytes: int | None = None,
    ) -> Live:
        """A life that begins from a checkpoint; states are registered in the reverse order."""
        backend = self.backend(self.factory, groups, subtask=subtask, memory_bytes=memory_bytes)
        self.step(f"restore({completed.checkpoint}, {groups})")
        parts = overlapping(completed.parts, groups)
        backend.restore(parts, self.storage().streams(completed.checkpoint, EPOCH), claimed=claimed)
        live = self._live(backend, groups, completed.model.within(groups), subtask)
        live.register(self.states[::-1] if register is None else register)
        return live

    def adopt(
        self, backend: KeyedStateBackend, groups: range, model: Model, *, register: bool = True, subtask: int = 0
    ) -> Live:
        """A backend that was restored in another way."""
        live = self._live(backend, groups, model.within(groups), subtask)
        if register:
            live.register(self.states[::-1])
        return live

    def _live(self, backend: KeyedStateBackend, groups: range, model: Model, subtask: int) -> Live:
        number = len(self._backends)
        self.step(f"life {number} of key groups {groups.start} to {groups.stop - 1}")
        return Live(self, f"life{number}", backend, groups, model, subtask)

    # ---------------------------------------------------------------- storage and threads
    def storage(
        self,
        faults: Mapping[int, StorageFault] | None = None,
        *,
        max_file_bytes: int | None = None,
        budget_bytes: int | None = None,
    ) -> InMemoryStorage:
        """The storage as one process sees it, with limits."""
        points = FaultPoints(faults)
        points.arrive = self.thread.arrive
        context = StorageContext(uri="memory:", job="job")
        return InMemoryStorage(context, self.place, points, max_file_bytes=max_file_bytes, budget_bytes=budget_bytes)

    def upload(self, taken: Taken, storage: InMemoryStorage | None = None) -> Manifest:
        """Store a snapshot on the other thread, or on this one for a backend that is not asynchronous."""
        self.step(f"upload({taken.checkpoint})")
        streams = (storage or self.storage()).streams(taken.checkpoint, EPOCH)
        manifest = self.elsewhere(lambda: taken.snapshot.upload(streams, never))
        self.check_threads()
        return require_manifest(manifest)

    def elsewhere(self, call: Callable[[], Any]) -> Any:
        """Call on the upload thread, or on this one for a backend that is not asynchronous."""
        return self.thread.run(call) if Flag.ASYNC_SNAPSHOT in self.flags else call()

    def check_threads(self) -> None:
        """No third thread came, and the task thread was not held up.

        Raises:
            Violation: ASY-01.
        """
        if self.thread.strangers:
            raise Violation("ASY-01", f"a third thread performed {self.thread.strangers}.")
        if self.thread.blocked:
            raise Violation("ASY-01", "the task thread waited for an operation of the storage on the upload thread.")

    # ---------------------------------------------------------------- the coordinator
    def checkpoint(self, live: Live, *, retain: int = 2) -> Completed:
        """A checkpoint of one subtask is taken, stored and completes; its snapshot is not released."""
        taken = live.snapshot()
        return self.complete(live, taken, self.upload(taken), retain=retain)

    def complete(self, live: Live, taken: Taken, manifest: Manifest, *, retain: int = 2) -> Completed:
        """A checkpoint of one subtask completes, and old ones go."""
        return self.complete_all([(live, taken, manifest)], retain=retain)

    def complete_all(self, acknowledged: Sequence[tuple[Live, Taken, Manifest]], *, retain: int = 2) -> Completed:
        """A checkpoint completes which several subtasks have acknowledged."""
        checkpoint, kind = acknowledged[0][1].checkpoint, acknowledged[0][1].kind
        self.step(f"confirmed({checkpoint})")
        model = Model()
        parts = []
        for live, taken, manifest in acknowledged:
            part = self.registry.resolved(live.subtask, manifest)
            require_own_groups(part, live.groups, self.registry.paths)
            if kind is SnapshotKind.SAVEPOINT:
                require_alone(part)
            self.registry.register(live.subtask, part)
            parts.append(part)
            model.add(taken.model)
            live.backend.confirmed(taken.checkpoint)
        completed = Completed(checkpoint, tuple(parts), model)
        self.storage().finish(checkpoint, EPOCH, msgspec.msgpack.encode(completed.parts))
        self.pending.discard(checkpoint)
        if kind is SnapshotKind.SAVEPOINT:
            self.savepoints.append(completed)
            return completed
        self.completed.append(completed)
        self.completed.sort(key=lambda each: each.checkpoint)
        while len(self.completed) > retain:
            self.subsume()
        self._collect()
        return completed

    def subsume(self, number: int = 0) -> None:
        """A checkpoint goes, the oldest one unless its number among the completed ones is named."""
        oldest = self.completed.pop(number)
        self.step(f"subsume({oldest.checkpoint})")
        self.registry.unregister(oldest.checkpoint, self.pending)
        self.storage().drop(oldest.checkpoint, EPOCH)
        self._collect()

    def abort(self, live: Live, taken: Taken, manifest: Manifest | None = None) -> None:
        """A checkpoint will not complete: its files go."""
        self.step(f"aborted({taken.checkpoint})")
        live.backend.aborted(taken.checkpoint)
        self.pending.discard(taken.checkpoint)
        storage = self.storage()
        if manifest is not None:
            storage.delete(self.registry.unused(manifest), EPOCH)
        storage.drop(taken.checkpoint, EPOCH)
        self._collect()

    def sweep(self, checkpoint: int) -> None:
        """Remove what a life left behind that ended during a checkpoint, while nothing is under way."""
        self.step(f"sweep({checkpoint})")
        self.pending.discard(checkpoint)
        storage = self.storage()
        storage.drop(checkpoint, EPOCH)
        left = [path for path in storage.list_folder("shared") if path not in self.registry.paths]
        storage.delete([FileReference(path, 0, 0) for path in left], EPOCH)
        self._collect()

    def _collect(self) -> None:
        self.storage().delete(self.registry.collect(self.pending), EPOCH)
        self.check_reachable()

    # ---------------------------------------------------------------- files
    def check_reachable(self) -> None:
        """Every file of every completed checkpoint is there.

        Raises:
            Violation: INC-02.
        """
        there = set(self.storage().list_folder(""))
        for completed in (*self.completed, *self.savepoints):
            missing = sorted(paths_of(completed.parts) - there)
            if missing:
                raise Violation("INC-02", f"checkpoint {completed.checkpoint} needs {missing}, which was deleted.")

    def check_leaks(self, rule: str = "INC-03") -> None:
        """Nothing else is there, while no checkpoint is under way.

        Raises:
            Violation: of the rule.
        """
        kept = (*self.completed, *self.savepoints)
        needed = {path for completed in kept for path in paths_of(completed.parts)}
        needed |= {f"chk-{completed.checkpoint}/_metadata" for completed in kept}
        left = sorted(set(self.storage().list_folder("")) - needed)
        if left:
            raise Violation(rule, f"no checkpoint needs {left}, and nobody deletes it.")

    def filling_bytes(self, wanted: int) -> int:
        """How long the values are that fill a state: as wanted, or as the backend declares.

        Raises:
            CannotTry: they are so short that their number alone may be more than its memory has room for.
        """
        longest = self.limits["max_value_bytes"]
        if longest < LEAST_FILLING_BYTES:
            raise CannotTry(f"it needs a max_value_bytes of {LEAST_FILLING_BYTES}, and {longest} is declared")
        return min(wanted, longest)

    def stored_bytes(self, folder: str) -> int:
        """Bytes of all files below a folder."""
        return sum(len(self.place.files["job", path].content) for path in self.storage().list_folder(folder))

    def folder(self, subtask: int = 0) -> Path:
        """The folder of the newest life of a subtask."""
        return self._folders[subtask]

    def folder_bytes(self) -> int:
        """Bytes of all local files of all attempts; one that has several names counts once."""
        found = (path.lstat() for path in self._disk.room.rglob("*") if path.is_file())
        return sum({each.st_ino: each.st_size for each in found}.values())

    def close(self) -> list[Exception]:
        """Free everything; what backends raised when they were closed."""
        try:
            self.thread.close()
            return raised_by_closing(self._backends)
        finally:  # Though one of them may never return.
            self._disk.close()


def overlapping(parts: Sequence[Manifest], groups: range) -> list[Manifest]:
    """The parts that hold some of these key groups."""
    return [part for part in parts if part.first_key_group < groups.stop and groups.start < part.end_key_group]


def paths_of(parts: Sequence[Manifest]) -> set[str]:
    """The paths of all files of a checkpoint."""
    return {each.reference.path for part in parts for each in part.handles if each.reference is not None}


def shared_paths(manifest: Manifest) -> set[str]:
    """The paths of the shared files of a manifest that are no placeholders."""
    return {each.reference.path for each in manifest.handles if each.scope is Scope.SHARED and each.reference}


def require_manifest(thing: object) -> Manifest:
    """What an upload returns."""
    if not isinstance(thing, Manifest):
        raise Violation("SBK-02", f"upload() returned {thing!r}, which is no Manifest.")
    return thing


def require_own_groups(manifest: Manifest, groups: range, claimed: frozenset[str]) -> None:
    """A manifest is of the key groups of its backend, and so is every file but those that were there before."""
    if (manifest.first_key_group, manifest.end_key_group) != (groups.start, groups.stop):
        named = range(manifest.first_key_group, manifest.end_key_group)
        raise Violation("SBK-05", f"the manifest of a backend of key groups {groups} names {named}.")
    written = [each for each in manifest.handles if each.reference is not None and each.reference.path not in claimed]
    if foreign := sorted({key_group for each in written for key_group in each.key_groups} - set(groups)):
        raise Violation("SBK-05", f"the snapshot of a backend of key groups {groups} holds key groups {foreign}, too.")


def require_alone(manifest: Manifest) -> None:
    """A savepoint has files of its own alone."""
    own = f"chk-{manifest.checkpoint}/"
    for handle in manifest.handles:
        if handle.scope is not Scope.EXCLUSIVE or handle.reference is None or not handle.reference.path.startswith(own):
            raise Violation("SBK-02", f"a savepoint has {handle.name} in scope {handle.scope}: it is to stand alone.")


def require_full(manifest: Manifest, restored: Sequence[Manifest], behind: str) -> None:
    """A snapshot refers to no file of what was restored, and to none by a placeholder."""
    names = {each.name for part in restored for each in part.handles if each.scope is Scope.SHARED}
    foreign = paths_of([manifest]) & paths_of(restored)
    foreign |= {each.name for each in manifest.handles if each.reference is None or each.name in names}
    if foreign:
        raise Violation("INC-02", f"behind {behind}, a snapshot refers to {sorted(foreign)}; a full one is right.")


def never() -> bool:
    """No checkpoint is cancelled."""
    return False
