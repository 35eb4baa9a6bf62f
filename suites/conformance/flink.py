"""Apache Flink, held against the rules that were read out of it (RULES, by its own log and from outside).

Each case puts the question of a case of the reference runtime, by a plan that needs no gate, and lets those clauses
decide that Flink supplies the evidence for. What shows that they can fail are the mutants of that case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.faults.input import poison
from holdfast.faults.process import kill, pause
from holdfast.faults.savepoint import move_savepoint, savepoint, stop
from holdfast.faults.user import command
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision, PlanGenerator, Tier
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import (
    configuration,
    coordinator,
    delivery,
    failed_checkpoints,
    recovery,
    restart,
    retention,
    savepoints,
    state_backends,
    triggering,
    unaligned,
)
from holdfast.suites.conformance.plans import CHECKPOINTING, RESTART, TOLERANT, WORKERS, each_of, with_needs

FIXED_DELAY = {
    f"{RESTART}.type": "fixed-delay",
    f"{RESTART}.fixed-delay.attempts": "30",
    f"{RESTART}.fixed-delay.delay": "200 ms",
}
KEPT = {f"{CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
AT_LEAST_ONCE = {f"{CHECKPOINTING}.mode": "AT_LEAST_ONCE"}
UNALIGNED = {f"{CHECKPOINTING}.unaligned.enabled": "true"}
SHORT_TIMEOUT = {f"{CHECKPOINTING}.timeout": "300 ms"}
NEVER_MENDED = poison(after_checkpoint=2)
"""The last record of a partition fails its operator, whenever it comes."""
STANDS_STILL = pause(WORKERS[0], 2_500, after_checkpoint=2)
"""Shorter than the timeout of a heartbeat, longer than some checkpoints."""
STRUCK_TWICE = (kill(WORKERS[0], after_checkpoint=2), kill(WORKERS[1], after_checkpoint=6))


STOPPED = stop(after_checkpoint=3)
MOVED = move_savepoint(after_checkpoint=3, at_event="savepoint_completed")
IN_FILES = {f"{CHECKPOINTING}.data-inline-threshold": "0 b"}
INCREMENTAL = {f"{CHECKPOINTING}.incremental": "true"}
CLAIMED = {"execution.state-recovery.claim-mode": "CLAIM"}


def _goes_on(behind: str = "savepoint_completed", **asked: int) -> FaultSpec:
    """Another job, from what the last one has left."""
    return command("submit", {"restore": 1, **asked}, after_checkpoint=3, at_event=behind)


def _plan(*faults: FaultSpec, options: Mapping[str, str] = {}, **fields: Any) -> Plan:
    """A keyed sum of 1,600 records that come in for some seconds."""
    return Plan(
        system="flink",
        job=KEYED_SUM,
        workload=WorkloadSpec(
            "synthetic", {"records": 1_600, "partitions": 2, "preloaded_percent": 10, "records_per_second": 200}
        ),
        options={f"{CHECKPOINTING}.interval": "200 ms", **FIXED_DELAY, **options},
        faults=faults,
        bounds=Bounds(safety_ms=60_000, liveness_ms=90_000, settle_ms=500),
        **fields,
    )


def _failing(options: Mapping[str, str], *faults: FaultSpec) -> Plan:
    """A job that ends by its restart strategy; no other one is named."""
    plan = _plan(*(faults or (NEVER_MENDED,)), expected_end=ExpectedEnd.FAILED)
    return replace(plan, options={f"{CHECKPOINTING}.interval": "200 ms", **options})


def _refused(options: Mapping[str, str]) -> Plan:
    return replace(
        _plan(), options={f"{CHECKPOINTING}.interval": "200 ms", **options}, expected_end=ExpectedEnd.REFUSED
    )


OF_THE_CLUSTER = f"{CHECKPOINTING}.num-retained"
"""What a job does not decide."""
REFUSED = tuple(_refused({key: bad}) for key, bad, _ in configuration.LIMITS if key != OF_THE_CLUSTER)
EXCLUSIVE = (_refused({**UNALIGNED, f"{CHECKPOINTING}.max-concurrent-checkpoints": "2"}),)
AT_LIMITS = {f"{CHECKPOINTING}.interval": "10 ms", f"{CHECKPOINTING}.data-inline-threshold": "1 mb"}


def _twin(
    cases: tuple[Case, ...],
    name: str,
    plan: Plan | PlanGenerator,
    *labels: str,
    method: str,
    runs: int = 1,
    windows: tuple[Window, ...] = (),
    mutant_plan: Plan | PlanGenerator | None = None,
    without: str = "",
) -> Case:
    """The question of a case of the reference, put to Flink.

    Args:
        cases: of the module where it is.
        name: its id.
        plan: what Flink runs.
        runs: how many plans there are.
        labels: what decides, `ORACLE/clause`.
        method: in one sentence.
        windows: that the run must hit.
        mutant_plan: if not that of the case.
        without: a mutant that another one of its plans shows.
    """
    [twin] = [case for case in cases if case.id == name]
    found = (_restricted(each, labels) for each in twin.decides if each.mutant != without)
    return Case(
        id=f"flink/{name.replace('/', '-')}",
        purpose=twin.purpose,
        method=method,
        passes=twin.passes,
        decides=tuple(each for each in found if each is not None),
        plan=plan,
        runs=runs,
        windows=windows,
        tiers=(Tier.PROCESS,),
        needs=frozenset({Capability.FLINK}),
        mutant_plan=mutant_plan or twin.mutant_plan or twin.plan,
    )


def _restricted(decision: Decision, labels: tuple[str, ...]) -> Decision | None:
    clauses = tuple(clause for clause in decision.clauses if f"{decision.oracle}/{clause}" in labels)
    return replace(decision, clauses=clauses) if clauses else None


def _control(variant: str, plan: Plan, *refutes: str, purpose: str) -> Case:
    """A wrong job."""
    return Case(
        id=f"flink/{variant}-control",
        purpose=f"Negative control: is a job found out {purpose}?",
        method="The wrong job in the place of the right one.",
        passes=f"{' or '.join(refutes)} refutes it.",
        decides=(),
        plan=replace(plan, system=f"flink+{variant}"),
        expected=Outcome.FAIL,
        refutes=frozenset(refutes),
        tiers=(Tier.PROCESS,),
        needs=frozenset({Capability.FLINK}),
    )


KILLED = "SIGKILL hits one TaskManager after the other, each after a completed checkpoint; another one takes over."
POISONED = "The last record of a partition fails the sum whenever it comes."

CASES = with_needs(
    _twin(
        recovery.CASES,
        "recovery/latest-checkpoint",
        _plan(*STRUCK_TWICE),
        "COORD/restored-not-latest",
        "COORD/tasks-restored-differently",
        "RESTORE/position-differs",
        method=KILLED,
        windows=(Window.RESTORED_STATE,),
    ),
    _twin(
        delivery.CASES,
        "delivery/exactly-once-sums",
        _plan(*STRUCK_TWICE),
        "EXACT/row-wrong",
        "EXACT/row-repeated",
        "EXACT/counts-stepped-back",
        "EXACT/input-missing",
        method=KILLED,
        windows=(Window.RESTORED_STATE,),
    ),
    _twin(
        coordinator.CASES,
        "coordinator/durable-before-notified",
        _plan(),
        "COORD/notified-before-durable",
        method="Nothing is broken.",
    ),
    _twin(
        coordinator.CASES,
        "coordinator/expiry",
        _plan(STANDS_STILL, options={**SHORT_TIMEOUT, **TOLERANT}),
        "COORD/not-expired",
        "COORD/slot-not-freed",
        method="A TaskManager stands still for longer than the timeout of checkpoints.",
    ),
    _twin(
        failed_checkpoints.CASES,
        "failed-checkpoints/task-failure",
        _plan(*STRUCK_TWICE, options={f"{CHECKPOINTING}.interval": "20 ms"}),
        "COORD/pending-at-restart",
        method=KILLED,
    ),
    _twin(
        triggering.CASES,
        "triggering/ids",
        _plan(*STRUCK_TWICE),
        "COORD/ids-not-increasing",
        method=KILLED,
    ),
    _twin(
        triggering.CASES,
        "triggering/sources-only",
        _plan(),
        "COORD/begun-without-barrier",
        method="Nothing is broken.",
    ),
    _twin(
        triggering.CASES,
        "triggering/max-concurrent",
        _plan(options={f"{CHECKPOINTING}.interval": "10 ms"}),
        "COORD/too-many-pending",
        method="An interval of 10 ms is shorter than most checkpoints.",
    ),
    _twin(
        triggering.CASES,
        "triggering/min-pause",
        _plan(options={f"{CHECKPOINTING}.interval": "50 ms", f"{CHECKPOINTING}.min-pause": "300 ms"}),
        "PACE/pause-too-short",
        method="The pause is longer than the interval.",
    ),
    _twin(
        triggering.CASES,
        "triggering/refused",
        _plan(kill(WORKERS[0], after_checkpoint=2), options={f"{CHECKPOINTING}.interval": "20 ms"}),
        "COUNT/failed-below-tolerable",
        method="SIGKILL hits a TaskManager, and meanwhile the interval passes.",
    ),
    _twin(
        restart.CASES,
        "restart/poison",
        _failing({**FIXED_DELAY, f"{RESTART}.fixed-delay.attempts": "3"}),
        "COUNT/restarted-beyond-policy",
        "COUNT/failed-too-early",
        method=POISONED + " Three restarts are allowed.",
    ),
    _twin(
        restart.CASES,
        "restart/fixed-delay-allows",
        _plan(*STRUCK_TWICE, options={f"{RESTART}.fixed-delay.attempts": "2", f"{RESTART}.fixed-delay.delay": "1 s"}),
        "COUNT/failed-too-early",
        "COUNT/delay-too-short",
        method=KILLED + " Two restarts are allowed, each after a second.",
    ),
    _twin(
        restart.CASES,
        "restart/failure-rate-ends",
        _failing(
            {
                f"{RESTART}.type": "failure-rate",
                f"{RESTART}.failure-rate.max-failures-per-interval": "2",
                f"{RESTART}.failure-rate.failure-rate-interval": "1 min",
                f"{RESTART}.failure-rate.delay": "200 ms",
            }
        ),
        "COUNT/restarted-beyond-policy",
        method=POISONED + " Two failures a minute are allowed.",
    ),
    _twin(
        restart.CASES,
        "restart/failure-rate-allows",
        _plan(
            *STRUCK_TWICE,
            options={
                f"{RESTART}.type": "failure-rate",
                f"{RESTART}.failure-rate.max-failures-per-interval": "2",
                f"{RESTART}.failure-rate.failure-rate-interval": "5 min",
                f"{RESTART}.failure-rate.delay": "500 ms",
            },
        ),
        "COUNT/failed-too-early",
        "COUNT/delay-too-short",
        method=KILLED + " Two failures in five minutes are allowed.",
    ),
    _twin(
        restart.CASES,
        "restart/none",
        _failing({f"{RESTART}.type": "none"}, kill(WORKERS[0], after_checkpoint=2)),
        "COUNT/restarted-after-none",
        method="SIGKILL hits a TaskManager under the strategy none.",
    ),
    _twin(
        restart.CASES,
        "restart/default",
        replace(_plan(*STRUCK_TWICE), options={f"{CHECKPOINTING}.interval": "200 ms"}),
        "COUNT/failed-too-early",
        method=KILLED + " No strategy is named.",
    ),
    _twin(
        restart.CASES,
        "restart/exponential-ends",
        _failing(
            {
                f"{RESTART}.type": "exponential-delay",
                f"{RESTART}.exponential-delay.initial-backoff": "100 ms",
                f"{RESTART}.exponential-delay.max-backoff": "1 s",
                f"{RESTART}.exponential-delay.attempts-before-reset-backoff": "3",
            }
        ),
        "COUNT/restarted-beyond-policy",
        method=POISONED + " Three restarts in a row are allowed.",
    ),
    _twin(
        restart.CASES,
        "restart/unrecoverable",
        _plan(poison(unrecoverable=True, after_checkpoint=2), expected_end=ExpectedEnd.FAILED),
        "COUNT/restarted-after-unrecoverable",
        method="The last record of a partition fails the sum with an error that suppresses restarts.",
        mutant_plan=restart.UNRECOVERABLE[0],
    ),
    _twin(
        retention.CASES,
        "retention/discards",
        _failing({f"{RESTART}.type": "none"}, kill(WORKERS[0], after_checkpoint=2)),
        "RETAIN/kept-wrongly",
        method="The job fails, and its checkpoints are not externalized.",
    ),
    _twin(
        retention.CASES,
        "retention/leaves",
        _failing({f"{RESTART}.type": "none", **KEPT}, kill(WORKERS[0], after_checkpoint=2)),
        "RETAIN/discarded-wrongly",
        method="The job fails, and its checkpoints are retained.",
    ),
    _twin(
        retention.CASES,
        "retention/number",
        _plan(*STRUCK_TWICE),
        "RETAIN/too-many-retained",
        "REACH/dropped-too-early",
        method=KILLED,
    ),
    _twin(
        delivery.CASES,
        "delivery/at-least-once",
        _plan(*STRUCK_TWICE, options=AT_LEAST_ONCE),
        "NOLOSS/input-lost",
        "NOLOSS/extra-not-a-repeat",
        method=KILLED + " The mode is at-least-once.",
        windows=(Window.RESTORED_STATE,),
    ),
    _twin(
        unaligned.CASES,
        "unaligned/crash-sweep",
        _plan(*STRUCK_TWICE, options=UNALIGNED),
        "EXACT/row-wrong",
        "EXACT/counts-stepped-back",
        "EXACT/input-missing",
        method=KILLED + " Checkpoints are unaligned.",
        windows=(Window.RESTORED_STATE,),
    ),
    _twin(
        savepoints.CASES,
        "savepoints/moved",
        _plan(
            STOPPED, move_savepoint(after_checkpoint=3, at_event="savepoint_completed"), _goes_on(), options=IN_FILES
        ),
        "SAVEPOINT/not-resumed",
        "SAVEPOINT/outside-folder",
        method="A job is stopped with a savepoint in files, that is moved, and another goes on from there.",
        windows=(Window.RESTORED_STATE,),
    ),
    _twin(
        savepoints.CASES,
        "savepoints/kept",
        _plan(savepoint(after_checkpoint=3), kill(WORKERS[0], after_checkpoint=6), options=IN_FILES),
        "SAVEPOINT/savepoint-deleted",
        method="A savepoint is taken, checkpoints follow, and SIGKILL hits a TaskManager.",
    ),
    _twin(
        savepoints.CASES,
        "savepoints/complete",
        _plan(savepoint(after_checkpoint=3), options={**IN_FILES, "state.backend.type": "rocksdb", **INCREMENTAL}),
        "SAVEPOINT/outside-folder",
        method="A savepoint is taken of a job whose checkpoints are incremental.",
    ),
    _twin(
        savepoints.CASES,
        "savepoints/claimed",
        _plan(STOPPED, _goes_on(), options={**IN_FILES, **CLAIMED}),
        "SAVEPOINT/claimed-left",
        method="A job is stopped with a savepoint, and another claims it.",
    ),
    _twin(
        savepoints.CASES,
        "savepoints/not-claimed",
        _plan(STOPPED, _goes_on(), options=IN_FILES),
        "SAVEPOINT/savepoint-deleted",
        method="A job is stopped with a savepoint, and another goes on from it without claiming it.",
    ),
    _twin(
        savepoints.CASES,
        "savepoints/in-flight",
        _plan(savepoint(after_checkpoint=3), options=UNALIGNED),
        "SAVEPOINT/carries-in-flight",
        method="A savepoint is taken of a job whose checkpoints are unaligned.",
        without="savepoints-time-out",
    ),
    _twin(
        savepoints.CASES,
        "savepoints/struck",
        _plan(STOPPED, kill(WORKERS[0], after_checkpoint=3, at_event="savepoint_triggered"), _goes_on()),
        "COORD/restored-not-latest",
        method="SIGKILL hits a TaskManager when a job is stopped with a savepoint.",
    ),
    _twin(
        retention.CASES,
        "retention/by-path",
        _plan(command("cancel", after_checkpoint=3), _goes_on("checkpoint_retained"), options={**KEPT, **IN_FILES}),
        "RETAIN/restored-elsewhere",
        "RETAIN/deleted-after-end",
        "COORD/wrong-first-id",
        method="A job is cancelled that retains its checkpoints, and another goes on from the last one.",
        windows=(Window.RESTORED_STATE,),
    ),
    _twin(
        state_backends.CASES,
        "state-backends/rocksdb-widths",
        _plan(STOPPED, _goes_on(parallelism=1), options={"state.backend.type": "rocksdb", **IN_FILES}),
        "EXACT/row-wrong",
        "EXACT/counts-stepped-back",
        "EXACT/input-missing",
        method="A job is stopped with a savepoint, and another of half the width goes on from it, in RocksDB.",
        windows=(Window.RESTORED_STATE,),
    ),
    _twin(
        configuration.CASES,
        "configuration/refused",
        each_of(REFUSED),
        "LOUD/accepted-bad-option",
        method="A job is submitted with each option of its own one step beyond its limit.",
        runs=len(REFUSED),
    ),
    _twin(
        configuration.CASES,
        "configuration/accepted",
        _plan(options=AT_LIMITS),
        "LOUD/refused-good-option",
        method="A job runs with options exactly at their limits.",
    ),
    _twin(
        configuration.CASES,
        "configuration/unaligned-and-concurrent",
        each_of(EXCLUSIVE),
        "LOUD/accepted-bad-option",
        method="A job is submitted with both.",
    ),
    _control(
        "keeps-in-field",
        _plan(*STRUCK_TWICE),
        "EXACT/row-wrong",
        "EXACT/counts-stepped-back",
        purpose="that keeps its sums in a field, where no checkpoint holds them",
    ),
    _control(
        "writes-at-once",
        _plan(*STRUCK_TWICE),
        "EXACT/row-repeated",
        "EXACT/counts-stepped-back",
        purpose="whose rows are visible before their checkpoint is complete",
    ),
    _control(
        "changes-uid",
        _plan(STOPPED, _goes_on()),
        "SAVEPOINT/not-resumed",
        purpose="whose operators have other uids when it is submitted again",
    ),
)
