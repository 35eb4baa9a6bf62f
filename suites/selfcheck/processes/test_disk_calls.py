"""One plan in the simulator and on processes: each operation makes the same calls of its file system."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.drivers.gates import DURING, DURING_GATES
from holdfast.fixtures.reference.drivers.processes import deployment
from holdfast.fixtures.reference.drivers.simulated.storage import StorageClient
from holdfast.fixtures.reference.protocol.storage.operation import Failure
from holdfast.fixtures.storages.on_disk import DiskFiles
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Gate, Plan
from holdfast.harness.model.target import COORDINATOR, STORAGE
from holdfast.suites.selfcheck.processes import watched_storage
from holdfast.suites.selfcheck.processes.test_deployment import WORKER, after, plan
from holdfast.suites.selfcheck.processes.watched_storage import Watch, Watched, shapes
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run

KILLED = FaultSpec("kill", COORDINATOR, after(1, Gate("during-publish-metadata", COORDINATOR)))
LOST = FaultSpec("kill", WORKER, after(2))
FAILS = FaultSpec(
    "storage-error",
    STORAGE,
    after(1),
    duration_ms=1_500,
    parameters={"operation": "publish-metadata", "occurrences": 1},
)
PLANS = {"killed": plan(KILLED, LOST), "undisturbed": plan(), "failing": plan(FAILS)}
SEEDS = 8
"""Runs in the simulator for each plan, and for each operation in which a process dies."""
OF_COMMITS = 32
"""Runs for a death in a commit: the next one begins an attempt or not, and finds nothing, a part, or all of it."""
pytestmark = pytest.mark.xdist_group("disk-calls")
"""One process simulates the plans for all."""


def simulated(plan: Plan, variant: str = "", seeds: int = SEEDS) -> list[Watched]:
    """What the simulated nodes do."""
    watch = Watch()
    with pytest.MonkeyPatch.context() as patch:
        watch.begin(patch)
        for seed in range(seeds):
            run_plan(replace(plan, run_seed=seed), ReferenceSystem(variant), toolbox())
    return watch.operations


def on_processes(plan: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Watched]:
    """What the nodes do on processes."""
    monkeypatch.setattr(deployment, "run_context", watched_storage)
    assert_passes(counting_run(plan, ReferenceSystem(""), Tier.PROCESS, folder))
    *_, last = sorted(folder.rglob(watched_storage.FOLDER))
    return watched_storage.read(last)


def strangers(expected: list[Watched], found: list[Watched]) -> set[tuple[str, ...]]:
    """Shapes of operations that were found and not expected."""
    known = shapes(expected)
    return {(name, *shape) for name, some in shapes(found).items() for shape in some - known.get(name, set())}


def dying_in(gate: str) -> Plan:
    """Whoever carries out the operation of a gate dies in it."""
    dies = WORKER if gate.removeprefix(DURING) in ("write-state", "pre-commit", "commit") else COORDINATOR
    return plan(FaultSpec("kill", dies, after(1, Gate(gate, dies))))


@pytest.fixture(scope="module")
def in_simulator() -> dict[str, list[Watched]]:
    """By plan, what the simulated nodes do. On a busy machine a kill comes in front of any operation or within it."""
    deaths = {gate: dying_in(gate) for gate in (*DURING_GATES, "write-state")}
    seeds = {"during-commit": OF_COMMITS}
    return {name: simulated(plan, seeds=seeds.get(name, SEEDS)) for name, plan in {**PLANS, **deaths}.items()}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.share(3)
def test_both_drivers_make_the_same_calls(
    name: str, in_simulator: dict[str, list[Watched]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = on_processes(PLANS[name], tmp_path, monkeypatch)
    assert shapes(found).keys() == shapes(in_simulator[name]).keys()
    expected = [each for some in in_simulator.values() for each in some]  # what meets what differs from run to run
    assert strangers(expected, found) == set()


def test_a_variant_that_publishes_in_its_own_way_is_found(in_simulator: dict[str, list[Watched]]) -> None:
    found = simulated(PLANS["undisturbed"], "G1")
    assert {operation for operation, *_ in strangers(in_simulator["undisturbed"], found)} == {"publish-metadata"}


def test_a_driver_that_makes_calls_of_its_own_is_found(
    in_simulator: dict[str, list[Watched]], monkeypatch: pytest.MonkeyPatch
) -> None:
    strike = StorageClient.strike

    def look_first(client: StorageClient, operation: str) -> Failure | None:
        with suppress(FileNotFoundError):  # No operation begins with a read, so it is told from its own calls.
            DiskFiles(client.disk, "anybody").read("anything", 0, 1)
        return strike(client, operation)

    monkeypatch.setattr(StorageClient, "strike", look_first)
    found = simulated(PLANS["undisturbed"])
    differ = {operation for operation, *_ in strangers(in_simulator["undisturbed"], found)}
    assert {"publish-metadata", "pre-commit", "commit"} <= differ
