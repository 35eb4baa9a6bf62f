"""A fault is handed the mechanism that it names; a deployment offers the mechanisms of what its system declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from holdfast.fixtures.reference.drivers.processes.controls import Pages, process_controls, stage_controls
from holdfast.fixtures.reference.drivers.processes.controls.reach import Reach
from holdfast.fixtures.services.service_controls import offer_services
from holdfast.fixtures.systems.json_lines.deployment import program_controls
from holdfast.fixtures.systems.structured_streaming.controls import streaming_controls
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Target
from holdfast.harness.spi.controls import Acting, Controls
from holdfast.harness.spi.controls.gate import GateControl
from holdfast.harness.spi.controls.link import LinkImpairment
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.faults.scene import BY_KIND

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
