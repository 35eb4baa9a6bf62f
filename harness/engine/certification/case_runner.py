"""Executes the runs of one case on one system and tier, and reports each. A run is stored before it is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from holdfast.harness.engine.cases.case_run import CaseRun, FinishedRun, run_until
from holdfast.harness.engine.certification.run_store import RunStore
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.journal import RunResult


class RunEnded(msgspec.Struct, frozen=True, tag=True):
    """A run is over; `kept` as the journal lists it, if it was stored."""

    result: RunResult
    kept: RunResult | None


class CaseEnded(msgspec.Struct, frozen=True, tag=True):
    """No more runs. `histories` is a digest over the manifests of those that were stored."""

    histories: str


class WorkerLost(msgspec.Struct, frozen=True, tag=True):
    """The worker process is gone before the end.

    Attributes:
        reason: one sentence.
        blamed: by what it did itself; else by a limit of the harness, or from outside.
    """

    reason: str
    blamed: bool = True


Message = RunEnded | CaseEnded | WorkerLost


def execute(
    case_run: CaseRun,
    goal: int,
    store: RunStore,
    interruption: Interruption,
    late: Callable[[], bool],
    jobs: int = 1,
) -> Iterator[Message]:
    """Run until enough runs count, further runs are pointless, the time is over, or the user interrupts.

    The last message is CaseEnded.

    Args:
        goal: how many runs must count.
        store: of this case alone.
        late: whether the time is over, so that no further run begins.
        jobs: worker processes for drawn plans on the simulator.
    """
    runs = run_until(case_run, goal, jobs)
    while (finished := _next(runs, interruption)) is not None:
        yield RunEnded(finished.result, store.keep(finished, case_run))
        if late():
            break
    yield CaseEnded(store.histories.hexdigest())


def _next(runs: Iterator[FinishedRun], interruption: Interruption) -> FinishedRun | None:
    """The next finished run; None at the end or after an interruption."""
    try:
        with interruption.breakable():
            return next(runs, None)
    except KeyboardInterrupt:
        return None
