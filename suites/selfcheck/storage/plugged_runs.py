"""Runs of the reference runtime with a checkpoint storage plugged in, and what each is aimed at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.faults.succession import supersede
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.incremental import INCREMENTAL
from holdfast.suites.conformance.plans import STATE_IN_FILES, TOLERANT, TWO_RETAINED, WORKERS, gate, plan
from holdfast.suites.selfcheck.replaced_runs import counting_run

RESTARTED = plan(
    kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), options={**INCREMENTAL, **TWO_RETAINED}
)
STRUCK = plan(
    storage_error("write-state", 1_000, {"occurrences": 2, "after_effect": 1}, after_checkpoint=1),
    options={**INCREMENTAL, **TOLERANT},
)
"""Two answers are lost, and the same files are written again."""
SUPERSEDED = plan(supersede(200, after_checkpoint=2, gate=gate("publish-metadata", COORDINATOR)), options=INCREMENTAL)
UNDECIDED = plan(
    storage_error("publish-metadata", 1_000, {"occurrences": 1, "answer_lost": 1}, after_checkpoint=1),
    options={**INCREMENTAL, **TOLERANT},
)
"""A publication that did not happen is looked for."""
HALF_PUBLISHED = plan(
    kill(COORDINATOR, after_checkpoint=1, gate=gate("during-publish-metadata", COORDINATOR)), options=STATE_IN_FILES
)
KILLED = plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2), options=STATE_IN_FILES)


def plugged(storage: str) -> Any:
    """The reference runtime with it."""
    return registry.system(f"reference+storage={storage}")


def refuted(storage: str, aimed: Plan, tier: Tier, folder: Path) -> Mapping[str, str]:
    """By oracle and clause, what is found of a run."""
    run = counting_run(aimed, plugged(storage), tier, folder)
    return {f"{each.oracle}/{found.clause}": found.message for each in run.verdicts for found in each.anomalies}
