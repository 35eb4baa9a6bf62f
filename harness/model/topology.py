"""The names that a job has once its width is known: subtasks, channels, and the processes that faults aim at.

A subtask is `vertex[index]`, a channel `vertex[index]->vertex[index]`. A network channel can be cut and slowed: its
edge is HASH or REBALANCE. `Target(CHANNEL, i)` is entry i of `network_channels`: edges in the order of the job, then
upstream index, then downstream index.
"""

from __future__ import annotations

from functools import cache

from holdfast.harness.model.job import Edge, Job, Partitioning
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import Role, Target

_ARROW = "->"


def subtask_name(vertex: str, index: int) -> str:
    """Name of one parallel instance of a vertex."""
    return f"{vertex}[{index}]"


def channel_name(sender: str, receiver: str) -> str:
    """Name of the channel between two subtasks."""
    return f"{sender}{_ARROW}{receiver}"


def channel_ends(channel: str) -> tuple[str, str]:
    """Sending and receiving subtask of a channel."""
    sender, _, receiver = channel.partition(_ARROW)
    return sender, receiver


@cache
def subtasks(job: Job, topology: Topology) -> tuple[str, ...]:
    """All subtasks: vertices in the order of the job, then index."""
    return tuple(subtask_name(vertex.name, index) for vertex in job.vertices for index in range(topology.parallelism))


@cache
def all_channels(job: Job, topology: Topology) -> tuple[str, ...]:
    """All channels, forward ones included: edges in the order of the job, then upstream index, then downstream."""
    return tuple(channel for edge in job.edges for channel in _channels_of(edge, topology.parallelism))


@cache
def network_channels(job: Job, topology: Topology) -> tuple[str, ...]:
    """The channels that a fault can hit; the index of a channel target counts in this tuple."""
    return tuple(
        channel
        for edge in job.edges
        if edge.partitioning is not Partitioning.FORWARD
        for channel in _channels_of(edge, topology.parallelism)
    )


@cache
def output_channels(job: Job, topology: Topology, subtask: str) -> tuple[str, ...]:
    """The channels that begin at a subtask, in the order of `all_channels`."""
    return tuple(channel for channel in all_channels(job, topology) if channel_ends(channel)[0] == subtask)


def process_name(target: Target) -> str:
    """The process that a worker or coordinator target is: `worker-1`, `coordinator`. A life of it is a node.

    Raises:
        ValueError: the target is not a process.
    """
    if target.role is Role.COORDINATOR:
        return "coordinator"
    if target.role is Role.WORKER:
        return f"worker-{target.index}"
    raise ValueError(f"target {target} is no process: aim at a worker or the coordinator.")


def node_name(process: str, life: int) -> str:
    """One life of a process, counted from 0: `worker-1.0`."""
    return f"{process}.{life}"


def process_of(node: str) -> str:
    """The process that a node is a life of."""
    return node.rpartition(".")[0]


def _channels_of(edge: Edge, parallelism: int) -> list[str]:
    return [
        channel_name(subtask_name(edge.upstream, sender), subtask_name(edge.downstream, receiver))
        for sender in range(parallelism)
        for receiver in range(parallelism)
        if edge.partitioning is not Partitioning.FORWARD or sender == receiver
    ]
