"""What each storage operation does on its store: the calls of the file system, in order.

Nodes of a run on processes are watched in their zygote, which prepares the run by `prepare` and gives birth to them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import partial, wraps
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.processes import run_context
from holdfast.fixtures.reference.protocol.storage.operation import After, Operation, Outcome, Stage
from holdfast.fixtures.reference.protocol.storage.storage import Storage, StorageEffect
from holdfast.fixtures.storages.file_system import FileMedium, FileUpload
from holdfast.fixtures.storages.on_disk import DiskFiles, DiskUpload

FOLDER = "watched"
CALLS = ("begin", "read", "tail", "paths", "remove", "abandon_uploads")
OF_UPLOADS = ("write", "publish", "abandon")
"""Of spi.file_system."""


class Watched(msgspec.Struct):
    """One operation.

    Attributes:
        operation: its name.
        calls: of the file system, by name, in order; `after` where time passes.
    """

    operation: str
    calls: list[str] = []

    @property
    def shape(self) -> tuple[str, ...]:
        """The calls, each once where it comes several times in a row."""
        return tuple(kind for kind, _ in groupby(self.calls))


class Watch:
    """Watches this process and those that it forks."""

    def __init__(self, folder: Path | None = None) -> None:
        self.operations: list[Watched] = []
        self._folder = folder
        # A sink's calls are made by a thread of its own in the context of who asks.
        self._present: ContextVar[Watched | None] = ContextVar("present", default=None)
        self._inside = ContextVar("inside", default=False)

    def begin(self, patch: pytest.MonkeyPatch) -> None:
        """Watch from now on."""
        operation = Storage.operation

        def watched(storage: Storage, effect: StorageEffect, now_ms: float) -> Operation:
            wanted = operation(storage, effect, now_ms)
            seen = Watched(wanted.name)
            self.operations.append(seen)
            return Operation(wanted.name, self._watched(seen, wanted.stage), wanted.logical)

        patch.setattr(Storage, "operation", watched)
        watched_calls = {FileMedium: CALLS, DiskFiles: CALLS, FileUpload: OF_UPLOADS, DiskUpload: OF_UPLOADS}
        for kind, calls in watched_calls.items():
            for call in calls:
                patch.setattr(kind, call, self._noting(call, getattr(kind, call)))

    def _watched(self, seen: Watched, stage: Stage | After) -> Stage | After:
        if isinstance(stage, After):
            seen.calls.append("after")
            return After(stage.call, partial(self._carried_out, seen, stage.then))
        return partial(self._carried_out, seen, stage)

    def _carried_out(self, seen: Watched, stage: Stage) -> Outcome | After:
        before = self._present.set(seen)
        try:
            result = stage()
        finally:
            self._present.reset(before)
        if isinstance(result, After):
            after = self._watched(seen, result)
            assert isinstance(after, After)
            return after
        if self._folder is not None:
            with (self._folder / f"{os.getpid()}-{threading.get_ident()}").open("ab") as file:
                file.write(msgspec.json.encode(seen) + b"\n")
        return result

    def _noting(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def noted(*arguments: Any, **named: Any) -> Any:
            seen = self._present.get()
            if seen is None or self._inside.get():
                return call(*arguments, **named)
            seen.calls.append(name)
            outside = self._inside.set(True)
            try:
                return call(*arguments, **named)
            finally:
                self._inside.reset(outside)

        return noted


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
    """By operation, the shapes of what it does."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for each in watched:
        found.setdefault(each.operation, set()).add(each.shape)
    return found
