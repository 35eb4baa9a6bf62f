"""Random programs of two coordinators and a second job on one place, beside a model of the kit's own."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Fenced
from holdfast.harness.spi.storage import CheckpointOutputStream, CheckpointStorage, Scope
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.outside.bench import bytes_of
from holdfast.suites.certify.programs import run_machine


class Stored(NamedTuple):
    """A file that was committed. `path`: as its reference has it."""

    path: str
    content: bytes
    token: bytes
    epoch: int


class Model:
    """What must be there.

    Attributes:
        epoch: that has claimed last.
        files: by scope, checkpoint where it is exclusive, and name.
        published: by checkpoint, its epoch and its metadata.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.files: dict[Hashable, Stored] = {}
        self.published: dict[int, tuple[int, bytes]] = {}

    @staticmethod
    def key(scope: Scope, checkpoint: int, name: str) -> Hashable:
        """One for each file that can be there at a time."""
        return (scope, checkpoint if scope is Scope.EXCLUSIVE else None, name)

    def drop(self, checkpoint: int) -> None:
        self.published.pop(checkpoint, None)
        for key in [key for key in self.files if isinstance(key, tuple) and key[1] == checkpoint]:
            del self.files[key]

    def paths(self, folder: str) -> list[str]:
        prefix = f"{folder}/" if folder else ""
        return sorted(each.path for each in self.files.values() if each.path.startswith(prefix))


STEPS = 30
EXAMPLES = {"memory": 400, "file": 400}
FEW_EXAMPLES = 12
"""Where each call goes over a wire, or is not known."""
seats = st.integers(0, 1)
checkpoints = st.sampled_from([1, 10])
names = st.sampled_from(["a", "ab"])
tokens = st.sampled_from([b"1", b"2"])
scopes = st.sampled_from(list(Scope))
sizes = st.sampled_from([0, 3, 5_000])
numbers = st.integers(0, 7)


class _Open:
    """A stream that has neither been committed nor cancelled."""

    def __init__(self, stream: CheckpointOutputStream, epoch: int, path: tuple[Scope, int, str], token: bytes) -> None:
        self.stream = stream
        self.epoch = epoch
        self.path = path
        self.token = token
        self.content = b""


class StorageMachine(RuleBasedStateMachine):
    """Two seats, each with a storage and the epoch that it claimed last."""

    outer: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(self.outer.target, self.outer.rule)
        self.bench.windows = self.outer.windows
        self.storages: list[CheckpointStorage] = [self.bench.storage() for _ in range(2)]
        self.epochs = [0, 0]
        self.model = Model()
        self.open: list[_Open] = []
        self.references: list[tuple[FileReference, bytes, Stored]] = []
        self.claim(0, 1)

    @rule(seat=seats, ahead=st.integers(0, 2))
    def claim(self, seat: int, ahead: int) -> None:
        epoch = max(self.model.epoch + ahead - (0 if ahead else self.model.epoch != self.epochs[seat]), 1)
        if epoch < self.model.epoch:
            self.bench.refuses(f"claim({epoch})", Fenced, lambda: self.storages[seat].claim(epoch))
            return
        self.storages[seat].claim(epoch)
        self.model.epoch = self.epochs[seat] = epoch
        self.bench.hit("random-claim")

    @rule(seat=seats, scope=scopes, checkpoint=checkpoints, name=names, token=tokens)
    def create(self, seat: int, scope: Scope, checkpoint: int, name: str, token: bytes) -> None:
        streams = self.storages[seat].streams(checkpoint, self.epochs[seat])
        token = b"%d-%s" % (self.epochs[seat], token)  # Nobody but a retry of the same attempt brings it again.
        if self._is_fenced(seat):
            self.bench.refuses("create", Fenced, lambda: self._written(streams.create(scope, name, token)))
            return
        if len(self.open) < 4:
            stream = streams.create(scope, name, token)
            self.open.append(_Open(stream, self.epochs[seat], (scope, checkpoint, name), token))

    @staticmethod
    def _written(stream: CheckpointOutputStream) -> FileReference:
        stream.write(b"late")
        return stream.commit()

    @rule(seat=seats, scope=scopes, checkpoint=checkpoints, name=names, token=tokens, size=sizes)
    def store(self, seat: int, scope: Scope, checkpoint: int, name: str, token: bytes, size: int) -> None:
        """A file in one step: few programs would finish one by the single calls."""
        number = len(self.open)
        self.create(seat, scope, checkpoint, name, token)
        if len(self.open) > number:
            self.write(number, size)
            self.commit(number)

    @precondition(lambda self: self.open)
    @rule(number=numbers, size=sizes)
    def write(self, number: int, size: int) -> None:
        each = self.open[number % len(self.open)]
        if each.epoch == self.model.epoch and self.bench.takes(len(each.content) + size):
            each.stream.write(bytes_of(size))
            each.content += bytes_of(size)

    @precondition(lambda self: self.open)
    @rule(number=numbers)
    def commit(self, number: int) -> None:
        each = self.open.pop(number % len(self.open))
        there = self.model.files.get(Model.key(*each.path))
        if each.epoch < self.model.epoch:
            self.bench.refuses("commit", Fenced, each.stream.commit)
            each.stream.cancel()
        elif there is not None and not (there.token == each.token and there.content == each.content):
            self.bench.refuses("commit of a name that is taken", FileExistsError, each.stream.commit)
            if there.token != each.token:
                each.stream.cancel()
        else:
            reference = self.bench.checked(each.stream.commit(), each.content)
            if there is None:
                there = Stored(reference.path, each.content, each.token, each.epoch)
                self.model.files[Model.key(*each.path)] = there
            self.references.append((reference, each.content, there))
            self.bench.hit("random-commit")

    @precondition(lambda self: self.open)
    @rule(number=numbers)
    def cancel(self, number: int) -> None:
        each = self.open.pop(number % len(self.open))
        there = self.model.files.get(Model.key(*each.path))
        if there is not None and there.token == each.token:
            return  # As if it had been abandoned: whether it takes that file away is for a check of its own.
        each.stream.cancel()

    @rule(seat=seats, checkpoint=checkpoints, metadata=st.sampled_from([b"one", b"other"]))
    def finish(self, seat: int, checkpoint: int, metadata: bytes) -> None:
        storage, epoch = self.storages[seat], self.epochs[seat]
        there = self.model.published.get(checkpoint)
        if self._is_fenced(seat):
            self.bench.refuses("finish", Fenced, lambda: storage.finish(checkpoint, epoch, metadata))
        elif there is not None and there != (epoch, metadata):
            self.bench.refuses("finish", FileExistsError, lambda: storage.finish(checkpoint, epoch, metadata))
        else:
            storage.finish(checkpoint, epoch, metadata)
            self.model.published[checkpoint] = (epoch, metadata)

    @rule(seat=seats, checkpoint=checkpoints)
    def drop(self, seat: int, checkpoint: int) -> None:
        storage, epoch = self.storages[seat], self.epochs[seat]
        if self._is_fenced(seat):
            self.bench.refuses("drop", Fenced, lambda: storage.drop(checkpoint, epoch))
        else:
            storage.drop(checkpoint, epoch)
            self.model.drop(checkpoint)
            self._require_listed(storage, "")

    @precondition(lambda self: self.references)
    @rule(seat=seats, number=numbers)
    def delete(self, seat: int, number: int) -> None:
        storage, epoch = self.storages[seat], self.epochs[seat]
        reference, _, stored = self.references[number % len(self.references)]
        if self._is_fenced(seat):
            self.bench.refuses("delete", Fenced, lambda: storage.delete([reference], epoch))
            return
        storage.delete([reference], epoch)
        for key, there in list(self.model.files.items()):
            if there.path == stored.path:
                del self.model.files[key]

    @precondition(lambda self: self.references)
    @rule(seat=seats, number=numbers)
    def read(self, seat: int, number: int) -> None:
        reference, content, stored = self.references[number % len(self.references)]
        streams = self.storages[seat].streams(1, self.epochs[seat])
        if any(there is stored for there in self.model.files.values()):
            self.bench.require_content(streams, reference, content)
        elif all(there.path != stored.path for there in self.model.files.values()):
            self.bench.refuses("read what is gone", FileNotFoundError, lambda: list(streams.read(reference)))

    @rule(seat=seats, checkpoint=checkpoints)
    def resolve(self, seat: int, checkpoint: int) -> None:
        there = self.model.published.get(checkpoint)
        pointer = f"chk-{checkpoint}"
        if there is None:
            self.bench.refuses(f"resolve({pointer})", FileNotFoundError, lambda: self.storages[seat].resolve(pointer))
        else:
            self.bench.require_metadata(self.storages[seat], pointer, there[1])

    @rule(seat=seats, folder=st.sampled_from(["", "chk-1", "chk-10", "shared", "taskowned"]))
    def list_folder(self, seat: int, folder: str) -> None:
        self._require_listed(self.storages[seat], folder)

    @rule(seat=seats)
    def another_process(self, seat: int) -> None:
        """A storage is closed, and another one takes its seat; streams of the first are lost."""
        self.storages[seat].close()
        self.storages[seat] = self.bench.storage()
        self.open.clear()

    def teardown(self) -> None:
        failed = self.bench.close()
        if failed:
            raise failed[0]

    def _require_listed(self, storage: CheckpointStorage, folder: str) -> None:
        listed = [path for path in storage.list_folder(folder) if not path.endswith("/_metadata")]
        expected = self.model.paths(folder)
        if listed != expected:
            self.bench.require_files(storage, folder, expected)

    def _is_fenced(self, seat: int) -> bool:
        return self.epochs[seat] < self.model.epoch


def program(bench: Bench) -> None:
    scheme = bench.target.uri.partition("://")[0] or "file"
    run_machine(StorageMachine, bench, EXAMPLES.get(scheme, FEW_EXAMPLES), STEPS)


PROGRAMS: tuple[Check[Any], ...] = (
    Check("STO-08/program", "Random programs of claims, files, checkpoints and restarts.", program,
          windows=("random-claim", "random-commit")),
)  # fmt: skip
