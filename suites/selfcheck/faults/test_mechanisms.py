"""A fault names its mechanism and target, an adapter offers that, and nobody else knows the kind of a fault."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_type_hints

import pytest

from holdfast.fixtures.reference.drivers.processes.fault_controls import Pages, Reach, process_controls, stage_controls
from holdfast.fixtures.services.service_controls import offer_services
from holdfast.fixtures.systems.json_lines.deployment import program_controls
from holdfast.fixtures.systems.structured_streaming.controls import streaming_controls
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.job import Edge, Job, Partitioning, Vertex, VertexKind
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REBALANCE
from holdfast.harness.model.plan import FaultSpec, Schedule, Topology
from holdfast.harness.model.target import COORDINATOR, Role, Target
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
from holdfast.harness.spi.controls import Acting, Controls
from holdfast.harness.spi.controls.job import GateControl
from holdfast.harness.spi.controls.network import LinkImpairment
from holdfast.harness.spi.fault import command_of, needs_of
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.faults.scene import BY_KIND
from holdfast.suites.selfcheck.source_files import files_with

PLAN = plan()


class _Anything:
    """Has whatever a mechanism asks for when it is made."""

    acting = Acting()

    def __getattr__(self, name: str) -> Any:
        return self


NOTHING: Any = _Anything()


def _simulated() -> Controls:
    inputs = registry.toolbox().workloads[PLAN.workload.name].generate(PLAN.workload.parameters, PLAN.run_seed)
    return registry.system("reference").deploy(PLAN, inputs, Tier.SIM, None).controls


def _of_processes() -> Controls:
    reach = Reach(NOTHING, PLAN.job, PLAN.topology, 2)
    controls = process_controls(reach, Pages(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING), NOTHING, NOTHING, NOTHING)
    offer_services(controls, NOTHING, NOTHING)
    return controls


def _of_a_stage() -> Controls:
    reach = Reach(NOTHING, PLAN.job, PLAN.topology, 2)
    return stage_controls(reach, Pages(NOTHING, NOTHING, NOTHING, NOTHING), NOTHING)


def test_every_fault_is_given_the_mechanism_that_it_names() -> None:
    for fault in BY_KIND.values():
        assert get_type_hints(type(fault).inject)["control"] is fault.control, fault.kind


@pytest.mark.parametrize(
    ("system", "tier", "controls"),
    [
        ("reference", Tier.SIM, _simulated),
        ("reference", Tier.PROCESS, _of_processes),
        ("reference", Tier.SPARK, _of_a_stage),
        ("acknowledges-first", Tier.PROCESS, lambda: program_controls(NOTHING, NOTHING, frozenset(), Acting())),
        ("spark", Tier.SPARK, lambda: streaming_controls(NOTHING, NOTHING, None, NOTHING, NOTHING, Acting())),
        ("spark", Tier.CONTAINERS, lambda: streaming_controls(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, Acting())),
    ],
)
def test_a_deployment_offers_the_mechanism_of_every_fault_that_its_system_declares(
    system: str, tier: Tier, controls: Callable[[], Controls]
) -> None:
    able, offered = registry.system(system).capabilities[tier], controls()
    asked = {
        fault.kind: fault.control
        for fault in BY_KIND.values()
        if {fault.needs(FaultSpec(fault.kind, Target(role))) for role in fault.roles} & able
    }
    assert asked
    assert {kind for kind, mechanism in asked.items() if mechanism not in offered} == set()


def test_what_is_not_offered_is_named() -> None:
    controls = program_controls(NOTHING, NOTHING, frozenset(), Acting())
    assert GateControl in controls
    with pytest.raises(NotImplementedError, match="This deployment offers no LinkImpairment, which a fault needs"):
        _ = controls[LinkImpairment]


KINDS = frozenset(registry.toolbox().faults)


def spelled(source: str) -> Iterator[tuple[int, str]]:
    """Where something of which a `kind` is asked is compared with the kind of a fault: line and kind."""
    tree, constants = ast.parse(source), dict[str, set[str]]()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            pairs: Iterable[tuple[ast.expr, ast.expr]] = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = zip(target.elts, value.elts, strict=True)
            constants |= {ast.unparse(each): set(_texts(part, constants)) for each, part in pairs}
    for each in ast.walk(tree):
        if isinstance(each, ast.Compare):
            sides = (each.left, *each.comparators)
            if any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides):
                yield from ((each.lineno, text) for side in sides for text in _texts(side, constants) if text in KINDS)


def _texts(node: ast.AST, constants: Mapping[str, set[str]]) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
        elif isinstance(each, ast.Name):
            yield from constants.get(each.id, ())


@pytest.mark.parametrize(
    "source",
    ["fault.kind == 'kill'", "A, B = 'cut', 'x'\nfault.kind in (B, A)", "K = frozenset({'kill'})\neach.kind not in K"],
)
def test_a_kind_that_is_spelled_is_noticed(source: str) -> None:
    assert len(list(spelled(source))) == 1


def test_no_adapter_spells_the_kind_of_a_fault() -> None:
    found = files_with(lambda text: [*spelled(text)], "fixtures", "harness/adapter", but_for=("fixtures/mutants/",))
    assert found == set()


@pytest.mark.parametrize(
    ("spec", "needed", "command"),
    [
        (FaultSpec("kill", COORDINATOR), Capability.KILL_COORDINATOR, ""),
        (FaultSpec("outage", Target(Role.STORAGE)), Capability.STOP_STORAGE, ""),
        (FaultSpec("suspend", COORDINATOR, Schedule()), Capability.JOB_CONTROL, "suspend"),
        (FaultSpec("no-such-fault", COORDINATOR), "", ""),
    ],
)
def test_what_a_fault_needs_and_commands_is_known_by_its_entry_point(
    spec: FaultSpec, needed: str, command: str
) -> None:
    assert (needs_of(spec), command_of(spec)) == (needed, command)


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
