"""What a driver gives to the protocol: the messages of workers, and what sources read.

Each of these is decided by a part that all drivers share. A driver that steps with anything else is noted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.processes import worker_host as on_processes
from holdfast.fixtures.reference.drivers.simulated import source_reader as in_simulator
from holdfast.fixtures.reference.protocol.effects import Fetch, Fetched, FetchFailed, PartitionEnded, WorkerLost
from holdfast.fixtures.reference.protocol.job.job_master import JobMaster
from holdfast.fixtures.reference.protocol.job.workers import WorkerConnections
from holdfast.fixtures.reference.protocol.messages import TO_COORDINATOR
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.suites.selfcheck.processes.watched_storage import prepared_folder

FOLDER = "watched-steps"
WORKERS, SOURCES = "workers", "sources"
OWN_STEP = "a step of the driver's own"


class WatchedStep(msgspec.Struct, frozen=True):
    """A kind of step that a driver takes.

    Attributes:
        part: WORKERS or SOURCES.
        kind: of the event.
        wrong: OWN_STEP or empty.
    """

    part: str
    kind: str
    wrong: str = ""


class Watch:
    """Watches this process and those that it forks."""

    def __init__(self, folder: Path | None = None) -> None:
        self.steps: set[WatchedStep] = set()
        self._folder = folder
        self._process = os.getpid()
        self._decided: dict[str, object] = {}

    def begin(self, patch: pytest.MonkeyPatch) -> None:
        """Watch from now on."""
        patch.setattr(Worker, "step", self._stepping(Worker.step, {SOURCES: READINGS}))
        patch.setattr(JobMaster, "step", self._stepping(JobMaster.step, {WORKERS: (*TO_COORDINATOR, WorkerLost)}))
        for module in (in_simulator, on_processes):
            patch.setattr(module, "read", self._reading(module.read))
        patch.setattr(WorkerConnections, "__init__", self._connecting(WorkerConnections.__init__))

    def _note(self, part: str, kind: str, wrong: str = "") -> None:
        if self._process != os.getpid():  # a fork writes into a file of its own
            self._process, self.steps = os.getpid(), set()
        step = WatchedStep(part, kind, wrong)
        if step in self.steps:
            return
        self.steps.add(step)
        if self._folder is not None:
            with (self._folder / str(os.getpid())).open("ab") as file:
                file.write(msgspec.json.encode(step) + b"\n")

    def _decide(self, part: str, event: object) -> None:
        self._decided[part] = event

    def _stepping(self, step: Any, parts: dict[str, Collection[type]]) -> Any:
        def stepping(machine: Any, event: object, now: float) -> Any:
            for part, kinds in parts.items():
                if type(event) in kinds:
                    decided = self._decided.pop(part, None) is event
                    self._note(part, type(event).__name__, "" if decided else OWN_STEP)
            return step(machine, event, now)

        return stepping

    def _reading(self, read: Callable[..., object]) -> Callable[..., object]:
        def reading(fetch: Fetch, log: Any, *, bounded: bool) -> object:
            found = read(fetch, log, bounded=bounded)
            self._decide(SOURCES, found)
            return found

        return reading

    def _connecting(self, initialise: Any) -> Any:
        def connecting(connections: Any, step: Callable[[Any], None], close: Any) -> None:
            def decided(event: Any) -> None:
                self._decide(WORKERS, event)
                step(event)

            initialise(connections, decided, close)

        return connecting


READINGS = (Fetched, FetchFailed, PartitionEnded)


def prepare(arguments: bytes, descriptors: object) -> None:
    """As run_context.prepare, and watch the nodes."""
    Watch(prepared_folder(arguments, descriptors, FOLDER)).begin(pytest.MonkeyPatch())


def read(folder: Path) -> set[WatchedStep]:
    """What the nodes of a run on processes wrote into a folder."""
    lines = [line for file in folder.iterdir() for line in file.read_bytes().splitlines()]
    return {msgspec.json.decode(line, type=WatchedStep) for line in lines}
