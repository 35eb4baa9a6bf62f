"""What the child processes of these tests do."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.fixtures.reference.drivers.processes.host import Leash
from holdfast.fixtures.reference.protocol.messages import TriggerCheckpoint
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.recorder import Lines, LogFile, Recorder
from holdfast.harness.model.events import NodeStarted, TriggerSent

PACKAGE = __name__


def wait(arguments: bytes, descriptors: Sequence[int]) -> None:
    """Do nothing until the end."""
    while True:
        signal.pause()


def leave(arguments: bytes, descriptors: Sequence[int]) -> None:
    """End at once."""


def fail(arguments: bytes, descriptors: Sequence[int]) -> None:
    """Fail before registering."""
    raise RuntimeError("out of luck")


def be_silent(arguments: bytes, descriptors: Sequence[int]) -> None:
    """Keep the control connection and never say a word."""
    wait(arguments, descriptors)


def describe(arguments: bytes, descriptors: Sequence[int]) -> None:
    """Answer with the arguments, the open descriptors and the number of threads."""
    opened = sorted(int(name) for name in os.listdir("/proc/self/fd"))
    opened = [number for number in opened if Path(f"/proc/self/fd/{number}").exists()]  # not that of the listing
    threads = len(os.listdir("/proc/self/task"))
    sys.stdout.write("said on standard output\n")
    answer = f"{arguments.decode()} {opened == [0, 1, 2, *descriptors]} {threads}"
    socket.socket(fileno=descriptors[0]).send(answer.encode())


def count(arguments: bytes, descriptors: Sequence[int]) -> None:
    """A node that tells TriggerSent 1, 2, 3, ... as fast as it may, each in front of an effect `send-trigger`; a forged
    message is told as a trigger of checkpoint 0."""
    folder, node = arguments.decode().rsplit("|", 1)
    loop = Loop()

    def on_forge(message: str, parameters: Mapping[str, int | str]) -> Mapping[str, int | str]:
        if message == "nonsense":
            raise ValueError("nonsense cannot be forged")
        recorder.record(node, TriggerSent(checkpoint=0, subtask=message))
        return {"forged": message}

    leash = Leash(loop, socket.socket(fileno=descriptors[0]), on_forge, lambda: recorder.close())
    recorder = Recorder(Lines({node: LogFile(Path(folder), node)}, leash.tell))
    recorder.record(node, NodeStarted())
    checkpoint = 0
    while True:
        loop.turn(0.001)
        checkpoint += 1
        gate = leash.take(TriggerCheckpoint(1, "source[0]", checkpoint, 0.0)) if leash.armed else 0
        if gate:
            leash.stands(gate)
        recorder.record(node, TriggerSent(checkpoint=checkpoint, subtask="source[0]"))
