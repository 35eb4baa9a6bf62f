"""What befalls the processes of an engine: they are killed, they stand still, they leave and come back."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.adapter.worker import Worker
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls import Acting, Controls
from holdfast.harness.spi.controls.process import MembershipControl, ProcessControl


def worker_controls(workers: Sequence[Worker], acting: Acting) -> Controls:
    """All that can be done to workers; `workers[i]` is worker i. `acting` is that of their recorder."""
    controls = Controls(acting)
    processes = WorkerProcesses(workers)
    controls.offer(ProcessControl, processes)
    controls.offer(MembershipControl, processes)
    return controls


class WorkerProcesses:
    """spi.controls.process.ProcessControl and MembershipControl."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers

    def kill(self, target: Target, part: str = "") -> None:
        self.worker(target).kill()

    def pause(self, target: Target, part: str = "") -> None:
        self.worker(target).pause()

    def resume(self, target: Target) -> None:
        self.worker(target).resume()

    def alive(self, target: Target) -> bool:
        return self.worker(target).alive

    def leave(self, target: Target) -> None:
        self.worker(target).leave()

    def come_back(self, target: Target) -> None:
        self.worker(target).come_back()

    def worker(self, target: Target) -> Worker:
        """
        Raises:
            ValueError: there is none of that target.
        """
        if target.role is not Role.WORKER or not 0 <= target.index < len(self._workers):
            known = ", ".join(str(Target(Role.WORKER, index)) for index in range(len(self._workers)))
            raise ValueError(f"target {target} is unknown; known are {known}.")
        return self._workers[target.index]
