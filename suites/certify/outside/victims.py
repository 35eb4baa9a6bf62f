"""The kit's side of victim.py."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Timer

import msgspec
from msgspec.structs import replace

from holdfast.harness.adapter.process import Process
from holdfast.harness.label import NAME, label_of
from holdfast.suites.certify.check import CannotTry, Violation
from holdfast.suites.certify.outside.messages import LENGTH_BYTES, Act, Answer, Command, PartSettings, Report

PATIENCE_S = 120.0
"""How long a victim may be silent."""
_END_LIMIT_S = 10.0
_COMMAND = [sys.executable, "-m", "holdfast.suites.certify.outside.victim"]


class Stopped(msgspec.Struct, frozen=True):
    """A victim that waits at a point. `where`: at which call."""

    victims: Victims
    where: str

    def go_on(self) -> Report:
        """Let it do the rest."""
        return self.victims.go_on()


class Victims:
    """Processes that make one and the same thing, one after the other.

    Args:
        setting: what they make, and where; they look for modules where this process does.
        rule: that is broken where one of them ends by itself.

    Raises:
        CannotTry: they find no factory.
    """

    def __init__(self, setting: PartSettings, rule: str = "STO-07") -> None:
        self.rule = rule
        # A session of its own, in which its forks are: one that hangs is ended with all that holds its output open.
        # A label of its own, because what a victim leaves that is killed is nobody's fault.
        ours = label_of(os.getpid())
        self._process = subprocess.Popen(
            _COMMAND,
            env={**os.environ, **({NAME: str(ours / "victims")} if ours else {})},  # noqa: TID251 - of a child
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._life = Process(self._process.pid)
        self._send(replace(setting, path=[str(each) for each in sys.path]))
        answer = self._hear("ready", "lost")
        if answer.event == "lost":
            self.close()
            raise CannotTry(f"another process cannot import its factory: {answer.where}")

    def run(self, acts: Sequence[Act], counted_from: int = 0, *, power_lost: bool = False) -> Report:
        """Do it all; behind it, the power may be lost."""
        self._send(Command(acts, counted_from, power_lost=power_lost))
        return self._rest()

    def kill(self, acts: Sequence[Act], stop_at: int, counted_from: int = 0) -> str:
        """Do it until the process dies at a point; at which call. Empty: it came to its end before."""
        self._send(Command(acts, counted_from, stop_at))
        answer = self._hear("stopped", "done")
        self._hear("ended")
        return answer.where

    def stop(self, acts: Sequence[Act], stop_at: int, counted_from: int = 0) -> Stopped | None:
        """Do it until the process stops at a point; None: it came to its end before."""
        self._send(Command(acts, counted_from, stop_at, kill=False))
        answer = self._hear("stopped", "done")
        if answer.event == "done":
            self._hear("ended")
            return None
        return Stopped(self, answer.where)

    def go_on(self) -> Report:
        """Let one that stopped do the rest."""
        self._tell(b"")
        return self._rest()

    def _rest(self) -> Report:
        report = self._hear("done").report
        self._hear("ended")
        assert report is not None
        return report

    def _send(self, thing: PartSettings | Command) -> None:
        self._tell(msgspec.json.encode(thing))

    def _tell(self, message: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(len(message).to_bytes(LENGTH_BYTES) + message)
        self._process.stdin.flush()

    def _hear(self, *events: str) -> Answer:
        assert self._process.stdout is not None
        silent = Timer(PATIENCE_S, self._kill)
        silent.start()
        try:
            line = self._process.stdout.readline()
        finally:
            silent.cancel()
        answer = msgspec.json.decode(line, type=Answer) if line else Answer(event="ended", where="it does not answer")
        if answer.event not in events:
            raise Violation(self.rule, f"a process that uses it ended: {answer.where or answer.status}.")
        return answer

    def close(self) -> None:
        """End the process; a fork that waits reads the end of its input, and ends, too. Whatever hangs is killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._life.wait_end(_END_LIMIT_S)
        self._kill()
        self._process.wait()
        self._life.close()
        self._process.stdout.close()

    def _kill(self) -> None:
        # It is reaped by `close` only, so its pid is that of its group and of nobody else.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
