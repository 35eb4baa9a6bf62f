"""Histories for COORD: what an attempt begins from."""

from __future__ import annotations

from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import exhibits
from holdfast.suites.selfcheck.oracles.histories.coordinator_lines import ALL, whole
from holdfast.suites.selfcheck.oracles.lines import aborted, acked, attempt, died, failure, published, task, triggered

bad, near = exhibits("COORD", attempt(), job=FORWARD, parallelism=1)

bad("restored-not-latest", "restores older", whole(1), whole(2), failure(), attempt(1))
bad("restored-not-latest", "restores nothing", whole(1), failure(), attempt())
bad("restored-not-latest", "restores what never was", whole(1), failure(), attempt(2))
bad(
    "restored-not-latest", "goes back behind a restored one",
    whole(1), triggered(2, *ALL), acked(2, *ALL), published(2), died("coordinator", "killed"), attempt(2), failure(),
    attempt(1),
)  # fmt: skip
near(
    "restored-not-latest", "restores latest",
    whole(1), triggered(2, *ALL), aborted(2, "task failure"), failure(), attempt(1),
)  # fmt: skip
near(
    "restored-not-latest", "restores published but not completed",
    whole(1), triggered(2, *ALL), acked(2, *ALL), published(2), died("coordinator", "killed"), attempt(2),
)  # fmt: skip


bad(
    "tasks-restored-differently", "task restores nothing",
    whole(1), failure(), attempt(1), [task(name, each) for name, each in zip(ALL, (1, None, 1), strict=True)],
)  # fmt: skip
near(
    "tasks-restored-differently", "tasks restore the same",
    whole(1), failure(), attempt(1), [task(name, each) for name, each in zip(ALL, (1, 1, 1), strict=True)],
)  # fmt: skip

bad("started-late-attempt", "attempt number drawn again", failure(), attempt(number=1))
near("started-late-attempt", "attempt number left out", failure(), attempt(number=3))
