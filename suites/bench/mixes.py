"""The mixes of plans that the figures of the simulator are about, and which of their runs count."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.swarm.mix import SWARM, Mix
from holdfast.harness.model.events import CheckpointCompleted


class Shape(NamedTuple):
    """What decides whether a run counts."""

    dispatched: int
    checkpoints: int
    landed: int


class Definition(msgspec.Struct, frozen=True):
    """What a figure is about.

    Attributes:
        title: in words.
        mix: what plans are drawn from.
        fewest_dispatched, most_dispatched: events of the simulator in a run that counts.
        fewest_checkpoints: completed in a run that counts.
        fewest_landed: faults that took effect in one.
    """

    title: str
    mix: Mix
    fewest_dispatched: int = 0
    most_dispatched: int = 1 << 62
    fewest_checkpoints: int = 3
    fewest_landed: int = 2

    def rejection(self, shape: Shape) -> str:
        """Why a run does not count; empty: it does."""
        if shape.dispatched < self.fewest_dispatched:
            return "too few events"
        if shape.dispatched > self.most_dispatched:
            return "too many events"
        if shape.checkpoints < self.fewest_checkpoints:
            return "too few checkpoints"
        return "too few landed faults" if shape.landed < self.fewest_landed else ""


_TWO_WIDE = msgspec.structs.replace(SWARM, jobs={"keyed-sum": 1}, parallelism={2: 1}, regional_percent=0)
DEFINITIONS = {
    "swarm": Definition("every plan as a campaign draws it", SWARM, fewest_checkpoints=0, fewest_landed=0),
    "a": Definition("300 to 500 dispatched events", msgspec.structs.replace(_TWO_WIDE, records=(20, 40)), 300, 500),
    "b": Definition("3 stages x parallelism 2, 400 records", msgspec.structs.replace(_TWO_WIDE, records=(400, 400))),
}


def shape_of(run: Run) -> Shape:
    """The shape of a run."""
    return Shape(
        dispatched=run.dispatched,
        checkpoints=sum(type(event) is CheckpointCompleted for event in run.history.events),
        landed=sum(landed is True for landed in run.history.end.faults_landed),
    )
