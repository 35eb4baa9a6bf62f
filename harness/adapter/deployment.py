"""Workers that stand, with what reads their output: one loop over pipes, no threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.harness.adapter.child import wait_for
from holdfast.harness.adapter.committed_output import CommittedOutput
from holdfast.harness.adapter.crew import Crew
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.adapter.worker import Worker
from holdfast.harness.label import end_labelled
from holdfast.harness.model.events import Event
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.system import GateReached, Recording

_LONGEST_WAIT_MS = 1_000


class ProcessDeployment:
    """What every spi.system.Deployment of processes does. Subclasses feed, and say when everything has taken effect.

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
        self._crew = crew
        self._committed = committed
        self._recorder = recorder
        self._label = label
        self.controls = controls

    @property
    def now_ms(self) -> float:
        return self._recorder.now_ms

    @property
    def problem(self) -> str:
        """Why the run says nothing; empty while all is well."""
        return self._crew.problem or self._committed.problem

    def advance(self, until_ms: float) -> Sequence[Event | GateReached]:
        """See the Protocol.

        Raises:
            DiedAtOnce: a worker ended by itself before it did anything.
            OSError: one said what it must not, fell silent, or is of no use otherwise.
        """
        while True:
            self._crew.hear()
            self._committed.hear()
            self._require_well()
            self._crew.tend()
            self.tend()
            happened: list[Event | GateReached] = [*self._recorder.happened(), *self.reached()]
            now_ms = self.now_ms
            if happened or now_ms >= until_ms:
                return happened
            due_ms = min(until_ms, self.next_ms, now_ms + _LONGEST_WAIT_MS, self._crew.next_ms)
            wait_for([self._committed.child, *self._crew.children], max(0.0, due_ms - now_ms) / 1000)

    def tend(self) -> None:
        """Do what is due beside hearing and starting the workers."""

    @property
    def next_ms(self) -> float:
        """When something is due; infinity: nothing."""
        return float("inf")

    def reached(self) -> Sequence[GateReached]:
        """The gates that were reached since the last call."""
        return ()

    def record(self, event: Event) -> None:
        self._recorder.record(HARNESS, event)

    def feed_markers(self) -> None:
        raise NotImplementedError

    def drained(self) -> bool:
        raise NotImplementedError

    def stop(self, *, audit: bool) -> Recording:
        """See the Protocol; there is nothing to audit."""
        if not self._committed.problem:
            self._committed.finish()
        self.end_workers()
        self._committed.close()
        return Recording(
            nodes=tuple(self._recorder.nodes.values()),
            ordered=False,
            output=self._committed.output,
            problem=self.problem,
        )

    def end_workers(self) -> None:
        """End them in good order."""
        self._crew.close()

    def close(self) -> None:
        self._crew.close()
        self._committed.close()
        end_labelled(self._label)  # what left the group of its worker

    def _require_well(self) -> None:
        self._crew.require_started()
        if self.problem:
            raise OSError(self.problem)
