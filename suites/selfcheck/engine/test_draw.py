"""The swarm: the same plan from the same seed, valid by construction, and restricted to what a system declares."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import msgspec
import pytest

from holdfast.harness.engine.artefacts.plan_file import read_plan
from holdfast.harness.engine.plans.digest import plan_digest
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.plans.words import FIRST_CHECKPOINT, RESTARTS, attack, window
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.engine.swarm.end import POLICIES
from holdfast.harness.engine.swarm.mix import SWARM, mix_for
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import REGIONAL_JOBS
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.oracles.shared.stated_options import texts
from holdfast.harness.spi.attack import Drawn
from holdfast.suites.selfcheck.engine.scripted import ScriptedSystem

SEEDS = range(1, 401)
FAULTS = registry.toolbox().faults
OF_MICRO_BATCHES = {"damage", "replay", "upgrade"}
OF_ENGINES = {"leave"}
"""Drawn where workers share their work."""
OF_USERS = {"cancel", "suspend", "submit"}


def test_every_drawn_plan_is_valid_for_the_system_that_it_is_drawn_for() -> None:
    system, tools = registry.system("reference"), registry.toolbox()
    mix = mix_for(system)
    for seed in SEEDS:
        plan = draw_plan(seed, mix)
        check_plan(plan, system, Tier.SIM, tools)
        check_options(plan, system)
        tools.workloads[plan.workload.name].generate(plan.workload.parameters, plan.run_seed)
        assert plan.draw_seed == seed
        assert read_plan(msgspec.json.encode(plan), "stored") == plan


def test_the_distribution_is_what_certify_promises() -> None:
    plans = [draw_plan(seed) for seed in SEEDS]
    attacks = Counter(attack(spec).split(" ")[0] for plan in plans for spec in plan.faults)
    assert all(plan.topology.parallelism >= 2 for plan in plans)
    assert sum(len(plan.faults) >= 2 for plan in plans) >= 0.75 * len(plans)
    drawn = {kind for kind, fault in FAULTS.items() if isinstance(fault, Drawn)}
    assert set(attacks) == OF_USERS | drawn - OF_MICRO_BATCHES - OF_ENGINES
    assert min(times for name, times in attacks.items() if name not in OF_USERS) >= 0.05 * len(plans)
    assert {plan.expected_end for plan in plans} == {*ExpectedEnd} - {
        ExpectedEnd.REFUSED, ExpectedEnd.ACCEPTED, ExpectedEnd.UNAVAILABLE
    }  # fmt: skip
    assert {texts(plan).get(profile.RETENTION) for plan in plans} == {None, *POLICIES}
    assert any(spec.schedule.gate for plan in plans for spec in plan.faults)
    assert len({plan_digest(plan) for plan in plans}) == len(plans)


def test_some_plans_have_no_fault_and_some_have_one() -> None:
    """What holds with several may not hold without any: over jobs, widths, and where and how sources begin."""
    plans = [draw_plan(seed) for seed in range(1, 3 * len(SEEDS))]
    for few, share in ((0, 0.05), (1, 0.07)):
        those = [plan for plan in plans if len(plan.faults) == few]
        assert len(those) >= share * len(plans)
        assert {plan.job.bounded for plan in those} == {True, False}
        assert {texts(plan).get(profile.STARTUP) for plan in those} == {None, "latest-offset"}
        assert {texts(plan).get(profile.SPLIT_ASSIGNMENT) for plan in those} == {None, "enumerator"}
        assert {texts(plan).get(profile.MODE) for plan in those} >= {"EXACTLY_ONCE", "AT_LEAST_ONCE"}
        assert len({plan.job.name for plan in those}) > 12
        assert all(plan.expected_end is not ExpectedEnd.FAILED for plan in those)
    kinds = {plan.faults[0].kind for plan in plans if len(plan.faults) == 1}
    assert len(kinds) > 10
    assert kinds >= {"cancel", "suspend"}


def test_restarts_and_single_regions_are_struck() -> None:
    plans = [draw_plan(seed) for seed in SEEDS]
    struck = Counter(window(spec) for plan in plans for spec in plan.faults)
    assert min(struck[name] for name in (*RESTARTS.values(), FIRST_CHECKPOINT)) >= 0.01 * len(plans)
    assert any("before cancelled" in name for name in struck)
    regional = [
        plan for plan in plans if plan.job.name in REGIONAL_JOBS and texts(plan).get(profile.FAILOVER) == "region"
    ]
    again = [plan for plan in regional if any(spec.schedule.at_event in RESTARTS for spec in plan.faults)]
    victims = [{spec.target for spec in plan.faults[-2:]} for plan in again if plan.job.name == "forward"]
    assert {len(each) for each in victims} == {1, 2}, "the same region again, and another one"
    assert any(plan.job.name == "two-pipelines" for plan in again)


def test_no_edge_leaves_out_what_a_fault_strikes() -> None:
    mix = msgspec.structs.replace(mix_for(registry.system("reference")), edge_percent=100)
    thresholds = {True: set[str](), False: set[str]()}
    for seed in SEEDS:
        plan = draw_plan(seed, mix)
        gates = {spec.schedule.gate.effect for spec in plan.faults if spec.schedule.gate is not None}
        struck = gates | {spec.parameters.get("operation") for spec in plan.faults}
        if threshold := texts(plan).get(profile.INLINE_THRESHOLD):
            thresholds[not struck.isdisjoint({"write-state", "read-state"})].add(threshold)
        assert "delete" not in struck or texts(plan).get(profile.RETAINED) == "1"
    assert thresholds[True] == {"0 b"}
    assert "1 mb" in thresholds[False]


def test_no_restart_is_struck_where_no_worker_can_be_killed() -> None:
    mix = mix_for(registry.system("reference"))
    calm = msgspec.structs.replace(
        mix,
        attacks={"pause-worker": 1, "struck-restart": 100, "struck-region": 100},
        able=mix.able - {Capability.KILL_WORKER},
        regional_percent=50,
        user_end_percent=0,
        boundary_percent=0,
    )
    drawn = {spec.kind for seed in range(1, 50) for spec in draw_plan(seed, calm).faults}
    assert drawn == {"pause"}


def test_a_plan_that_must_fail_ends_with_the_kill_that_its_policy_does_not_allow() -> None:
    for plan in map(draw_plan, SEEDS):
        if plan.expected_end is ExpectedEnd.FAILED:
            allowed = next(int(value) for key, value in texts(plan).items() if "attempts" in key or "max-fail" in key)
            assert sum(spec.kind == "kill" for spec in plan.faults) == allowed + 1


def test_the_same_seed_is_the_same_plan_in_another_process_with_another_hash_seed() -> None:
    code = (
        "from holdfast.harness.engine.swarm.draw import draw_plan;"
        "from holdfast.harness.engine.plans.digest import plan_digest;"
        "print(plan_digest(draw_plan(17)))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert said == [plan_digest(draw_plan(17))] * 2


@pytest.mark.parametrize("kept", [Capability.KILL_WORKER, Capability.CUT_CHANNEL])
def test_nothing_is_drawn_that_a_system_does_not_declare(kept: Capability) -> None:
    class Narrow(ScriptedSystem):
        capabilities: Mapping[Tier, frozenset[str]] = MappingProxyType({Tier.SIM: frozenset({kept})})

    mix = mix_for(Narrow())
    plans = [draw_plan(seed, mix) for seed in range(1, 100)]
    assert {FAULTS[spec.kind].needs(spec) for plan in plans for spec in plan.faults} == {kept}
    assert all(plan.options == {} and plan.system == "scripted" for plan in plans)
    assert not any(spec.schedule.gate or spec.schedule.after_checkpoint for plan in plans for spec in plan.faults)


def test_a_mix_is_data() -> None:
    only_cuts = msgspec.structs.replace(
        SWARM,
        attacks={"cut": 1},
        boundary_percent=0,
        user_end_percent=0,
        regional_percent=0,
        jobs={"keyed-sum": 1},
    )
    drawn = {spec.kind for seed in range(1, 50) for spec in draw_plan(seed, only_cuts).faults}
    assert drawn == {"cut"}
