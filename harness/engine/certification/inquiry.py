"""One case put to one system on one tier, told run by run: what of it is kept is stored before it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from holdfast.harness.engine.cases.question import Answer, Question, ask_until
from holdfast.harness.engine.certification.keeper import Keeper
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.journal import RunResult


class Ran(msgspec.Struct, frozen=True, tag=True):
    """A run is over; `kept` as the journal lists it, if it was stored."""

    result: RunResult
    kept: RunResult | None


class Ended(msgspec.Struct, frozen=True, tag=True):
    """No more runs. `histories` is a digest over the manifests of those that were stored."""

    histories: str


class Lost(msgspec.Struct, frozen=True, tag=True):
    """Whoever asked is gone before the end, for a reason that is one sentence."""

    reason: str


News = Ran | Ended | Lost


def inquire(
    question: Question,
    goal: int,
    keeper: Keeper,
    interruption: Interruption,
    late: Callable[[], bool],
    jobs: int = 1,
) -> Iterator[News]:
    """Ask until enough runs count, it is no use, it is late, or it is broken off; the last news is that it has ended.

    Args:
        goal: how many runs must count.
        keeper: of this case alone.
        late: whether to begin no further run.
        jobs: worker processes for drawn plans on the simulator.
    """
    answers = ask_until(question, goal, jobs)
    while (answer := _next(answers, interruption)) is not None:
        yield Ran(answer.result, keeper.keep(answer, question))
        if late():
            break
    yield Ended(keeper.histories.hexdigest())


def _next(answers: Iterator[Answer], interruption: Interruption) -> Answer | None:
    """The next answer, if there is one and it is not broken off."""
    try:
        with interruption.breakable():
            return next(answers, None)
    except KeyboardInterrupt:
        return None
