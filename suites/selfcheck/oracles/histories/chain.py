"""Histories for CHAIN: the keyed sum, whose sum and sink are one chain unless it is told otherwise."""

from __future__ import annotations

from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, undecided
from holdfast.suites.selfcheck.oracles.lines import (
    Barrier,
    barriers,
    completed,
    delivers,
    finished,
    published,
    sends,
    snapshots,
    stopped,
)

CHAINED = {"pipeline.operator-chaining.enabled": "true"}
INPUTS = ("source[0]->sum[0]", "source[1]->sum[0]")
INSIDE = "sum[0]->sink[0]"


def completes(states: int) -> list[Line]:
    return [published(1, states=states, path="chk-1"), completed()]


bad, near = exhibits("CHAIN")

near(
    "crossed", "barrier called down",
    delivers(INPUTS[0], 0), barriers(*INPUTS, checkpoint=1), snapshots("sink[0]", "sum[0]", checkpoint=1),
    options=CHAINED,
)  # fmt: skip
bad(
    "crossed", "barrier sent down",
    barriers(*INPUTS, checkpoint=1), sends(INSIDE, Barrier(1)), snapshots("sum[0]", "sink[0]", checkpoint=1),
    options=CHAINED,
)  # fmt: skip
bad(
    "crossed", "batch sent down",
    barriers(*INPUTS, checkpoint=1), snapshots("sink[0]", "sum[0]", checkpoint=1), sends(INSIDE, 0), options=CHAINED,
)  # fmt: skip

near(
    "without-barrier", "each its own barrier",
    barriers(*INPUTS, checkpoint=1), snapshots("sum[0]", checkpoint=1), sends(INSIDE, Barrier(1)),
    delivers(INSIDE, Barrier(1)), snapshots("sink[0]", checkpoint=1),
)  # fmt: skip
bad(
    "without-barrier", "called although unchained",
    barriers(*INPUTS, checkpoint=1), snapshots("sink[0]", "sum[0]", checkpoint=1),
)  # fmt: skip
bad(
    "without-barrier", "head without barrier",
    barriers(*INPUTS, checkpoint=1), snapshots("sink[0]", "sum[0]", checkpoint=2), options=CHAINED,
)  # fmt: skip

near(
    "snapshot-apart", "a batch after all snapshots",
    barriers(*INPUTS, checkpoint=1), snapshots("sink[0]", "sum[0]", checkpoint=1), delivers(INPUTS[0], 0),
    options=CHAINED,
)  # fmt: skip
near(
    "snapshot-apart", "an operator that stopped",
    stopped("sink[0]", reason="failed"), barriers(*INPUTS, checkpoint=1), snapshots("sum[0]", checkpoint=1),
    delivers(INPUTS[0], 0), [delivers(f"source[{i}]->sum[1]", Barrier(1)) for i in (0, 1)],
    snapshots("sink[1]", "sum[1]", checkpoint=1), options=CHAINED,
)  # fmt: skip
near(
    "snapshot-apart", "an operator that has ended",
    finished("sum[0]"), *(line for n in (1, 2) for line in snapshots("sink[0]", checkpoint=n)),
    [delivers(f"source[{i}]->sum[1]", Barrier(1)) for i in (0, 1)], snapshots("sink[1]", "sum[1]", checkpoint=1),
    options=CHAINED,
)  # fmt: skip
bad(
    "snapshot-apart", "a batch between two snapshots",
    barriers(*INPUTS, checkpoint=1), snapshots("sum[0]", checkpoint=1), delivers(INPUTS[0], 0),
    snapshots("sink[0]", checkpoint=1), options=CHAINED,
)  # fmt: skip
bad(
    "snapshot-apart", "a snapshot left out",
    barriers(*INPUTS, checkpoint=1), snapshots("sum[0]", checkpoint=1), barriers(*INPUTS, checkpoint=2),
    snapshots("sink[0]", "sum[0]", checkpoint=2), options=CHAINED,
)  # fmt: skip

near(
    "snapshot-twice", "two checkpoints",
    *(line for n in (1, 2) for line in (barriers(*INPUTS, checkpoint=n), snapshots("sink[0]", "sum[0]", checkpoint=n))),
    options=CHAINED,
)  # fmt: skip
bad(
    "snapshot-twice", "the same checkpoint again",
    barriers(*INPUTS, checkpoint=1), snapshots("sink[0]", "sum[0]", checkpoint=1),
    snapshots("sink[0]", "sum[0]", checkpoint=1), options=CHAINED,
)  # fmt: skip


# Whoever sees tasks alone sees one snapshot for each, and counts no states.
undecided(
    "CHAIN", "seen as tasks",
    *(line for n in (1, 2) for line in (barriers(*INPUTS, checkpoint=n), snapshots("sum[0]", checkpoint=n))),
    completes(0), options=CHAINED,
)  # fmt: skip


bad(
    "operator-missing", "heads alone take snapshots",
    barriers(*INPUTS, checkpoint=1), snapshots("sum[0]", checkpoint=1), completes(4), options=CHAINED,
)  # fmt: skip
bad(
    "operator-missing", "none stored beside all",
    completes(6), published(2, path="chk-2"), completed(2), options=CHAINED,
)  # fmt: skip
near("operator-missing", "every operator stored", completes(6), options=CHAINED)
bad("operator-missing", "only heads stored", completes(4), options=CHAINED)
