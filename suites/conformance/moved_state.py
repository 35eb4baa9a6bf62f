"""Keyed state in canonical form: other state backends hold the same (RULES SAV-07)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.process import kill
from holdfast.faults.savepoint import savepoint, stop
from holdfast.faults.user import command
from holdfast.harness.model import profile
from holdfast.harness.model.case import Decision
from holdfast.harness.model.checkpoint import SavepointFormat
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import DEDUPLICATE, KEYED_SUM, RULED_SUM, SLIDING_SUM
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.submitted_jobs import STATE_BACKEND
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import STATE_IN_FILES, TWO_RETAINED, WORKERS, case, decides, plan, with_needs

LONG = {"records": 240, "records_per_second": 200}
ON_FILES = {**STATE_IN_FILES, profile.INCREMENTAL: "true"}
ON_HEAP, ON_DISK = {**ON_FILES, profile.BACKEND: "hashmap"}, {**ON_FILES, profile.BACKEND: "rocksdb"}


def _kept(
    job: Job, *faults: FaultSpec, options: Mapping[str, str] = ON_HEAP, records: Mapping[str, int | str] = {}
) -> Plan:
    """Two checkpoints are retained, and two savepoints in either format."""
    return plan(savepoint(after_checkpoint=2), savepoint(how=SavepointFormat.NATIVE, after_checkpoint=3), *faults,
                job=job, options={**TWO_RETAINED, **options}, records={**LONG, **records})  # fmt: skip


def _changed(job: Job, backend: str, *faults: FaultSpec, options: Mapping[str, str] = ON_HEAP) -> Plan:
    """A job is stopped with a savepoint, and the next one goes on from it on another state backend."""
    return plan(stop(after_checkpoint=3),
                command("submit", {"restore": 1, STATE_BACKEND: backend}, after_checkpoint=3,
                        at_event="checkpoint_retained"),
                *faults, job=job, options=options, records=LONG)  # fmt: skip


CHANGED = (
    _changed(KEYED_SUM, "rocksdb", kill(WORKERS[0], after_checkpoint=9)),
    _changed(SLIDING_SUM, "rocksdb"),
    _changed(DEDUPLICATE, "rocksdb"),
    _changed(RULED_SUM, "rocksdb"),
    _changed(KEYED_SUM, "hashmap", kill(WORKERS[0], after_checkpoint=9), options=ON_DISK),
    _changed(SLIDING_SUM, "hashmap", options=ON_DISK),
)
CASES = with_needs(
    case("moved-state/retained", "Does every retained checkpoint and savepoint hold the same on another state backend?",
         (_kept(KEYED_SUM, kill(WORKERS[0], after_checkpoint=4)), _kept(SLIDING_SUM), _kept(DEDUPLICATE),
          _kept(RULED_SUM, records={"keys": 2, "partitions": 6}), _kept(SLIDING_SUM, options=ON_DISK)),
         *tuple(Decision("SAV-07", "RESTORE", ("canonical-differs", "moved-differs"), f"moves-{what}")
                for what in ("without-expiry", "without-namespaces", "without-a-group", "lists-reversed",
                             "without-timers")),
         method="State with namespaces, timers, a time to live and lists is taken in canonical form from each of them, "
                "and given to another state backend.",
         passes="Its tables and timers answer as those of the first one, and so does an operator above it."),
    case("moved-state/change-of-backend", "Does a job go on from a canonical savepoint on another state backend?",
         CHANGED, decides("SAV-07", "RESTORE/state-differs", wrong="moves-without-a-group"),
         windows=(Window.RESTORED_STATE,),
         method="A job is stopped with a savepoint. The next one keeps its state on disk instead of the heap, or on "
                "the heap instead of the disk.",
         passes="All of it starts with the state that was recorded."),
)  # fmt: skip
