"""Faults that act at a time, on the simulator: each is healed on its own."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.harness.engine import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls import Controls
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.faults.scene import BY_KIND

STORAGE, CHANNEL = Target(Role.STORAGE), Target(Role.CHANNEL, 2)
FAILS = FaultSpec("storage-error", STORAGE, parameters={"operation": "commit", "occurrences": 0})
LATE = FaultSpec("slow-storage", STORAGE, parameters={"operation": "commit"})
FAILS_ELSEWHERE = replace(FAILS, parameters={"operation": "delete", "occurrences": 0})
CUT, SLOW = FaultSpec("cut", CHANNEL), FaultSpec("slow", CHANNEL)


@pytest.fixture
def controls() -> Controls:
    """Those of a run that has not begun."""
    system, tools, calm = registry.system("reference"), registry.toolbox(), plan()
    inputs = tools.workloads[calm.workload.name].generate(calm.workload.parameters, calm.run_seed)
    return system.deploy(calm, inputs, Tier.SIM, None).controls


@pytest.mark.parametrize(
    ("first", "second"), [(FAILS, LATE), (LATE, FAILS), (FAILS, FAILS_ELSEWHERE), (CUT, SLOW), (SLOW, CUT)]
)
def test_one_is_healed_and_the_other_goes_on(controls: Controls, first: FaultSpec, second: FaultSpec) -> None:
    for spec in (first, second):
        BY_KIND[spec.kind].inject(controls, spec)
        assert not BY_KIND[spec.kind].healed(controls, spec)
    BY_KIND[first.kind].undo(controls, first)
    assert BY_KIND[first.kind].healed(controls, first)
    assert not BY_KIND[second.kind].healed(controls, second)
    BY_KIND[second.kind].undo(controls, second)
    assert BY_KIND[second.kind].healed(controls, second)
    assert controls.whole(first.target)
