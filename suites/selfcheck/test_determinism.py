"""One plan, one run: the trace hash is the same wherever it is taken, and different as soon as anything differs."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from holdfast.faults.process import kill
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.sim.kernel import Kernel
from holdfast.suites.conformance.plans import WORKERS, plan

MODULE = "holdfast.suites.selfcheck.test_determinism"
HASH_SEEDS = ("0", "1")


def trace_hash(system: str, run_seed: int = 1) -> str:
    """The hash of a run with two kills."""
    broken = plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2), run_seed=run_seed)
    return run_plan(broken, registry.system(system), registry.toolbox()).trace_hash


def hashes_elsewhere(system: str) -> set[str]:
    """The hashes of the same run in other processes, each with another hash seed."""
    program = f"from {MODULE} import trace_hash; print(trace_hash({system!r}))"
    return {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in HASH_SEEDS
    }


@pytest.mark.parametrize("system", ["reference", "reference+source=holdfast.fixtures.sources.files:FileSource"])
def test_a_plan_gives_one_hash_in_every_process(system: str) -> None:
    assert hashes_elsewhere(system) == {trace_hash(system)}


def test_an_order_that_depends_on_the_hash_seed_is_caught_by_running_twice() -> None:
    assert len(hashes_elsewhere("reference+order-by-set")) > 1


def test_another_seed_changes_it() -> None:
    assert trace_hash("reference", run_seed=1) != trace_hash("reference", run_seed=2)


class Deaf:
    """A node that does nothing."""

    def __init__(self, number: int) -> None:
        self.number = number

    def deliver(self, kind: int, event: Any) -> None:
        """Nothing."""


@pytest.mark.parametrize("times_ns", [(5, 6), (5, 5)], ids=["later", "at once"])
def test_two_swapped_deliveries_change_it(times_ns: tuple[int, int]) -> None:
    first, second = (Deaf(0), 11), (Deaf(1), 12)
    assert dispatched(times_ns, first, second) == dispatched(times_ns, first, second)
    assert dispatched(times_ns, first, second) != dispatched(times_ns, second, first)


def dispatched(times_ns: tuple[int, int], *deliveries: tuple[Deaf, int]) -> str:
    """The hash of a kernel that delivers these, each to its node with its logical number."""
    kernel = Kernel()
    for at_ns, (node, logical) in zip(times_ns, deliveries, strict=True):
        kernel.schedule(at_ns, node, 1, None, logical)
    kernel.run(max(times_ns))
    return kernel.trace_hash(())
