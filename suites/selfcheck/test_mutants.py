"""The mutants on trial: each killed by one of its named oracles, by its directed plan and by the swarm, where the
runtime itself passes; and every variant is right as long as nothing breaks."""

from __future__ import annotations

import subprocess
import sys

import pytest
from _pytest.mark.structures import ParameterSet
from msgspec.structs import replace

from holdfast.fixtures.mutants.directed import DirectedMutant
from holdfast.fixtures.mutants.variants import VARIANTS
from holdfast.harness.engine.executor.run import never_interrupted, run_plan
from holdfast.harness.engine.exploration.mutation import DELIVERY, try_mutant
from holdfast.harness.engine.site import registry
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.mutant import Mutant
from holdfast.suites.conformance.plans import plan

TOOLS = registry.toolbox()
OF_DELIVERY = replace(TOOLS, oracles=tuple(oracle for oracle in TOOLS.oracles if oracle.name in DELIVERY))
SWARM_SEEDS = 3_000
"""The command may try 5,000; that many here would mean that the swarm got worse."""


def test_the_first_wave_is_there() -> None:
    assert {mutant.name for mutant in registry.mutants()} >= {"A3", "C1", "D1", "D6", "G1", "H2", "H7", "I1"}


def test_a_worker_imports_no_variant_unless_one_is_named() -> None:
    code = (
        "import sys; from holdfast.harness.engine.certification import worker;"
        "from holdfast.harness.engine.site import registry;"
        "registry.system('reference'); registry.toolbox(); registry.cases();"
        "print(*[name for name in sys.modules if name.startswith('holdfast.fixtures.mutants.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


LATE = {"B2", "D1", "D2"}
"""The swarm needs a minute or so for them: they are left to the night."""


def _trial(mutant: Mutant) -> ParameterSet:
    return pytest.param(mutant, id=mutant.name, marks=[pytest.mark.nightly] if mutant.name in LATE else [])


@pytest.mark.parametrize("mutant", registry.mutants(), ids=lambda mutant: mutant.name)
def test_its_own_plan_kills_a_mutant(mutant: DirectedMutant) -> None:
    trial = try_mutant(replace(mutant, swarm_seeds=0), TOOLS, never_interrupted)
    assert trial.directed, trial
    assert not trial.objections, trial


@pytest.mark.share(12)
@pytest.mark.parametrize("mutant", [_trial(mutant) for mutant in registry.mutants()])
def test_its_own_plan_and_the_swarm_kill_a_mutant(mutant: DirectedMutant) -> None:
    trial = try_mutant(replace(mutant, swarm_seeds=SWARM_SEEDS), TOOLS, never_interrupted)
    assert trial.killed, trial


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.share(8)
def test_output_is_right_without_faults(variant: str) -> None:
    run = run_plan(plan(), registry.system(f"reference+{variant}"), OF_DELIVERY)
    verdicts = {verdict.oracle: verdict.outcome for verdict in run.verdicts}
    assert verdicts == dict.fromkeys(DELIVERY, Outcome.PASS)
