"""Plans that are drawn for a pipeline: its contract, its options, and nothing that a fault would wait for in vain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.systems.structured_streaming import additions
from holdfast.harness.engine.cases.swarm_case import REAL, cases_for, swarm_case
from holdfast.harness.engine.errors import NotApplicable
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.site import registry, services
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.engine.swarm.mix import mix_for
from holdfast.harness.model.capability import Capability, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.job import Contract
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.controls.job import UPGRADES
from holdfast.harness.spi.service import Site
from holdfast.harness.spi.system import SuitsPlans, System
from holdfast.suites.selfcheck.structured_streaming import own, pipelines

SEEDS = range(1, 61)
BUILD = "def build(spark, endpoints): pass\n"
NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
ON_BOTH = (Tier.SPARK, Tier.CONTAINERS)
OF_TABLES = {
    "added_totals", "inserted_rows", "postgres_inserted", "postgres_upserted", "upserted_rows", "upserted_totals",
}  # fmt: skip
OF_TOPICS = {"published", "published_under_a_claim", "transactions", "transactions_without_batch"}
MODULES = sorted(
    f"{package.__name__}.{path.stem}"
    for package in (own, pipelines)
    for path in Path(package.__path__[0]).glob("*.py")
    if path.stem != "__init__" and not path.stem.startswith(("delta_", "iceberg_"))
)
"""Without those whose table format needs jars that belong to one release of PySpark."""


@pytest.fixture(autouse=True)
def no_cluster_is_given(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What an earlier test said of its site would count here, too: no fault acts on clusters of somebody else. Nor does
    it matter whether this machine has a database: plans are drawn, and none is run."""
    monkeypatch.setattr(additions, "missing_database", lambda: "")
    given = services.chosen_site()
    services.close_services()
    services.settle(Site())
    yield
    services.close_services()
    services.settle(given)


def tiers_of(module: str) -> tuple[Tier, ...]:
    name = module.rpartition(".")[2]
    return (Tier.SPARK,) if name in OF_TABLES else (Tier.CONTAINERS,) if name in OF_TOPICS else ON_BOTH


def drawn(system: System, tier: Tier) -> list[Plan]:
    """Plans that can be run there, as whoever runs them checks them."""
    case, tools = swarm_case(system, tier), registry.toolbox()
    plans = [case.plan_for(seed) for seed in SEEDS]
    for plan in plans:
        check_plan(plan, system, tier, tools)
        check_options(plan, system)
        system.claims(plan)
    return plans


def assert_suited(plans: list[Plan], system: System, tier: Tier) -> None:
    assert isinstance(system, SuitsPlans)
    faults = [fault for plan in plans for fault in plan.faults]
    waited_for = {fault.schedule.at_event for fault in faults} - {""}
    assert waited_for <= set(system.awaited(tier))
    assert all(system.evidence().get(event, Evidence.NONE) is not Evidence.NONE for event in waited_for)
    assert all(fault.schedule.after_checkpoint for fault in faults)
    for plan in plans:
        # What is removed or damaged hits no process, and a driver program dies with it.
        struck = [fault for fault in plan.faults if fault.kind not in ("truncate", "damage")]
        progress = [fault.schedule.after_checkpoint for fault in struck]
        assert len(set(progress)) == len(progress)
    replayed = [any("replay" in (fault.kind, fault.parameters.get("way")) for fault in plan.faults) for plan in plans]
    assert sum(replayed) > len(plans) // 5
    assert [plan.options.get(NO_DATA) == "false" for plan in plans] == replayed


@pytest.mark.parametrize("module", MODULES)
def test_every_plan_suits_the_pipeline_of_somebody_else(module: str) -> None:
    system = registry.system(f"spark+{module}")
    for tier in tiers_of(module):
        plans = drawn(system, tier)
        assert_suited(plans, system, tier)
        assert len({plan.job.contract for plan in plans}) == 1


@pytest.mark.parametrize("contract", Contract)
def test_the_jobs_are_those_of_the_contract(contract: Contract, tmp_path: Path) -> None:
    path = tmp_path / "pipeline.py"
    path.write_text(f"{BUILD}CONTRACT = {contract.value!r}")
    system = registry.system(f"spark+{path}")
    assert {plan.job.contract for plan in drawn(system, Tier.SPARK)} == {contract}


def test_ours_are_given_every_contract() -> None:
    system = registry.system("spark")
    for tier in ON_BOTH:
        plans = drawn(system, tier)
        assert_suited(plans, system, tier)
        assert {plan.job.contract for plan in plans} == set(Contract)
        gated = any(fault.schedule.gate for plan in plans for fault in plan.faults)
        assert gated is (tier is Tier.CONTAINERS)


def test_faults_are_drawn_where_there_is_something_to_strike_that_bears_them() -> None:
    """No file of input is removed; a second driver program appends nothing twice."""
    kinds = {
        (name, tier): {
            fault.kind
            for plan in drawn(registry.system(f"spark+{pipelines.__name__}.{name}"), tier)
            for fault in plan.faults
        }
        for name in ("appended_once", "overwritten_batches")
        for tier in ON_BOTH
    }
    assert {where for where, found in kinds.items() if "truncate" in found} == {
        ("appended_once", Tier.CONTAINERS), ("overwritten_batches", Tier.CONTAINERS),
    }  # fmt: skip
    assert {name for (name, _), found in kinds.items() if "supersede" in found} == {"overwritten_batches"}
    for plan in drawn(registry.system("spark"), Tier.CONTAINERS):
        assert not {"truncate", "replay"} <= {fault.kind for fault in plan.faults}


def test_what_names_a_next_version_is_upgraded_once_and_nothing_else_is() -> None:
    """Beside an upgrade there is no succession, and none waits at a gate that is to end in good order."""
    upgrades = Path(pipelines.__path__[0]) / "upgrades"
    named, unnamed = (registry.system(f"spark+{upgrades}/{name}.py") for name in ("orders", "orders_v2"))
    for tier in ON_BOTH:
        assert not any(fault.kind == "upgrade" for plan in drawn(unnamed, tier) for fault in plan.faults)
        plans = drawn(named, tier)
        assert_suited(plans, named, tier)
        with_upgrade = [plan for plan in plans if any(fault.kind == "upgrade" for fault in plan.faults)]
        assert len(plans) // 5 < len(with_upgrade) < len(plans)
        assert "supersede" not in {fault.kind for plan in with_upgrade for fault in plan.faults}
        faults = [fault for plan in plans for fault in plan.faults if fault.kind == "upgrade"]
        assert len(faults) == len(with_upgrade)
        assert {fault.parameters["way"] for fault in faults} == set(UPGRADES)
        assert all(fault.parameters["way"] == "kill" for fault in faults if fault.schedule.gate)


def test_plans_are_drawn_where_the_pipeline_can_run() -> None:
    for module in MODULES:
        [swarm] = [case for case in cases_for(registry.system(f"spark+{module}")) if case.id.startswith("swarm/")]
        assert swarm.tiers == tiers_of(module)[:1]


def test_a_plan_that_waits_for_what_is_never_reported_is_refused() -> None:
    """Of the plans that were drawn so, one in eight waited until its bound."""
    system, tools = registry.system("spark"), registry.toolbox()
    mix = replace(mix_for(system, REAL, Tier.SPARK), events=REAL.events)
    refused = 0
    for seed in range(1, 301):
        plan = draw_plan(seed, mix)
        if {fault.schedule.at_event for fault in plan.faults} & {"transaction_precommitted", "transaction_committed"}:
            with pytest.raises(NotApplicable, match="which system 'spark' does not report"):
                check_plan(plan, system, Tier.SPARK, tools)
            refused += 1
    assert refused


def test_windows_are_asked_of_nobody_who_has_none() -> None:
    for name in ("reference", "persists-first"):
        system = registry.system(name)
        for tier in system.capabilities:
            assert "window-sum" not in mix_for(system, REAL, tier).jobs
            assert Capability.EVENT_TIME_WINDOWS not in system.capabilities[tier]
