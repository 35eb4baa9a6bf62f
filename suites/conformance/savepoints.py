"""Savepoints: whole, the user's, stopped with and restored, also by other state backends (RULES SAV, CRD-10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.faults.user import cancel_with_savepoint, command, move_savepoint, savepoint, stop
from holdfast.harness.model import jobs, profile
from holdfast.harness.model.case import Decision, Window
from holdfast.harness.model.checkpoint import SavepointFormat
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import DEDUPLICATE, KEYED_SUM, RULED_SUM, SLIDING_SUM
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.submitted_jobs import STATE_BACKEND
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.barriers import backlog
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    STATE_IN_FILES,
    TWO_RETAINED,
    WORKERS,
    case,
    decides,
    gate,
    plan,
    with_needs,
)

LONG = {"records": 240, "records_per_second": 200}
VERSION_1_14 = {profile.PROFILE: profile.FLINK_1_14}
UNALIGNED = {f"{CHECKPOINTING}.unaligned.enabled": "true"}
ALIGNMENT_TIMEOUT = f"{CHECKPOINTING}.aligned-checkpoint-timeout"
CLAIMED = {profile.CLAIM_MODE: "CLAIM"}
ALLOWED = {profile.IGNORE_UNCLAIMED: "true"}
CHAINED = {"pipeline.operator-chaining.enabled": "true"}


def _plan(*faults: FaultSpec, options: Mapping[str, str] = {}, **fields: Any) -> Plan:
    return plan(*faults, options={**plans.STATE_IN_FILES, **options}, **{"records": LONG, **fields})


def _resumed(
    *faults: FaultSpec,
    drain: bool = False,
    how: SavepointFormat = SavepointFormat.CANONICAL,
    edit: str = "",
    parallelism: int = 0,
    **fields: Any,
) -> Plan:
    """A job is stopped with a savepoint, and another goes on from that."""
    parameters: dict[str, int | str] = {"restore": 1}
    if edit:
        parameters["edit"] = edit
    if parallelism:
        parameters["parallelism"] = parallelism
    return _plan(stop(how=how, drain=drain, after_checkpoint=3),
                 *(fault for fault in faults if fault.kind == "move-savepoint"),
                 command("submit", parameters, after_checkpoint=3, at_event="checkpoint_retained"),
                 *(fault for fault in faults if fault.kind != "move-savepoint"), **fields)  # fmt: skip


MOVE = move_savepoint(after_checkpoint=3, at_event="checkpoint_retained")
MOVED = (
    _resumed(MOVE),
    _resumed(MOVE, job=jobs.JOIN, how=SavepointFormat.NATIVE),
    _resumed(MOVE, kill(WORKERS[0], after_checkpoint=9)),
)
STOPPED = (
    _resumed(),
    _resumed(job=jobs.MINI_BATCH),
    _resumed(kill(WORKERS[1], after_checkpoint=9), kill(COORDINATOR, after_checkpoint=11)),
)
STOPPED_SLOWLY = tuple(
    _plan(slow_storage("write-state", 30, 900, after_checkpoint=2), stop(drain=drain, after_checkpoint=3),
          command("submit", {"restore": 1}, after_checkpoint=3, at_event="checkpoint_retained"), options=options)
    for drain in (True, False)
    for options in ({}, plans.TWO_AT_ONCE)
)  # fmt: skip
"""The savepoint takes longer than the interval."""
STOPPED_OTHERWISE = (
    _resumed(job=jobs.FORWARD),
    _resumed(job=jobs.PIPELINE, options=CHAINED),
    _resumed(options=UNALIGNED),
    _resumed(options=VERSION_1_14),
    _resumed(job=jobs.REBALANCE, options=plans.TWO_AT_ONCE),
    _resumed(parallelism=3, records={"partitions": 4, "records": 400}),
)
STRUCK = (
    _plan(stop(after_checkpoint=3), kill(WORKERS[0], after_checkpoint=3, at_event="savepoint_completed")),
    _plan(stop(after_checkpoint=3), kill(WORKERS[0], after_checkpoint=3, gate=gate("send-barrier", WORKERS[0]))),
    _plan(stop(after_checkpoint=3), kill(WORKERS[0], after_checkpoint=3, gate=gate("write-state", WORKERS[0]))),
    _plan(stop(after_checkpoint=3), kill(COORDINATOR, after_checkpoint=3, gate=gate("publish-metadata", COORDINATOR))),
    _plan(stop(after_checkpoint=3), storage_error("publish-metadata", after_checkpoint=3)),
    _plan(stop(after_checkpoint=3), storage_error("write-state", after_checkpoint=3)),
)
"""A stop is struck in each of its phases: no savepoint, or one whose job has not ended with it."""
EDITED = (
    _resumed(edit="source->sum"),
    _resumed(edit="map=relay", job=jobs.FORWARD),
    _resumed(edit="buffer=gather", job=jobs.MINI_BATCH, drain=True, options=ALLOWED),
)
"""A new operator, a renamed one without state, and state that is left out because that is allowed: it is empty."""
REFUSED = (
    _resumed(edit="sum=total", expected_end=ExpectedEnd.FAILED),
    _resumed(edit="buffer=gather", job=jobs.MINI_BATCH, drain=True, expected_end=ExpectedEnd.FAILED),
    _resumed(edit="sink=drain", job=jobs.FORWARD, expected_end=ExpectedEnd.FAILED),
)
INCREMENTAL = {profile.BACKEND: "rocksdb", profile.INCREMENTAL: "true"}
COMPLETE = (_resumed(MOVE, options=INCREMENTAL), _resumed(MOVE, options=INCREMENTAL, how=SavepointFormat.NATIVE))
"""The checkpoints of the first job, and what they share, are deleted when it has finished."""
CANCELLED = (
    _plan(cancel_with_savepoint(after_checkpoint=3),
          command("submit", {"restore": 1}, after_checkpoint=3, at_event="checkpoint_retained"), options=VERSION_1_14),
    _plan(cancel_with_savepoint(after_checkpoint=3),
          command("submit", {"restore": 1}, after_checkpoint=3, at_event="checkpoint_retained"),
          kill(WORKERS[0], after_checkpoint=9), job=jobs.FORWARD, options=VERSION_1_14),
    _plan(cancel_with_savepoint(after_checkpoint=3),
          kill(WORKERS[0], after_checkpoint=3, gate=gate("write-state", WORKERS[0])), options=VERSION_1_14),
    _plan(cancel_with_savepoint(after_checkpoint=3), storage_error("publish-metadata", after_checkpoint=3),
          options=VERSION_1_14),
)  # fmt: skip
"""In 1.14 a job can be cancelled with a savepoint; without one it goes on."""
ENDED = tuple(
    _plan(stop(drain=drain, after_checkpoint=3), *faults, job=job, expected_end=ExpectedEnd.FINISHED)
    for job in (jobs.TUMBLING_SUM, jobs.SESSION_SUM)
    for drain in (True, False)
    for faults in ((), (kill(WORKERS[0], after_checkpoint=2),))
)
"""No job goes on from there."""
IN_FLIGHT = tuple(
    backlog(savepoint(after_checkpoint=1), options={ALIGNMENT_TIMEOUT: timeout}) for timeout in ("0 ms", "30 ms")
)
"""Checkpoints overtake, at once or after a while, when a savepoint is asked for."""
BETWEEN = (
    _plan(savepoint(after_checkpoint=2)),
    _plan(savepoint(after_checkpoint=2), kill(WORKERS[0], after_checkpoint=2, at_event="savepoint_completed")),
    _plan(savepoint(after_checkpoint=2), kill(COORDINATOR, after_checkpoint=2, at_event="savepoint_completed")),
    _plan(savepoint(how=SavepointFormat.NATIVE, after_checkpoint=2), options=UNALIGNED),
)
OLDER = (
    _plan(savepoint(after_checkpoint=2), options=VERSION_1_14),
    _plan(savepoint(after_checkpoint=2), kill(WORKERS[0], after_checkpoint=2, at_event="savepoint_completed"),
          options=VERSION_1_14),
    _plan(savepoint(after_checkpoint=2), kill(COORDINATOR, after_checkpoint=4), options=VERSION_1_14),
    _plan(savepoint(after_checkpoint=2), kill(COORDINATOR, after_checkpoint=3, gate=gate("delete", COORDINATOR)),
          options=VERSION_1_14),
)  # fmt: skip
"""In 1.14 a savepoint is a recovery point, and stays when it is none any more. In the last of these a successor finds
it where nothing is deleted yet, and newer checkpoints beside it."""
FAILING = (
    _plan(savepoint(after_checkpoint=2), storage_error("publish-metadata", after_checkpoint=2)),
    _plan(savepoint(after_checkpoint=2), storage_error("write-state", after_checkpoint=2)),
)

CASES = with_needs(
    case("savepoints/moved", "Is a savepoint whole, so that another job restores it from another place?", MOVED,
         decides("SAV-01", "SAVEPOINT/not-resumed", wrong="absolute-pointers"),
         decides("SAV-01", "SAVEPOINT/outside-folder", wrong="savepoint-beside-checkpoints"),
         windows=(Window.RESTORED_STATE,), mutant_plan=MOVED[0], tiers=EVERYWHERE,
         method="A job is stopped with a savepoint, which a user moves; another job restores it from there.",
         passes="The job goes on from the savepoint, and the output of both is right, once."),
    case("savepoints/kept", "Does a savepoint stay when the checkpoints beside it are deleted?", OLDER,
         decides("SAV-02", "SAVEPOINT/savepoint-deleted", wrong="counts-savepoints"),
         method="Savepoints are taken in version 1.14, where they are recovery points, and newer checkpoints "
                "complete.",
         passes="All files of each savepoint are there at the end, and the system has deleted none."),
    case("savepoints/stopped", "Does a job stop at exactly its savepoint, and another go on from exactly there?",
         STOPPED, decides("SAV-03", "SAVEPOINT/emitted-behind-stop", "SAVEPOINT/not-stopped", wrong="goes-on-reading"),
         decides("SAV-04", "SAVEPOINT/drained-unasked", wrong="drains-always"), windows=(Window.RESTORED_STATE,),
         pictures=("savepoint",), mutant_plan=STOPPED[0], tiers=EVERYWHERE,
         method="Jobs are stopped without draining, and others restore the savepoint, with kills in them.",
         passes="Nothing is emitted behind the savepoint, the job finishes, and the output of both is right, once."),
    case("savepoints/stopped-slowly", "Does no other checkpoint begin while a job stops?", STOPPED_SLOWLY,
         decides("SAV-03", "SAVEPOINT/begun-behind-stop", wrong="begins-behind-stop"), mutant_plan=STOPPED_SLOWLY[0],
         method="Writing state takes so long that the interval passes several times while a job stops.",
         passes="No checkpoint begins behind the savepoint, the job finishes, and the output of both jobs is right."),
    case("savepoints/stopped-otherwise",
         "Does a job stop at exactly its savepoint, whatever its options and its operators are?", STOPPED_OTHERWISE,
         decides("SAV-03", "SAVEPOINT/emitted-behind-stop", "SAVEPOINT/not-stopped", wrong="goes-on-reading"),
         windows=(Window.RESTORED_STATE,), mutant_plan=STOPPED[0],
         method="Chained and unaligned jobs, one of version 1.14, and one that goes on wider are stopped.",
         passes="Nothing is emitted behind the savepoint, the job finishes, and the output of both is right, once."),
    case("savepoints/struck", "Does a job that cannot stop go on, and never end without its savepoint?", STRUCK,
         decides("SAV-03", "COORD/restored-not-latest", wrong="K2"),
         decides("SAV-03", "SAVEPOINT/stopped-silently", wrong="stops-silently"),
         method="A stop is struck in each phase: a worker or the coordinator dies, or the storage fails.",
         passes="The job restarts from its latest recovery point, which the complete savepoint is, and runs on."),
    case("savepoints/drained", "Is everything that a job holds back emitted in front of a draining savepoint?",
         (_resumed(drain=True), _resumed(drain=True, job=jobs.MINI_BATCH),
          _resumed(drain=True, job=jobs.PIPELINE, options=CHAINED)),
         decides("SAV-04", "SAVEPOINT/not-drained", wrong="drains-nothing"), windows=(Window.RESTORED_STATE,),
         method="Jobs are stopped with --drain, and others restore the savepoint.",
         passes="finish() of each operator is called before its snapshot, and the output of both jobs is right."),
    case("savepoints/complete", "Is a savepoint complete where checkpoints are incremental?", COMPLETE,
         decides("SAV-02", "SAVEPOINT/outside-folder", wrong="savepoint-beside-checkpoints"),
         windows=(Window.RESTORED_STATE,),
         method="A job with incremental checkpoints is stopped, and its savepoint moved; its checkpoints are deleted.",
         passes="The next job restores the savepoint, and the output of both is right, once."),
    case("savepoints/timers", "Do timers and windows wait for the next job where a stop does not drain?",
         (_resumed(job=jobs.DELAYED_SUM), _resumed(job=jobs.SLIDING_SUM),
          _resumed(job=jobs.SLIDING_SUM, options=UNALIGNED)),
         decides("SAV-04", "SAVEPOINT/drained-unasked", wrong="drains-always"), windows=(Window.RESTORED_STATE,),
         method="Jobs with timers and with event-time windows are stopped, and others restore the savepoint.",
         passes="No timer is taken early or twice, and each window is emitted once, by one of the jobs."),
    case("savepoints/cancelled",
         "Is a job cancelled when the savepoint is complete that it was to be cancelled with, and not before?",
         CANCELLED, decides("SAV-03", "SAVEPOINT/stopped-silently", wrong="cancels-at-once"),
         decides("SAV-03", "SAVEPOINT/not-stopped", wrong="forgets-to-cancel"),
         method="Jobs are cancelled with a savepoint, and others go on from it; twice there can be no savepoint.",
         passes="The first job ends with its savepoint, and the output of both is right, once; without one it runs "
                "on."),
    case("savepoints/drained-windows",
         "Does a stop emit the windows that are open if it drains, and leave them if it does not?", ENDED,
         decides("SAV-04", "WINDOW/window-missing", wrong="finishes-without-timers"),
         decides("SAV-04", "SAVEPOINT/drained-unasked", wrong="drains-always"),
         method="Jobs with tumbling windows and with sessions are stopped for good, with --drain and without.",
         passes="Drained, every window has a row with what was read in front of the savepoint; else those do that the "
                "watermark had passed."),
    case("savepoints/edited", "Does a job go on whose operators without state come, go or are renamed?", EDITED,
         decides("SAV-05", "SAVEPOINT/not-resumed", wrong="refuses-edits"), windows=(Window.RESTORED_STATE,),
         method="A new operator, another name, and state that may be left out with -n.",
         passes="The job runs, and the output of both is right, once."),
    case("savepoints/left-out", "Is a job refused that would leave state out, unless that is allowed?", REFUSED,
         decides("SAV-05", "SAVEPOINT/state-left-out", wrong="leaves-state-out"),
         method="An operator with state has another name in the next job.",
         passes="No attempt of the next job runs, and it reports which operator is missing."),
    case("savepoints/claimed", "Does a job own what it claims, and nothing else?",
         (_resumed(options=CLAIMED), _resumed(kill(COORDINATOR, after_checkpoint=5), options=CLAIMED),
          _resumed(kill(COORDINATOR, after_checkpoint=7), options=CLAIMED),
          _resumed(kill(WORKERS[0], after_checkpoint=5), options=CLAIMED)),
         decides("SAV-06", "SAVEPOINT/claimed-left", wrong="claims-nothing"), windows=(Window.RESTORED_STATE,),
         method="A job restores a savepoint with CLAIM, with kills in it.",
         passes="The savepoint is gone when the job has a checkpoint of its own, and every restart restores."),
    case("savepoints/not-claimed", "Does a job leave alone what it restores and does not own?", STOPPED[0],
         decides("SAV-06", "SAVEPOINT/savepoint-deleted", wrong="claims-always"), windows=(Window.RESTORED_STATE,),
         method="A job restores a savepoint with NO_CLAIM, the default.",
         passes="All files of the savepoint are there at the end."),
    case("savepoints/between", "Does a savepoint that no job stops with commit nothing, and is it no recovery point?",
         BETWEEN,
         decides("SAV-07", "SAVEPOINT/savepoint-commits", "SAVEPOINT/savepoint-restored", wrong="commits-savepoints"),
         mutant_plan=BETWEEN[1], tiers=EVERYWHERE,
         method="A savepoint is taken between two checkpoints; a worker or the coordinator dies right behind it.",
         passes="No task hears of it, and the job goes back to the checkpoint before it."),
    case("savepoints/without-target", "Is a savepoint refused for which no directory is named?",
         _plan(savepoint("", after_checkpoint=2)),
         decides("SAV-07", "SAVEPOINT/target-invented", wrong="invents-target"),
         method="A savepoint is requested without a directory, and none is configured.",
         passes="No savepoint is triggered, and the job runs on."),
    case("savepoints/failing", "Does a savepoint that fails cost the job nothing?", FAILING,
         decides("CRD-10", "COUNT/failed-below-tolerable", wrong="counts-failed-savepoints"),
         method="The storage fails while a savepoint is taken, and no failed checkpoint is tolerable.",
         passes="The savepoint is given up, and the job runs on in the same attempt."),
    case("savepoints/in-flight", "Does a savepoint hold no record that was in flight, where checkpoints do?", IN_FLIGHT,
         decides("UNA-05", "SAVEPOINT/carries-in-flight", wrong="savepoints-overtake"),
         decides("UNA-05", "SAVEPOINT/carries-in-flight", wrong="savepoints-time-out"), windows=(Window.OVERTAKING,),
         method="A task is slow, so that unaligned checkpoints overtake what waits in front of it, and a savepoint is "
                "taken.",
         passes="No subtask takes in-flight records along in the savepoint."),
)  # fmt: skip


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
MOVED_CASES = with_needs(
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
