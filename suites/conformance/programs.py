"""Programs that acknowledge their input and keep a table, what they offer beside the sum, and engines that read a log.

What is left of each after kills (RULES E2E). A kill of a program is placed by what it has persisted: before it has
acknowledged anything, once it has, once it has again in a life that began from its table, and while an acknowledgement
is on its way. So it makes no difference how often a program persists, or how long it takes to start.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.faults.damage import damage
from holdfast.faults.membership import leave
from holdfast.faults.process import kill, pause
from holdfast.faults.user import command, stop
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision, Plans, Tier, Window, plan_for
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import BOUNDED_JOBS, KEYED_SUM
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Gate, Plan, Topology, WorkloadSpec
from holdfast.suites.conformance.plans import WORKERS, case, decides, with_needs

PROGRAM = WORKERS[0]
BEFORE_ANYTHING = kill(PROGRAM, at_event="program_ready")


def in_life(restored: int, acknowledged: int = 1, **when: Any) -> FaultSpec:
    """A kill once so many lives have begun from the table, and the last of them has acknowledged so often."""
    return kill(PROGRAM, after_restored=restored, after_acknowledged=acknowledged, **when)


def unheard(restored: int) -> FaultSpec:
    """The same, while an acknowledgement is on its way: it is lost, and what it answers for is sent again."""
    return in_life(restored, gate=Gate("acknowledge", PROGRAM))


def programs(*faults: FaultSpec, system: str = "persists-first", job: Job = KEYED_SUM, workers: int = 1) -> Plan:
    """A keyed sum of 6,000 records; they come in for three seconds, or for as long as it takes to acknowledge them."""
    return Plan(
        system=system,
        job=job,
        topology=Topology(parallelism=workers),
        workload=WorkloadSpec(
            "synthetic",
            {"records": 6_000, "keys": 8, "partitions": 2, "preloaded_percent": 10, "records_per_second": 1_000},
        ),
        faults=faults,
        bounds=Bounds(safety_ms=40_000, liveness_ms=60_000, settle_ms=500),
        expected_end=ExpectedEnd.FINISHED if job.bounded else ExpectedEnd.RUNNING,
    )


KILLED = programs(in_life(0, 2), in_life(1, 4), in_life(2, 4))
UNHEARD = programs(BEFORE_ANYTHING, in_life(0), unheard(1), unheard(2))
WRONG_AFTER_A_RESTORE = (
    ("doubles", "counts again what is sent again", UNHEARD, "EXACT/row-wrong", Window.SENT_AGAIN),
    ("loses", "continues from positions that are ahead of its sums", KILLED, "EXACT/row-wrong"),
    ("forgets", "continues from the table before the last one", KILLED, "EXACT/row-wrong"),
    ("skips", "passes over a message whose first record it has", UNHEARD, "EXACT/row-wrong", Window.SENT_WITH_NEW),
    ("reorders", "first publishes what its sums were before the last message", UNHEARD, "EXACT/counts-stepped-back"),
)
"""By program, what it does after a restore, where it shows, and the clause that must refute it."""


def control(name: str, what: str, chosen: Plan, refutes: str, *windows: Window) -> Case:
    """A program that is right until it has restored something, or until it hits these windows, too."""
    return case(f"programs/{name}-after-restore-control", f"Negative control: is a program found out that {what}?",
                replace(chosen, system=f"json-lines+{name}-after-restore"), refutes=frozenset({refutes}),
                windows=(Window.RESTORED_STATE, *windows), tiers=(Tier.PROCESS,),
                needs=frozenset({Capability.ACKNOWLEDGES_INPUT}), method="The same kills.",
                passes="An oracle refutes it.")  # fmt: skip


CASES = with_needs(
    case("programs/killed", "Does every record count once in a table whose writer is killed?", (UNHEARD, KILLED),
         decides("E2E-02", "EXACT/row-wrong", "EXACT/input-missing", wrong="system:acknowledges-first"),
         decides("REC-03", "EXACT/row-wrong", "EXACT/input-missing", wrong="system:acknowledges-first"),
         decides("E2E-04", "NOLOSS/input-lost", wrong="system:acknowledges-first"),
         decides("REC-04", "NOLOSS/input-lost", wrong="system:acknowledges-first"),
         windows=(Window.RESTORED_STATE, Window.SENT_AGAIN, Window.SENT_WITH_NEW), tiers=(Tier.PROCESS,),
         needs=frozenset({Capability.ACKNOWLEDGES_INPUT}), mutant_plan=KILLED,
         method="The feeder sends again what was not acknowledged. SIGKILL hits the program before it has persisted "
                "anything, after that, after each restore, and while an acknowledgement is on its way.",
         passes="Every row is what the oracle's model holds at its counts, and the last rows hold the whole input."),
    *(control(*wrong) for wrong in WRONG_AFTER_A_RESTORE),
)  # fmt: skip


SECOND = WORKERS[1]
CHECKPOINTED = programs(kill(PROGRAM, after_checkpoint=2), in_life(1, 3), kill(PROGRAM, after_checkpoint=9))
ENDED = programs(in_life(0, 2), unheard(1), job=BOUNDED_JOBS[f"bounded-{KEYED_SUM.name}"])
WORKERS_KILLED = programs(kill(SECOND, after_acknowledged=3), kill(PROGRAM, after_restored=1, after_acknowledged=3),
                          kill(SECOND, after_restored=2, gate=Gate("acknowledge", SECOND)), workers=2)  # fmt: skip
RESCALED = programs(kill(SECOND, after_acknowledged=3),
                    command("submit", {"parallelism": 3}, after_restored=1, after_acknowledged=3),
                    kill(PROGRAM, after_restored=2, after_acknowledged=3),
                    command("submit", {"parallelism": 1}, after_restored=4, after_acknowledged=3),
                    workers=2)  # fmt: skip
STOPPED = programs(in_life(0, 3), stop(after_restored=1, after_acknowledged=3),
                   command("submit", at_event="savepoint_completed"), in_life(2, 3))  # fmt: skip
DAMAGED = tuple(
    programs(damage("state", way, 1_500, after_acknowledged=3), in_life(1, 3)) for way in ("truncate", "flip")
)
BY_RESULT = ("EXACT/row-wrong", "EXACT/input-missing")
CHECKPOINTS, SEVERAL = Capability.REPORTS_CHECKPOINTS, Capability.SEVERAL_WORKERS


def offered(
    name: str,
    purpose: str,
    method: str,
    plan: Plans,
    *decides: Decision,
    needs: tuple[str, ...] = (),
    passes: str = "Every row is what the oracle's model holds at its counts, and the last rows hold the whole input.",
) -> Case:
    """What a program is put to that offers something; what its plan needs is found there."""
    return case(name, purpose, plan, *decides, windows=(Window.RESTORED_STATE,), tiers=(Tier.PROCESS,),
                needs=frozenset({Capability.ACKNOWLEDGES_INPUT, *needs}),
                mutant_plan=None if isinstance(plan, Plan) else plan_for(plan, 0), method=method,
                passes=passes)  # fmt: skip


def refuted(name: str, what: str, chosen: Plan, refutes: str, *needs: str, or_by: str = "") -> Case:
    """A program that is wrong in what it offers. `or_by`: where it shows instead, in a kill at another moment."""
    return case(f"programs/{name}-control", f"Negative control: is a program found out that {what}?",
                replace(chosen, system=f"json-lines+{name}"), refutes=frozenset(filter(None, (refutes, or_by))),
                tiers=(Tier.PROCESS,), needs=frozenset({Capability.ACKNOWLEDGES_INPUT, *needs}),
                method="The plan of the case for what it offers.", passes="An oracle refutes it.")  # fmt: skip


def by(name: str) -> str:
    """A wrong program of ours."""
    return f"system:json-lines+{name}"


OFFER_CASES = with_needs(
    offered("programs/checkpoints", "Does a program restore the newest checkpoint that it has reported?",
            "It is killed after the second and the ninth checkpoint, and once in between.", CHECKPOINTED,
            decides("REC-01", "RESUME/older-restored", "RESUME/nothing-restored",
                    wrong=by("restores-older-checkpoint")),
            decides("REC-02", "RESUME/position-behind",
                    wrong="history:resume/position-behind/ready-before-the-checkpoint"),
            needs=(CHECKPOINTS,),
            passes="Each life restores the newest one reported, and is ready at its positions or later."),
    offered("programs/end-of-input", "Is everything in the table when a program says that it has finished?",
            "Its input ends. It is killed once it has acknowledged, and while an acknowledgement is on its way.", ENDED,
            decides("FIN-03", "EXACT/input-missing", wrong=by("finishes-early"))),
    offered("programs/workers", "Does every record count once in a table that several processes write?",
            "Two workers have partitions of their own, and are killed one by one.", WORKERS_KILLED,
            decides("REC-03", *BY_RESULT, wrong=by("overwrites-neighbours")), needs=(SEVERAL,)),
    offered("programs/rescaled", "Does every record count once though other workers are given its partition?",
            "Two workers become three, and then one; each time one of them is killed before.", RESCALED,
            decides("RSC-05", *BY_RESULT, wrong=by("forgets-in-rescale")), needs=(SEVERAL,)),
    offered("programs/stopped-with-savepoint", "Does a program go on from its savepoint as if nothing had been?",
            "It is stopped with a savepoint and started from that, with kills before and behind.", STOPPED,
            decides("SAV-03", *BY_RESULT, wrong=by("ignores-savepoint"))),
    offered("programs/damaged", "Does a program notice that a file of its store was cut or changed?",
            "It is killed, and its largest file is damaged. The file is put back once the program has refused to "
            "start.",
            DAMAGED, decides("REC-08", *BY_RESULT, wrong=by("takes-torn-for-empty")),
            decides("STO-06", *BY_RESULT, wrong=by("takes-torn-for-empty"))),
    refuted("restores-older-checkpoint", "restores an older one", CHECKPOINTED, "RESUME/older-restored", CHECKPOINTS,
            or_by="RESUME/position-behind"),
    refuted("finishes-early", "finishes before its last message is in the table", ENDED, "EXACT/input-missing"),
    refuted("overwrites-neighbours", "writes files of other workers", WORKERS_KILLED, "EXACT/input-missing", SEVERAL),
    refuted("forgets-in-rescale", "begins empty where another worker was", RESCALED, "EXACT/input-missing", SEVERAL),
    refuted("ignores-savepoint", "begins empty behind its savepoint", STOPPED, "EXACT/input-missing"),
    refuted("takes-torn-for-empty", "begins empty if it cannot read a file", DAMAGED[0], "EXACT/input-missing"),
)  # fmt: skip


FIRST = WORKERS[0]
NEEDS = frozenset({Capability.READS_LOG})
WRONG = "system:holdfast.suites.certify.scaffolds.system.wrong:WrongEngine"


def engines(*faults: FaultSpec, workers: int = 1, system: str = "") -> Plan:
    """A keyed sum of 4,000 records; they come in as fast as the engine persists what they do."""
    return Plan(
        system=system or "holdfast.suites.certify.scaffolds.system.right:Engine",
        job=KEYED_SUM,
        topology=Topology(parallelism=workers),
        workload=WorkloadSpec(
            "synthetic",
            {"records": 4_000, "keys": 8, "partitions": 2, "preloaded_percent": 5, "records_per_second": 500},
        ),
        faults=faults,
        bounds=Bounds(safety_ms=90_000, liveness_ms=90_000, settle_ms=500),
    )


def killed(restored: int, **when: Any) -> FaultSpec:
    """A kill once so many lives have begun from what was persisted, and something more is."""
    return kill(FIRST, after_restored=restored, after_acknowledged=2, **when)


BEHIND_ROWS = "rows_visible"
"""Rows of a wrong engine may be ahead of its positions."""
KILLED_ENGINES = engines(killed(0), killed(1, at_event=BEHIND_ROWS), killed(2, at_event=BEHIND_ROWS))

ENGINE_CASES = with_needs(
    case("engines/killed", "Does every record count once in the output of an engine that is killed?", KILLED_ENGINES,
         decides("E2E-02", "EXACT/row-wrong", "EXACT/input-missing", wrong=WRONG),
         decides("REC-03", "EXACT/row-wrong", "EXACT/input-missing", wrong=WRONG), windows=(Window.RESTORED_STATE,),
         runs=2, tiers=(Tier.PROCESS,), needs=NEEDS, mutant_plan=KILLED_ENGINES,
         method="SIGKILL hits its first process once it has persisted something, and in later lives when rows appear.",
         passes="Every row is what the oracle's model holds at its counts, and the last rows hold the whole input."),
    case("engines/paused", "Does every record count once in the output of an engine whose process stands still?",
         engines(pause(FIRST, 1_500, after_acknowledged=2), killed(0),
                 pause(FIRST, 1_500, after_restored=1, after_acknowledged=2)),
         windows=(Window.RESTORED_STATE,), tiers=(Tier.PROCESS,), needs=NEEDS,
         method="SIGSTOP for a while, before and after a kill.", passes="As for engines/killed."),
    case("engines/rebalanced", "Does every record count once where workers leave and join?",
         engines(leave(SECOND, 2_000, after_acknowledged=2), kill(FIRST, after_restored=1, after_acknowledged=2),
                 leave(SECOND, 2_000, after_restored=2, after_acknowledged=2), workers=2),
         windows=(Window.RESTORED_STATE,), tiers=(Tier.PROCESS,), needs=NEEDS,
         method="The second of two workers leaves in good order and joins again, twice; meanwhile the first is killed.",
         passes="As for engines/killed."),
)  # fmt: skip
