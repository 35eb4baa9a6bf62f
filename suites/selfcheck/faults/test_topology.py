"""Names of subtasks and channels, and the numbering that faults aim by."""

from __future__ import annotations

import pytest

from holdfast.harness.model.job import Edge, Job, Partitioning, Vertex, VertexKind
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REBALANCE
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import (
    all_channels,
    channel_ends,
    network_channels,
    node_name,
    output_channels,
    process_name,
    process_of,
    subtasks,
)

TWO = Topology(parallelism=2)


def test_subtasks_follow_the_vertices_of_the_job() -> None:
    assert subtasks(KEYED_SUM, TWO) == ("source[0]", "source[1]", "sum[0]", "sum[1]", "sink[0]", "sink[1]")


@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("job", [KEYED_SUM, REBALANCE])
def test_a_network_channel_is_numbered_upstream_first(job: Job, parallelism: int) -> None:
    channels = network_channels(job, Topology(parallelism=parallelism))
    receiver = job.edges[0].downstream
    for upstream in range(parallelism):
        for downstream in range(parallelism):
            index = upstream * parallelism + downstream
            assert channels[index] == f"source[{upstream}]->{receiver}[{downstream}]"
    assert len(channels) == parallelism**2


def test_a_second_exchange_is_numbered_behind_the_first() -> None:
    vertices = (Vertex("a", VertexKind.SOURCE), Vertex("b", VertexKind.MAP), Vertex("c", VertexKind.SINK))
    edges = (Edge("a", "b", Partitioning.REBALANCE), Edge("b", "c", Partitioning.HASH))
    channels = network_channels(Job("twice", vertices, edges, KEYED_SUM.contract), TWO)
    assert channels[3:5] == ("a[1]->b[1]", "b[0]->c[0]")


def test_forward_channels_are_channels_but_not_of_the_network() -> None:
    assert network_channels(FORWARD, TWO) == ()
    assert all_channels(FORWARD, TWO)[:2] == ("source[0]->map[0]", "source[1]->map[1]")
    assert set(all_channels(KEYED_SUM, TWO)) - set(network_channels(KEYED_SUM, TWO)) == {
        "sum[0]->sink[0]",
        "sum[1]->sink[1]",
    }


def test_the_channels_of_a_subtask() -> None:
    assert output_channels(KEYED_SUM, TWO, "sum[1]") == ("sum[1]->sink[1]",)
    assert output_channels(KEYED_SUM, TWO, "sink[0]") == ()
    assert channel_ends("source[0]->sum[1]") == ("source[0]", "sum[1]")


def test_a_node_is_a_life_of_a_process() -> None:
    assert process_name(Target(Role.WORKER, 12)) == "worker-12"
    assert process_name(Target(Role.COORDINATOR)) == "coordinator"
    assert process_of(node_name("worker-12", 3)) == "worker-12"
    with pytest.raises(ValueError, match=r"target channel\[0\] is no process"):
        process_name(Target(Role.CHANNEL))
