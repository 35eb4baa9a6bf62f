"""What a driver gives to the protocol: elements in the order of their inputs, registrations, and what sources read.

Each of these is decided by a part of the protocol. A driver that steps with anything else, or whose inputs have another
order, is noted. The order is worked out here once more, from what waits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.processes import source_reader as on_processes
from holdfast.fixtures.reference.drivers.simulated import source_reader as in_simulator
from holdfast.fixtures.reference.protocol.channels.channel_buffers import ChannelBuffers
from holdfast.fixtures.reference.protocol.channels.input_buffers import InputBuffers
from holdfast.fixtures.reference.protocol.channels.task_inputs import TaskInputs
from holdfast.fixtures.reference.protocol.effects import Fetch, Fetched, FetchFailed, PartitionEnded, WorkerLost
from holdfast.fixtures.reference.protocol.job.job_master import JobMaster
from holdfast.fixtures.reference.protocol.job.worker_connections import WorkerConnections
from holdfast.fixtures.reference.protocol.messages import ELEMENTS, TO_COORDINATOR, Barrier, Records
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.suites.selfcheck.processes.watched_storage import prepared_folder

FOLDER = "watched-steps"
INPUTS, WORKERS, SOURCES, CHANNELS = "inputs", "workers", "sources", "channels"
OWN_STEP = "a step of the driver's own"
OUT_OF_TURN = "out of turn"


class WatchedStep(msgspec.Struct, frozen=True):
    """A kind of step that a driver takes.

    Attributes:
        part: one of INPUTS, WORKERS, SOURCES, CHANNELS.
        kind: of the event or of the effect.
        wrong: OWN_STEP, OUT_OF_TURN or empty.
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
        self._turns: dict[TaskInputs, list[InputBuffers]] = {}

    def begin(self, patch: pytest.MonkeyPatch) -> None:
        """Watch from now on."""
        patch.setattr(TaskInputs, "take", self._taking(TaskInputs.take))
        patch.setattr(Worker, "step", self._stepping(Worker.step, {INPUTS: ELEMENTS, SOURCES: READINGS}))
        patch.setattr(JobMaster, "step", self._stepping(JobMaster.step, {WORKERS: (*TO_COORDINATOR, WorkerLost)}))
        for module in (in_simulator, on_processes):
            patch.setattr(module, "read", self._reading(module.read))
        patch.setattr(WorkerConnections, "__init__", self._connecting(WorkerConnections.__init__))
        patch.setattr(ChannelBuffers, "__init__", self._buffering(ChannelBuffers.__init__))

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

    def _taking(self, take: Any) -> Any:
        def taking(inputs: TaskInputs) -> Any:
            expected = self._expected(inputs)
            element = take(inputs)
            self._decide(INPUTS, element)
            found = inputs.buffers[element.channel] if element is not None else None
            if found is not expected:
                self._note(INPUTS, type(element).__name__, OUT_OF_TURN)
            if found is not None and not (isinstance(element, Barrier) and element.overtakes):
                self._serve(inputs, found)
            return element

        return taking

    def _expected(self, inputs: TaskInputs) -> InputBuffers | None:
        """Where the next element comes from: a barrier that overtakes first, then whose turn it is."""
        turns = self._turns.setdefault(inputs, list(inputs.buffers.values()))
        if inputs.suspended:
            return None
        for waiting in turns:
            if any(isinstance(each, Barrier) and each.checkpoint == waiting.overtaking for each in waiting.arrived):
                return waiting
        for waiting in turns:
            first = waiting.arrived[0] if waiting.arrived and not waiting.blocked else None
            if first is not None and (not isinstance(first, Records) or inputs._has_room()):
                return waiting
        return None

    def _serve(self, inputs: TaskInputs, served: InputBuffers) -> None:
        turns = self._turns[inputs]
        place = next(index for index, each in enumerate(turns) if each is served) + 1
        turns[:] = turns[place:] + turns[:place]

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

    def _buffering(self, initialise: Any) -> Any:
        def buffering(buffers: ChannelBuffers, channels: Any) -> None:
            initialise(buffers, channels)
            bind = buffers.bind

            def watched(executors: Any, owner: Any) -> None:
                before = set(executors.by_kind)
                bind(executors, owner)
                for kind in executors.by_kind.keys() - before:
                    executors.on(kind, self._executing(kind, executors.by_kind[kind]))

            buffers.bind = watched  # type: ignore[method-assign]

        return buffering

    def _executing(self, kind: type, execute: Callable[[Any], None]) -> Callable[[Any], None]:
        def executing(effect: Any) -> None:
            self._note(CHANNELS, kind.__name__)
            execute(effect)

        return executing


READINGS = (Fetched, FetchFailed, PartitionEnded)


def prepare(arguments: bytes, descriptors: object) -> None:
    """As run_context.prepare, and watch the nodes."""
    Watch(prepared_folder(arguments, descriptors, FOLDER)).begin(pytest.MonkeyPatch())


def read(folder: Path) -> set[WatchedStep]:
    """What the nodes of a run on processes wrote into a folder."""
    lines = [line for file in folder.iterdir() for line in file.read_bytes().splitlines()]
    return {msgspec.json.decode(line, type=WatchedStep) for line in lines}
