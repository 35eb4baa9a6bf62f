"""The one loop that serves a running system, until something happens or the time is up."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from holdfast.harness.adapter.child import wait_for
from holdfast.harness.adapter.committed_output import CommittedOutput
from holdfast.harness.adapter.links import Strangers
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.adapter.worker import Crew, Worker
from holdfast.harness.label import end_labelled
from holdfast.harness.model.events import Event
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.system import GateReached, Recording


class Stand(ABC):
    """What every spi.system.Deployment of processes or containers does. Subclasses define the inputs, the periodic work
    and what ends a wait; the rest of the Protocol is theirs.

    Attributes:
        controls: what faults act on.
    """

    longest_wait_ms: ClassVar[float] = 1_000
    """What ends no wait by itself is looked at so often."""
    controls: Controls
    _recorder: Recorder
    """Takes what is seen; its clock is that of the run."""
    _strangers: Sequence[Strangers] = ()
    """Of the links that lead to services of the run."""

    @property
    def now_ms(self) -> float:
        return self._recorder.now_ms

    @property
    @abstractmethod
    def problem(self) -> str:
        """Why the run decides nothing; empty while all is well."""

    def advance(self, until_ms: float) -> Sequence[Event | GateReached]:
        """See the Protocol.

        Raises:
            DiedAtOnce: the system ended by itself before it did anything.
            OSError: there is a problem.
        """
        until_s = time.monotonic() + (until_ms - self.now_ms) / 1000  # The clock of the run may not have begun.
        while True:
            self.hear()
            self.require_well()
            self.tend()
            happened = self.happened()
            left_ms = (until_s - time.monotonic()) * 1000
            if happened or left_ms <= 0:
                return happened
            due_ms = self.next_ms - self.now_ms
            self.wait(max(0.0, min(left_ms, due_ms, self.longest_wait_ms)) / 1000)

    @abstractmethod
    def hear(self) -> None:
        """Take what the system and its reader say, and notice who died."""

    def require_well(self) -> None:
        """
        Raises:
            OSError: there is a problem, and the run is over.
        """
        if problem := self.problem:
            raise OSError(problem)

    @abstractmethod
    def tend(self) -> None:
        """Do what is due."""

    @property
    def next_ms(self) -> float:
        """When something is due; infinity: nothing."""
        return float("inf")

    def happened(self) -> list[Event | GateReached]:
        """What the engine watches for and has not taken yet."""
        return [*self._recorder.happened()]

    @abstractmethod
    def wait(self, limit_s: float) -> None:
        """Wait until there is something to hear, at most so long."""

    def record(self, event: Event) -> None:
        self._recorder.record(HARNESS, event)

    def record_strangers(self) -> None:
        for strangers in self._strangers:
            for event in strangers.events():
                self.record(event)

    def recording(self, output: Output, problem: str = "", expected: InputLog | None = None) -> Recording:
        """The recording of a run that is over, with connections to its links by processes outside the run.

        Args:
            output: that was committed.
            problem: why the run decides nothing, if it has no other problem.
            expected: see Recording.
        """
        self.record_strangers()
        return Recording(
            nodes=tuple(self._recorder.nodes.values()),
            ordered=False,
            output=output,
            problem=self.problem or problem,
            expected=expected,
        )


class ProcessDeployment(Stand):
    """A Stand of workers and what reads their output: all over pipes, no threads. Subclasses feed, and say when
    everything has taken effect.

    Args:
        crew: the processes.
        committed: reads their output.
        recorder: takes what is seen.
        controls: what faults act on.
        label: the folder whose label all processes of the engine carry.
    """

    def __init__(
        self,
        crew: Crew[Worker],
        committed: CommittedOutput,
        recorder: Recorder,
        controls: Controls,
        label: Path,
    ) -> None:
        self._recorder, self.controls = recorder, controls
        self._crew = crew
        self._committed = committed
        self._label = label

    @property
    def problem(self) -> str:
        return self._crew.problem or self._committed.problem

    def hear(self) -> None:
        self._crew.hear()
        self._committed.hear()

    def require_well(self) -> None:
        """
        Raises:
            DiedAtOnce: a worker ended by itself before it did anything.
            OSError: one sent an invalid message, hangs, or is of no use otherwise.
        """
        self._crew.require_started()
        super().require_well()

    def tend(self) -> None:
        self._crew.tend()

    @property
    def next_ms(self) -> float:
        return self._crew.next_ms

    def wait(self, limit_s: float) -> None:
        wait_for([self._committed.child, *self._crew.children], limit_s)

    def stop(self, *, audit: bool) -> Recording:
        """See the Protocol; there is nothing to audit."""
        if not self._committed.problem:
            self._committed.finish()
        self.end_workers()
        self._committed.close()
        return self.recording(self._committed.output)

    def end_workers(self) -> None:
        """End them in good order."""
        self._crew.close()

    def close(self) -> None:
        self._crew.close()
        self._committed.close()
        end_labelled(self._label)  # what left the group of its worker
