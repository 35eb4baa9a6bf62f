"""The picture of a rescale: who owns which key group before and after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.job import STATEFUL
from holdfast.harness.model.picture import KeyGroupOwner, RescalePicture
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.submitted_jobs import topologies


class _Change(NamedTuple):
    """A change of parallelism: from which to which, by which checkpoint, and the last attempt at the former one."""

    former: Topology
    now: Topology
    checkpoint: int
    last_attempt: int


def rescale_picture(history: History) -> RescalePicture | None:
    """Of the first keyed operator, at the first change of its parallelism: by another job, or of the running one."""
    vertex = next((each.name for each in history.plan.job.of_kind(*STATEFUL)), "")
    for former, now, checkpoint, last_attempt in (*_submitted(history), *_in_place(history)) if vertex else ():
        taken = {
            each.subtask: each
            for each in history.of(events.SnapshotTaken)
            if each.checkpoint == checkpoint and each.attempt <= last_attempt
        }
        started = {
            each.subtask: each
            for each in reversed(history.of(events.TaskStarted))
            if each.restored_checkpoint == checkpoint and each.attempt > last_attempt
        }
        if not taken or not started:
            continue
        return RescalePicture(
            "rescale",
            f"{vertex} restores checkpoint {checkpoint} at parallelism {now.parallelism}, "
            f"taken at {former.parallelism}",
            now.max_parallelism,
            checkpoint,
            _owners(vertex, former, taken.values()),
            _owners(vertex, now, started.values()),
        )
    return None


def _submitted(history: History) -> Iterator[_Change]:
    """By jobs that are submitted one after the other."""
    submitted = history.of(events.JobSubmitted)
    for (former, now), submission in zip(pairwise(topologies(history.plan)), submitted[1:], strict=False):
        if former.parallelism != now.parallelism and submission.checkpoint is not None:
            yield _Change(former, now, submission.checkpoint, submission.attempt)


def _in_place(history: History) -> Iterator[_Change]:
    """Of the first job while it runs."""
    topology = history.plan.topology
    for attempt in history.of(events.AttemptStarted):
        now = replace(topology, parallelism=attempt.parallelism or topology.parallelism)
        if now != topology and attempt.restored_checkpoint is not None:
            yield _Change(topology, now, attempt.restored_checkpoint, attempt.attempt - 1)
        topology = now


def _owners(
    vertex: str, topology: Topology, recorded: Iterable[events.SnapshotTaken | events.TaskStarted]
) -> tuple[KeyGroupOwner, ...]:
    keys = {each.subtask: tuple(sorted(each.state.entries or ())) for each in recorded if each.state is not None}
    groups, width = topology.max_parallelism, topology.parallelism
    edges = [-(-index * groups // width) for index in range(width + 1)]
    return tuple(
        KeyGroupOwner(f"{vertex}[{index}]", edges[index], edges[index + 1], keys.get(f"{vertex}[{index}]", ()))
        for index in range(width)
    )
