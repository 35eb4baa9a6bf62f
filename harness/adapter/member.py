"""A process through all its lives, whoever starts them: it dies, or is killed, and begins anew when that is due. Each
life is a node of the history: `worker-0.1` is the second one of `worker-0`."""

from __future__ import annotations

import math
from collections import Counter
from typing import Generic, Protocol, TypeVar

from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import BY_HARNESS, NodeDied, NodeStarted
from holdfast.harness.model.topology import node_name


class Nodes:
    """The processes of one run, as nodes of its history.

    Args:
        recorder: takes their beginnings and ends.

    Attributes:
        recorder: as given.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._numbers: Counter[str] = Counter()
        self._living: set[str] = set()

    def begun(self, process: str) -> int:
        """How many lives of a process have begun."""
        return self._numbers[process] + (process in self._living)

    def last(self, process: str) -> str:
        """The present life of a process; between two lives, the last one."""
        return node_name(process, max(0, self.begun(process) - 1))

    def next(self, process: str) -> str:
        """The present life of a process; between two lives, the next one."""
        return node_name(process, self._numbers[process])

    def begin(self, process: str, attempt: int = 0) -> None:
        """Begin the next life of a process; one whose end was not recorded is left behind.

        Args:
            process: such as `worker-0`.
            attempt: that the event is stamped with.
        """
        self._numbers[process] = self.begun(process)
        self._living.add(process)
        self.recorder.record(self.last(process), NodeStarted(attempt=attempt))

    def bury(self, process: str, cause: str, *, by_error: bool = False) -> None:
        """Record that the present life of a process is dead.

        Args:
            process, cause, by_error: see NodeDied. Of a death by the harness, the fault that acts is the reason.
        """
        record_death(self.recorder, self.next(process), cause, by_error=by_error)
        self._living.discard(process)
        self._numbers[process] += 1


def record_death(recorder: Recorder, node: str, cause: str, *, by_error: bool = False) -> None:
    """Record the end of one life.

    Args:
        recorder: takes it.
        node: the life.
        cause, by_error: see NodeDied. Of a death by the harness, the fault that acts is the reason.
    """
    if cause in BY_HARNESS:
        recorder.struck(node)
    recorder.record(HARNESS, NodeDied(dead_node=node, cause=cause, by_error=by_error))


class Mortal(Protocol):
    """What can die, and is held by a Member."""

    @property
    def dead(self) -> bool: ...

    @property
    def paused(self) -> bool:
        """Whether it was stopped by us."""

    def pause(self) -> None:
        """Stop it; returns when it stands still.

        Raises:
            OSError: it does not in time.
        """

    def resume(self) -> None:
        """Let it go on. Idempotent."""

    def end(self) -> int | None:
        """End it with all that it started; returns its exit code, negative for a signal, where that is known.
        Idempotent."""


class Life(Mortal, Protocol):
    """One life of a program, from its start to its death: of a process here, or in a container."""

    @property
    def pid(self) -> int:
        """The pid of its first process on this machine."""

    def lines(self) -> list[bytes]:
        """The complete lines that it has sent since the last call; none, where another object reads them."""

    def end(self) -> int: ...

    def close(self) -> None:
        """End it and free what it took. Idempotent."""

    def last_words(self) -> str:
        """The last line of its log."""


KILLED = "kill"
ALife = TypeVar("ALife", bound=Mortal)


class Member(Generic[ALife]):
    """Subclasses start it, if that is not done by others.

    Args:
        process: its name in the history; a life of it is a node.
        nodes: takes what is seen of it.
        delay_ms: how long its environment takes to start it again; infinity: it is not for us to do.

    Attributes:
        process: as given.
        present: its present life; None between two.
        away: it is not started again before it is to come back.
    """

    def __init__(self, process: str, nodes: Nodes, delay_ms: float = math.inf) -> None:
        self.process = process
        self.join(nodes)
        self._delay_ms = delay_ms
        self._due_ms = 0.0 if delay_ms < math.inf else math.inf
        self.present: ALife | None = None
        self.away = False

    def join(self, nodes: Nodes) -> None:
        """Another run begins, which takes what is seen from now on."""
        self._nodes = nodes
        self._recorder = nodes.recorder

    def start(self) -> None:
        """Let a life begin."""
        raise NotImplementedError

    @property
    def alive(self) -> bool:
        """Whether it lives, and is not paused."""
        return self.present is not None and not self.present.dead and not self.present.paused

    @property
    def node(self) -> str:
        """The present life, or the last one."""
        return self._nodes.last(self.process)

    @property
    def next_ms(self) -> float:
        """When it is started, or started again; infinity: it lives, has left, or others do that."""
        return self._due_ms if self.present is None and not self.away else math.inf

    def tend(self) -> None:
        """Start it if that is due."""
        if self._recorder.now_ms >= self.next_ms:
            self.start()

    def begin(self, life: ALife, attempt: int = 0) -> None:
        """Record that a life has begun.

        Args:
            life: that is held from now on.
            attempt: that its beginning is stamped with.
        """
        self.present = life
        self._nodes.begin(self.process, attempt)

    def living(self) -> ALife:
        """The present life.

        Raises:
            OSError: it is dead already.
        """
        if self.present is None or self.present.dead:
            raise OSError(f"{self.process} is dead already.")
        return self.present

    def kill(self, part: str = "") -> None:
        """End it from outside, as SIGKILL does. Errors as of `living`.

        Args:
            part: of it, which takes the rest along; of that subclasses know.
        """
        self.living().end()
        self.bury(KILLED)

    def pause(self, part: str = "") -> None:
        """Stop it; it stands still when this returns. Errors as of `living`, the argument as of `kill`."""
        self.living().pause()
        self._recorder.struck(self.node)

    def resume(self) -> None:
        """Let it go on. Idempotent."""
        if self.present is not None and self.present.paused:
            self.present.resume()

    def let_go(self) -> None:
        """Detach from it: it goes on without this object, and is not replaced. Idempotent."""
        self.present = None
        self._due_ms = math.inf

    def bury(self, cause: str, *, by_error: bool = False) -> None:
        """Record its death; its environment may start it again. Between two lives nothing happens.

        Args:
            cause, by_error: see NodeDied.
        """
        if self.present is None:
            return
        life, self.present = self.present, None
        self.record_end(life, cause, by_error=by_error)
        self._due_ms = self._recorder.now_ms + self._delay_ms

    def record_end(self, life: ALife, cause: str, *, by_error: bool) -> None:
        """Record the death of a life; arguments as of `bury`."""
        self._nodes.bury(self.process, cause, by_error=by_error)
