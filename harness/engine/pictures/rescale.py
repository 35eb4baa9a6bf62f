"""A rescale by key groups: who owned each of them before, who owns it now, and which keys went along."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.job import STATEFUL
from holdfast.harness.model.picture import KeyGroupOwner, RescalePicture
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.submitted_jobs import topologies


def rescale_picture(history: History) -> RescalePicture | None:
    """Of the first keyed operator, at the first submission that changes its parallelism."""
    jobs = topologies(history.plan)
    submitted = history.of(events.JobSubmitted)
    vertex = next((each.name for each in history.plan.job.of_kind(*STATEFUL)), "")
    for number in range(1, min(len(jobs), len(submitted))):
        former, now, submission = jobs[number - 1], jobs[number], submitted[number]
        if former.parallelism == now.parallelism or submission.checkpoint is None or not vertex:
            continue
        taken = {
            each.subtask: each
            for each in history.of(events.SnapshotTaken)
            if each.checkpoint == submission.checkpoint and each.attempt <= submission.attempt
        }
        started = {
            each.subtask: each
            for each in reversed(history.of(events.TaskStarted))
            if each.restored_checkpoint == submission.checkpoint and each.attempt > submission.attempt
        }
        if not taken or not started:
            continue
        return RescalePicture(
            "rescale",
            f"{vertex} restores checkpoint {submission.checkpoint} at parallelism {now.parallelism}, "
            f"taken at {former.parallelism}",
            now.max_parallelism,
            submission.checkpoint,
            _owners(vertex, former, taken.values()),
            _owners(vertex, now, started.values()),
        )
    return None


def _owners(
    vertex: str, topology: Topology, told: Iterable[events.SnapshotTaken | events.TaskStarted]
) -> tuple[KeyGroupOwner, ...]:
    keys = {each.subtask: tuple(sorted(each.state.entries or ())) for each in told if each.state is not None}
    groups, width = topology.max_parallelism, topology.parallelism
    edges = [-(-index * groups // width) for index in range(width + 1)]
    return tuple(
        KeyGroupOwner(f"{vertex}[{index}]", edges[index], edges[index + 1], keys.get(f"{vertex}[{index}]", ()))
        for index in range(width)
    )
