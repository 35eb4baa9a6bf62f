"""Processes of an engine through all their lives, one and all of them: who dies, or is killed, is started again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from holdfast.harness.adapter.child import Child
from holdfast.harness.adapter.member import Member, Nodes
from holdfast.harness.adapter.process import how_it_ended
from holdfast.harness.adapter.recorder import HARNESS
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.events import LEFT, StateFound
from holdfast.harness.model.own_deaths import OwnDeaths
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import node_name
from holdfast.harness.spi.system import DiedAtOnce

DEATHS_IN_A_ROW = 20
"""So often a program may die by itself without having acknowledged anything meanwhile."""
DEATHS_ALIKE = 5
"""So often it may die in the same way before it acknowledges anything at all."""


class Deaths:
    """The deaths of workers of one run.

    Attributes:
        at_once: those in the same way up to the last one, if the program has acknowledged nothing in any life; else
            None.
    """

    def __init__(self) -> None:
        self._in_a_row = 0
        self._last = ""
        self._progressed = False
        self.at_once: OwnDeaths | None = None

    def add(self, ended: str, last_words: str) -> OwnDeaths:
        """Count one; returns it.

        Args:
            ended: how, such as `exit code 3`.
            last_words: what it wrote last; may be empty.
        """
        self._in_a_row += 1
        died = OwnDeaths(1, ended, last_words)
        self._last = died.cause
        if not self._progressed:
            alike = self.at_once is not None and self.at_once.alike(died)
            times = self.at_once.times + 1 if self.at_once is not None and alike else 1
            self.at_once = OwnDeaths(times, ended, last_words)
        return died

    def acknowledge(self) -> None:
        """Note that the program has acknowledged a record."""
        self._in_a_row, self._progressed, self.at_once = 0, True, None

    def complaint(self) -> str:
        """Why it is not started again, in words; empty: it is."""
        if self.at_once is not None and self.at_once.times >= DEATHS_ALIKE:
            return (
                f"died by itself {self.at_once.times} times before it acknowledged anything, each time with "
                f"{self.at_once.cause}"
            )
        if self._in_a_row >= DEATHS_IN_A_ROW:
            times = f"{self._in_a_row} times in a row"
            return f"died by itself {times} without an acknowledgement, the last time with {self._last}"
        return ""


RESTART_DELAY_MS = 100
"""How long its environment takes to start it again."""
_LEAVE_LIMIT_S = 10.0


class Worker(Member[Child]):
    """A process of the system under test, over its lives. Subclasses define the program, its start and its messages.

    Args:
        process: its name in the history; a life of it is a node.
        what: it is, as the beginning of a sentence: `program /path/to/program`.
        folder: where it works; also the label of all that it starts.
        logs: folder of what it writes to its standard error, one file for each life.
        nodes: takes what is seen of it.

    Attributes:
        ready: this life can do its work.
        attempt: what events of the present life are stamped with.
        heard_ms: when its last message came.
        deaths: those that the harness did not cause.
        problem: why the run decides nothing; empty while all is well.
        died_at_once: the deaths that are the problem, if it never did anything.
    """

    evidence = Evidence.BOUNDARY
    """How it is known what a life begins from."""

    def __init__(self, process: str, what: str, folder: Path, logs: Path, nodes: Nodes) -> None:
        super().__init__(process, nodes, RESTART_DELAY_MS)
        self._what = what
        self._folder = folder
        self._logs = logs
        self.ready = False
        self.attempt = 0
        self.heard_ms = 0.0
        self.deaths = Deaths()
        self.problem = ""
        self.died_at_once: OwnDeaths | None = None

    def command(self) -> Sequence[str]:
        """The program as an absolute path, with its arguments."""
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """More variables for it."""
        return {}

    def next_attempt(self) -> int:
        """What events of the next life are stamped with."""
        return self._nodes.begun(self.process) + 1

    def found(self) -> tuple[int, ...]:
        """By partition, how many records are persisted already: what the next life begins from."""
        raise NotImplementedError

    def started(self, child: Child) -> None:
        """A life began."""

    def heard(self, line: bytes) -> None:
        """A message came."""

    def silence(self) -> str:
        """Why it cannot be waited for any longer, in words; empty: it can."""
        return ""

    def over(self) -> bool:
        """Whether it may end now by itself, and is not started again."""
        return False

    def excused(self, cause: str) -> bool:
        """Whether such a death is expected of it, which then is no failure of the system."""
        return False

    def useless(self, cause: str) -> str:
        """Why it is not started again after such a death, in words; empty: it is."""
        return ""

    def died(self) -> None:
        """A life died, and the next one is to come."""

    def ended(self) -> None:
        """Note that no life is left. Idempotent."""

    @property
    def alive(self) -> bool:
        """Whether it is ready, and not paused."""
        return self.ready and super().alive

    def hear(self) -> None:
        """Handle its messages, and notice if it died or hangs."""
        child = self.present
        if child is None:
            return
        dead = child.dead  # Read first: what it sent before it died is there now.
        self.listen(child)
        if self.present is not child:
            return
        child.flush()
        if dead:
            self.bury("")
        elif complaint := self.silence():
            self.give_up(complaint)

    def leave(self) -> None:
        """End it in good order, by SIGTERM, and do not start it again before `come_back`.

        Raises:
            OSError: it is dead already, or does not end.
        """
        child = self.living()
        if not child.terminate(_LEAVE_LIMIT_S):
            raise OSError(f"{self.process} did not end within {_LEAVE_LIMIT_S:.0f} s of SIGTERM.")
        self.away = True
        child.end()
        self.bury(LEFT)

    def come_back(self) -> None:
        """Start it again, if it has left. Idempotent."""
        self.away = False

    def give_up(self, complaint: str, died_at_once: OwnDeaths | None = None) -> None:
        """End the run as inconclusive, for a reason that completes a sentence about this worker."""
        if not self.problem:
            self.problem, self.died_at_once = f"{self._what} {complaint}.", died_at_once
        self.close()

    def close(self) -> None:
        """End it. Idempotent."""
        if self.present is not None:
            self.present.close()
        self.present = None
        self.ready = False
        self.ended()

    def listen(self, child: Child) -> None:
        """Handle all messages since the last call."""
        for line in child.lines():
            self.heard_ms = self._recorder.now_ms
            self.heard(line)
            if self.present is not child:
                return

    def start(self) -> None:
        self.attempt = self.next_attempt()
        self._recorder.record(HARNESS, StateFound(positions=self.found(), attempt=self.attempt), self.evidence)
        log = self._logs / f"{node_name(self.process, self._nodes.begun(self.process))}.log"
        child = Child(self.command(), self._folder, log, self.environment())
        self.begin(child, self.attempt)
        self.started(child)

    def bury(self, cause: str, *, by_error: bool = False) -> None:
        """As of Member, unless it is of no use to start it again. Without a cause it died by itself."""
        child = self.present
        if child is None:
            return
        self.listen(child)  # What it still sent.
        if self.present is not child:
            return
        if not cause and self.over():
            self.away = True
            self.close()
            return
        excused = False
        if not cause:
            died = OwnDeaths(1, how_it_ended(child.end()), child.last_words())
            cause, excused = died.cause, self.excused(died.cause)
            if not excused:
                self.deaths.add(died.ended, died.last_words)
        super().bury(cause)
        child.close()
        if not excused and (complaint := self.useless(cause) or self.deaths.complaint()):
            self.give_up(complaint, self.deaths.at_once)
        self.close()
        self.died()


AWorker = TypeVar("AWorker", bound=Worker, covariant=True)


class Crew(Generic[AWorker]):
    """All processes of a system, each through its lives.

    Args:
        members: the processes; worker i is `members[i]`.

    Attributes:
        members: as given; subclasses may put others in their place.
        most: how many there ever were at a time.
    """

    def __init__(self, members: Sequence[AWorker]) -> None:
        self.members = tuple(members)
        self.most = len(self.members)

    def hear(self) -> None:
        """Take what they say, and notice who died or fell silent."""
        for each in self.members:
            each.hear()

    def tend(self) -> None:
        """Start again those for whom that is due."""
        for each in self.members:
            each.tend()

    @property
    def next_ms(self) -> float:
        """When something is due for one of them; infinity: nothing."""
        return min(each.next_ms for each in self.members)

    @property
    def children(self) -> Sequence[Child]:
        """The processes that there are now."""
        return [each.present for each in self.members if each.present is not None]

    @property
    def alive(self) -> bool:
        """Whether one of them is."""
        return any(each.alive for each in self.members)

    @property
    def problem(self) -> str:
        """Why the run decides nothing; empty while all is well."""
        return next((each.problem for each in self.members if each.problem), "")

    def require_started(self) -> None:
        """
        Raises:
            DiedAtOnce: one ended by itself before it did anything.
        """
        for each in self.members:
            if each.died_at_once is not None:
                raise DiedAtOnce(each.problem, each.died_at_once)

    def close(self) -> None:
        """End them. Idempotent."""
        for each in self.members:
            each.close()

    def member(self, target: Target) -> AWorker:
        """The process that is a target.

        Raises:
            OSError: there was one, and is none at present.
            ValueError: there is never one.
        """
        if target.role is not Role.WORKER or not 0 <= target.index < self.most:
            known = f"{_worker(0)} to {_worker(self.most - 1)}" if self.most > 1 else str(_worker(0))
            raise ValueError(f"target {target} is unknown: there is {known}.")
        if target.index >= len(self.members):
            raise OSError(f"there is no {target} at present.")
        return self.members[target.index]


def _worker(index: int) -> Target:
    return Target(Role.WORKER, index)
