"""Histories for FEEDBACK: six records of one partition, two to a batch, in a job with a loop; a crash after the first
checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model.capability import AT_MOST_ONCE
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.lossy_jobs import ITERATION
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.lines import attempt, completed, delivers, emitted, sends, snapshot
from holdfast.suites.selfcheck.oracles.output_builder import STOPPED, identities, marked, units

IN, LOOP = "source[0]->loop[0]", "loop[0]->loop[0]"
ROWS = [f"0:{offset}" for offset in range(7)]


def enters(number: int, position: int) -> list[Line]:
    """A batch of two is read, taken by the loop, and sent round."""
    return [
        emitted(2 * number, 2 * number + 2),
        sends(IN, position, records=2),
        delivers(IN, position, records=2),
        sends(LOOP, position, records=2),
    ]


def crashed(*shown: str, before: Sequence[Line], checkpoint: int = 1, end: RunEnd | None = None) -> History:
    """What happens before the checkpoint; then a crash, and what is left is read again. A marker is the last record."""
    return story(
        attempt(),
        before,
        snapshot("loop[0]"),
        completed(),
        attempt(checkpoint or None),
        enters(2, 0),
        delivers(LOOP, 0, records=2),
        job=ITERATION,
        parallelism=1,
        inputs=marked(input_log(6)),
        units=units(identities(*shown)),
        claimed=AT_MOST_ONCE,
        end=end,
    )


TWO = [*enters(0, 0), *enters(1, 1)]

bad, near = exhibits(
    "FEEDBACK", attempt(), *TWO, delivers(LOOP, 0, records=2),
    claimed=AT_MOST_ONCE, inputs=marked(input_log(6)), job=ITERATION, parallelism=1,
    units=units(identities(*ROWS[:5], *ROWS[6:])),
)  # fmt: skip

bad(
    "lost-outside-loop", "one that was read again",
    delivers(LOOP, 1, records=2), snapshot("loop[0]"), completed(), attempt(1), enters(2, 0),
    delivers(LOOP, 0, records=2),
)  # fmt: skip

# The system under test does not report its end, and never will.
bad(
    "lost-outside-loop", "one before a visible marker",
    delivers(LOOP, 1, records=2), snapshot("loop[0]"), completed(), attempt(1), enters(2, 0),
    delivers(LOOP, 0, records=2), end=STOPPED,
)  # fmt: skip
bad(
    "lost-outside-loop", "one that had come back",
    snapshot("loop[0]"), completed(), attempt(1), enters(2, 0), delivers(LOOP, 0, records=2),
    units=units(identities(*ROWS[1:2], *ROWS[4:])),
)  # fmt: skip
bad(
    "lost-outside-loop", "the checkpoint is not the one that was restored",
    snapshot("loop[0]"), completed(), attempt(7), enters(2, 0), delivers(LOOP, 0, records=2),
    units=units(identities(*ROWS[:2], *ROWS[4:])),
)  # fmt: skip
near(
    "lost-outside-loop", "what was in the loop",
    snapshot("loop[0]"), completed(), attempt(1), enters(2, 0), delivers(LOOP, 0, records=2),
    units=units(identities(*ROWS[:2], *ROWS[4:])),
)  # fmt: skip
near(
    "lost-outside-loop", "nothing is lost",
    delivers(LOOP, 1, records=2), snapshot("loop[0]"), completed(), attempt(1), enters(2, 0),
    delivers(LOOP, 0, records=2), units=units(identities(*ROWS)),
)  # fmt: skip
