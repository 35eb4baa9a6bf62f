"""The swarm: the same plan from the same seed, valid and within what a system declares; and how it is shrunk."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec
import pytest

from holdfast.harness.engine.artefacts.json_files import plan_digest, read_plan
from holdfast.harness.engine.exploration.shrink import shrink, try_plan
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.plans.words import FIRST_CHECKPOINT, RESTARTS, attack, window
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import POLICIES, draw_plan
from holdfast.harness.engine.swarm.mix import SWARM, mix_for
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import REGIONAL_JOBS
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.shared.stated_options import texts
from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.attack import Drawn
from holdfast.harness.spi.system import OptionAccount
from holdfast.suites.conformance import plans
from holdfast.suites.selfcheck.engine.scripted import WORKER, Checkpoints, ScriptedOracle, ScriptedSystem, plan, toolbox

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
    for drawn in map(draw_plan, SEEDS):
        if drawn.expected_end is ExpectedEnd.FAILED:
            allowed = next(int(value) for key, value in texts(drawn).items() if "attempts" in key or "max-fail" in key)
            assert sum(spec.kind == "kill" for spec in drawn.faults) == allowed + 1


def test_the_same_seed_is_the_same_plan_in_another_process_with_another_hash_seed() -> None:
    code = (
        "from holdfast.harness.engine.swarm.draw import draw_plan;"
        "from holdfast.harness.engine.artefacts.json_files import plan_digest;"
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


class Holding(ScriptedSystem):
    """Runs jobs of one parallelism. A fault may wait where `holds` says so of a gate and the name of the job."""

    def __init__(self, parallelism: int, holds: Callable[[Gate, str], bool]) -> None:
        super().__init__()
        self.parallelism, self.holds = parallelism, holds
        self.waiting = 0

    def account(self, plan: Plan) -> Sequence[OptionAccount]:
        if plan.topology.parallelism != self.parallelism:
            raise ValueError(f"topology.parallelism is {plan.topology.parallelism}: use {self.parallelism}.")
        return super().account(plan)

    def objection(self, plan: Plan, tier: Tier) -> str:
        gates = [spec.schedule.gate for spec in plan.faults if spec.schedule.gate is not None]
        self.waiting += len(gates)
        return "" if all(self.holds(gate, plan.job.name) for gate in gates) else "no fault can wait there."


@pytest.mark.parametrize(
    ("effect", "role", "job"),
    [("commit", Role.WORKER, "mini-batch"), ("acknowledge", Role.COORDINATOR, "keyed-sum")],
)
def test_faults_wait_at_the_gates_that_a_system_accepts_somewhere(effect: str, role: Role, job: str) -> None:
    system = Holding(2, lambda gate, name: (gate.effect, gate.target.role, name) == (effect, role, job))
    assert mix_for(system).gates == frozenset({effect})


def test_no_fault_waits_at_a_gate_where_a_system_accepts_none() -> None:
    """It is asked only about jobs that it accepts, at the parallelism that it accepts: each gate on either side."""
    system = Holding(2, lambda gate, name: False)
    mix = mix_for(system)
    assert mix.gates == frozenset()
    assert mix.parallelism == {2: SWARM.parallelism[2]}
    assert system.waiting == len(mix.jobs) * len(system.gates) * 2


def test_a_system_without_any_job_is_not_asked_about_gates() -> None:
    system = Holding(0, lambda gate, name: False)
    assert mix_for(system).gates == system.gates
    assert system.waiting == 0


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


def test_streams_are_pinned_so_that_stored_seeds_keep_their_meaning() -> None:
    stream = Stream(7, "network")
    assert [stream.below(1000) for _ in range(5)] == [880, 323, 222, 31, 20]


def test_labels_and_seeds_are_independent() -> None:
    draws = {(seed, label): Stream(seed, label).random() for seed in (1, 2, 12) for label in ("a", "2:a", "b")}
    assert len(set(draws.values())) == len(draws)


def test_a_fork_takes_nothing_from_its_parent() -> None:
    parent, twin = Stream(3, "run"), Stream(3, "run")
    parent.fork("disk").random()
    assert parent.draws == 0
    assert parent.random() == twin.random()
    assert parent.fork("disk").random() == Stream(3, "run/disk").random()


def test_every_method_counts_one_draw_and_stays_in_range() -> None:
    stream = Stream(11, "ranges")
    for _ in range(500):
        assert 0.0 <= stream.random() < 1.0
        assert 0 <= stream.below(3) < 3
        assert 2 <= stream.between(2, 4) <= 4
        assert stream.choice("xyz") in "xyz"
        assert not stream.chance(0.0)
    assert stream.draws == 2500
    assert {stream.between(2, 4) for _ in range(200)} == {2, 3, 4}


def test_weights_are_frequencies() -> None:
    stream = Stream(5, "weights")
    drawn = [stream.weighted({"often": 3, "never": 0, "seldom": 1}) for _ in range(2000)]
    assert drawn.count("never") == 0
    assert 1400 < drawn.count("often") < 1600


def needs_a_late_kill(candidate: Plan) -> bool:
    return any(spec.kind == "kill" and spec.schedule.after_checkpoint >= 2 for spec in candidate.faults) and (
        int(candidate.workload.parameters.get("records", 0)) >= 7
    )


BIG = plan(
    FaultSpec("cut", duration_ms=5, parameters={"delay_ms": 9}),
    FaultSpec("kill", WORKER, Schedule(after_checkpoint=5, after_rows=3, gate=Gate("commit", WORKER, 3))),
    FaultSpec("kill", WORKER, Schedule(at_event="rows_visible")),
    options={"a": "1", "b": "2"},
    workload=WorkloadSpec("tiny", {"records": 100, "skew": "zipf"}),
)


def test_it_leaves_what_reproduces_and_nothing_else() -> None:
    small = shrink(BIG, needs_a_late_kill)
    assert small.faults == (FaultSpec("kill", WORKER, Schedule(after_checkpoint=2)),)
    assert small.options == {}
    assert small.topology.parallelism == 1
    assert small.workload.parameters == {"records": 7, "skew": "zipf"}


def test_it_is_deterministic_and_bounded() -> None:
    tried: list[int] = []
    assert shrink(BIG, needs_a_late_kill) == shrink(BIG, needs_a_late_kill, progress=tried.append)
    assert tried == list(range(1, len(tried) + 1))
    stopped: list[int] = []
    shrink(BIG, needs_a_late_kill, tries=4, progress=stopped.append)
    assert stopped == [1, 2, 3, 4]


def test_a_plan_that_nothing_smaller_reproduces_stays() -> None:
    assert shrink(BIG, lambda candidate: False) == BIG


def test_a_plan_that_cannot_run_is_none_to_look_at() -> None:
    system = ScriptedSystem(Checkpoints())
    tools = toolbox(ScriptedOracle("F", Outcome.FAIL))
    assert try_plan(plan(), system, tools) is not None
    assert try_plan(plan(FaultSpec("kill", WORKER, duration_ms=3)), system, tools) is None


def test_drawn_plans_can_be_shrunk_to_nothing() -> None:
    drawn = draw_plan(11)
    small = shrink(drawn, lambda candidate: True, tries=1_000)
    assert (small.faults, small.options, small.topology.parallelism) == ((), {}, 1)
    assert set(small.workload.parameters.values()) == {0}


def test_a_smaller_plan_that_breaks_the_harness_is_none() -> None:
    """Without its partition the poison is one of nothing; that ended a certification before its report."""
    poison = FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"partition": 1, "offset": 0})
    asked = plans.plan(poison, records={"records": 20, "partitions": 1})
    assert try_plan(asked, registry.system("reference"), registry.toolbox()) is None
