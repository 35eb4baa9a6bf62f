"""Histories for FENCE: a coordinator stands still, another takes over, and the first comes back."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, on
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import (
    attempt,
    claimed,
    completed,
    deleted,
    died,
    dropped,
    heard,
    published,
    told,
    trigger_received,
    triggered,
    written,
)

FORMER, SUCCESSOR = "coordinator.0", "coordinator.1"
METADATA = events.FileReference("chk-1/_metadata", 10, 1)


def superseded(*lines: Line, found: tuple[int, ...] = (), learns: bool = True) -> list[Line]:
    """Both coordinators live; the successor found these checkpoints; then the former says the lines."""
    said = [at(SUCCESSOR, published(checkpoint, states=len(SUBTASKS), path="")) for checkpoint in found]
    learned = [at(FORMER, events.CoordinatorSuperseded(epoch=1))] if learns else []
    first, second = (claimed(), claimed(2))
    pending = triggered(1, *SUBTASKS)
    until = (at(FORMER, first), attempt(), pending, at(SUCCESSOR, second))
    return [*until, *said, *lines, *learned]


bad, near = exhibits("FENCE", claimed=frozenset())

bad("epoch-not-higher", "claims what is claimed", claimed(), died(), claimed(), died())
near("epoch-not-higher", "claims the next", claimed(), died(), claimed(2), died())
near(
    "epoch-not-higher", "another job begins anew",
    claimed(), died(), claimed(2), died(), claimed(first_attempt=1_000_000), died(),
)  # fmt: skip

bad("superseded-acted", "superseded publishes", superseded(written(METADATA, by=FORMER), learns=False), options={})
bad(
    "superseded-acted", "superseded triggers",
    superseded(at(FORMER, triggered(2, *SUBTASKS)), at("worker-0.0", trigger_received("source[0]", 2))), options={},
)  # fmt: skip
near(
    "superseded-acted", "nobody hears what superseded triggers",
    superseded(at(FORMER, triggered(2, *SUBTASKS))), options={},
)  # fmt: skip
near("superseded-acted", "superseded is refused", superseded(), options={})

bad("superseded-completed", "superseded completes", superseded(at(FORMER, completed())), options={})
near(
    "superseded-completed", "superseded learns what its successor found",
    superseded(at(FORMER, completed()), found=(1,)), options={},
)  # fmt: skip


bad(
    "superseded-deleted",
    "superseded deletes what was found",
    superseded(
        at(SUCCESSOR, published(1, METADATA, states=len(SUBTASKS), path=METADATA.path)),
        deleted(METADATA, by=FORMER),
        found=(),
        learns=True,
    ),
    options={},
)
near(
    "superseded-deleted",
    "superseded deletes what its successor dropped",
    superseded(
        at(SUCCESSOR, published(1, METADATA, states=len(SUBTASKS), path=METADATA.path)),
        at(SUCCESSOR, dropped(1)),
        deleted(METADATA, by=FORMER),
        found=(),
        learns=True,
    ),
    options={},
)
near(
    "superseded-deleted", "superseded deletes what nobody found",
    superseded(at(FORMER, events.FileDeleted(path="chk-1/sum-0"))), options={},
)  # fmt: skip


bad(
    "superseded-notified", "task hears of it",
    superseded(on(FORMER, told(1, "sink[0]", completed=True), attempt=1), heard("sink[0]", completed=True)), options={},
)  # fmt: skip
bad(
    "superseded-notified",
    "task hears that what the successor found is aborted",
    superseded(
        on(FORMER, told(1, "sink[0]", completed=False), attempt=1), heard("sink[0]", completed=False), found=(1,)
    ),
    options={},
)
near(
    "superseded-notified", "task hears that what nobody found is aborted",
    superseded(on(FORMER, told(1, "sink[0]", completed=False), attempt=1), heard("sink[0]", completed=False)),
    options={},
)  # fmt: skip
near(
    "superseded-notified", "nobody hears it",
    superseded(on(FORMER, told(1, "sink[0]", completed=True), attempt=1)), options={},
)  # fmt: skip
