"""Workers that stand, with what reads their output: all over pipes, no threads."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.adapter.child import wait_for
from holdfast.harness.adapter.committed_output import CommittedOutput
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.adapter.stand import Stand
from holdfast.harness.adapter.worker import Crew, Worker
from holdfast.harness.label import end_labelled
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.system import Recording


class ProcessDeployment(Stand):
    """A Stand of workers. Subclasses feed, and say when everything has taken effect.

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
            OSError: one said what it must not, fell silent, or is of no use otherwise.
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
