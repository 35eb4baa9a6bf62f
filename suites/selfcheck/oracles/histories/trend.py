"""Histories for TREND: many checkpoints, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.history import History
from holdfast.harness.oracles.coordinator.trend import FEWEST
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story

bad, near = exhibits("TREND")
MANY = FEWEST + 60
LATE = FailureReason.EXPIRED
UNCHAINED = {"pipeline.operator-chaining.enabled": "false"}


def checkpoint(
    number: int,
    ack_ms: float = 5,
    publish_ms: float = 5,
    *,
    ends: bool = True,
    versions: int | None = None,
    files: int = 0,
) -> list[Line]:
    """One of a single participant.

    Args:
        number: its id.
        ack_ms, publish_ms: until its ack comes, and from then on until it completes.
        ends: it completes; else it is aborted.
        versions, files: how many it leaves behind; None: it has no snapshots.
    """
    written = events.FileReference(f"chk-{number}/a", 1, 1)
    gone: list[Line] = [] if files else [events.FileDeleted(path=written.path)]
    completed, aborted = (
        events.CheckpointCompleted(checkpoint=number),
        events.CheckpointAborted(checkpoint=number, reason=LATE),
    )
    ended: Line = completed if ends else aborted
    taken = events.SnapshotTaken(subtask="sum[0]", checkpoint=number, state=events.StateSummary())
    release = events.SnapshotReleased(subtask="sum[0]", checkpoint=number, kept_entries=0, open_versions=0)
    snapshot: list[Line] = [] if versions is None else [taken, *([] if versions else [release])]
    return [
        events.CheckpointTriggered(checkpoint=number, participants=("sum[0]",)),
        events.FileWritten(file=written),
        *snapshot,
        ack_ms,
        events.AckReceived(checkpoint=number, subtask="sum[0]", outcome=events.AckOutcome.SUCCESS),
        publish_ms,
        ended,
        *gone,
    ]


def run(one: Callable[[int], list[Line]], count: int = MANY) -> History:
    lines = [line for number in range(1, count + 1) for line in one(number)]
    return story(events.AttemptStarted(), *lines, options=UNCHAINED, claimed=frozenset())


@bad("acks-slow-down")
def each_ack_comes_later() -> History:
    return run(lambda number: checkpoint(number, ack_ms=5 + number / 10, publish_ms=100 - number / 10))


@near("acks-slow-down")
def acks_come_as_they_did() -> History:
    return run(lambda number: checkpoint(number, ack_ms=5 + number % 7))


@bad("duration-grows")
def each_takes_longer() -> History:
    return run(lambda number: checkpoint(number, publish_ms=5 + number / 30))


@near("duration-grows")
def one_takes_very_long() -> History:
    return run(lambda number: checkpoint(number, publish_ms=5_000 if number > MANY - 3 else 5))


@near("duration-grows")
def it_grows_by_less_than_is_worth_a_word() -> History:
    return run(lambda number: checkpoint(number, publish_ms=100 + number / 100))


@bad("files-grow")
def a_file_of_each_stays() -> History:
    return run(lambda number: checkpoint(number, files=1))


@near("files-grow")
def files_go() -> History:
    return run(checkpoint)


@bad("versions-grow")
def a_version_of_some_stays() -> History:
    return run(lambda number: checkpoint(number, versions=int(number % 5 == 0)))


@near("versions-grow")
def versions_go() -> History:
    return run(lambda number: checkpoint(number, versions=0))


def few() -> History:
    """Too few to say anything."""
    return run(lambda number: checkpoint(number, publish_ms=number), FEWEST - 1)


def until_one_fails() -> History:
    """What comes behind the first checkpoint that fails is not looked at."""
    return run(lambda number: checkpoint(number, publish_ms=number, ends=number != FEWEST))
