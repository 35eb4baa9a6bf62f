"""What a driver does for each storage operation: the steps that the operation yields, and those that its store takes.

Nodes of a run on processes are watched in their zygote, which prepares the run by `prepare` and gives birth to them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.processes import disk, run_context
from holdfast.fixtures.reference.protocol.storage.operation import Operation, Outcome
from holdfast.fixtures.reference.protocol.storage.steps import Step, Steps
from holdfast.fixtures.reference.protocol.storage.storage import Storage, StorageEffect
from holdfast.harness.model.storage_steps import StorageStep, is_storage_step
from holdfast.harness.sim.disk import SimulatedDisk

FOLDER = "watched"


class Watched(msgspec.Struct):
    """One operation.

    Attributes:
        operation: its name.
        steps: kinds of all steps that it yielded, in order.
        stored: kinds and paths of those that are steps on a store.
        taken: kinds and paths of the steps that the store took meanwhile.
    """

    operation: str
    steps: list[str] = []
    stored: list[tuple[str, str]] = []
    taken: list[tuple[str, str]] = []

    @property
    def shape(self) -> tuple[str, ...]:
        """The kinds of steps, each once where it comes several times in a row."""
        return tuple(kind for kind, _ in groupby(self.steps))


class Watch:
    """Watches this process and those that it forks."""

    def __init__(self, folder: Path | None = None) -> None:
        self.operations: list[Watched] = []
        self._folder = folder
        self._present = threading.local()

    def begin(self, patch: pytest.MonkeyPatch) -> None:
        """Watch from now on."""
        operation = Storage.operation

        def watched(storage: Storage, effect: StorageEffect, now_ms: float) -> Operation:
            wanted = operation(storage, effect, now_ms)
            return Operation(wanted.name, self._watched(wanted), wanted.logical)

        patch.setattr(Storage, "operation", watched)
        for store in (SimulatedDisk, disk._FileSteps):
            patch.setattr(store, "take", self._taking(store.take))

    def _watched(self, operation: Operation) -> Steps[Outcome]:
        seen = Watched(operation.name)
        self.operations.append(seen)
        outcome = yield from self._noting(seen, operation.steps)
        if self._folder is not None:
            with (self._folder / f"{os.getpid()}-{threading.get_ident()}").open("ab") as file:
                file.write(msgspec.json.encode(seen) + b"\n")
        return outcome

    def _noting(self, seen: Watched, steps: Steps[Outcome]) -> Generator[Step, Any, Outcome]:
        answer: Any = None
        error: OSError | None = None
        while True:
            try:
                step = steps.send(answer) if error is None else steps.throw(error)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome
            seen.steps.append(type(step).__name__)
            if is_storage_step(step):
                seen.stored.append(_name(step))
            self._present.operation = seen
            answer, error = None, None
            try:
                answer = yield step
            except OSError as raised:
                error = raised
            self._present.operation = None

    def _taking(self, take: Any) -> Any:
        def taking(store: Any, step: StorageStep) -> Any:
            seen = getattr(self._present, "operation", None)
            if seen is not None:
                seen.taken.append(_name(step))
            return take(store, step)

        return taking


def _name(step: StorageStep) -> tuple[str, str]:
    return type(step).__name__, getattr(step, "path", "")


def prepare(arguments: bytes, descriptors: object) -> None:
    """As run_context.prepare, and watch the nodes."""
    Watch(prepared_folder(arguments, descriptors, FOLDER)).begin(pytest.MonkeyPatch())


def prepared_folder(arguments: bytes, descriptors: object, name: str) -> Path:
    """Do what run_context.prepare does, and make a folder of that name in the run's own."""
    run_context.prepare(arguments, descriptors)
    context = run_context._context
    assert context is not None
    folder = context.folder / name
    folder.mkdir(exist_ok=True)
    return folder


def read(folder: Path) -> list[Watched]:
    """What the nodes of a run on processes wrote into a folder."""
    files = sorted(folder.iterdir())
    return [msgspec.json.decode(line, type=Watched) for file in files for line in file.read_bytes().splitlines()]


def shapes(watched: Iterable[Watched]) -> dict[str, set[tuple[str, ...]]]:
    """By operation, the shapes of its sequences."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for each in watched:
        found.setdefault(each.operation, set()).add(each.shape)
    return found
