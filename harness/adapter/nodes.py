"""Processes through their lives, as nodes of the history: `worker-0.1` is the second life of `worker-0`."""

from __future__ import annotations

from collections import Counter

from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import BY_HARNESS, NodeDied, NodeStarted
from holdfast.harness.model.topology import node_name


class Nodes:
    """Those of one run.

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
        """Its next life begins; one that was not buried is left behind.

        Args:
            process: such as `worker-0`.
            attempt: that the event is stamped with.
        """
        self._numbers[process] = self.begun(process)
        self._living.add(process)
        self.recorder.record(self.last(process), NodeStarted(attempt=attempt))

    def bury(self, process: str, cause: str, *, by_error: bool = False) -> None:
        """Its present life is dead.

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
