"""What programs of version 2 offer beside the sum: checkpoints, an end of input, several workers, a rescale, a stop
with a savepoint, and a store whose damage they notice (RULES REC, FIN, RSC, SAV, STO).

Each case is put to programs that offer what it is about; each has a control that is wrong in that, and in nothing else.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.damage import damage
from holdfast.faults.process import kill
from holdfast.faults.savepoint import stop
from holdfast.faults.user import command
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision, Plans, Tier, plan_for
from holdfast.harness.model.jobs import BOUNDED_JOBS, KEYED_SUM
from holdfast.harness.model.plan import Gate, Plan
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import WORKERS, case, decides, with_needs
from holdfast.suites.conformance.programs import PROGRAM, in_life, programs, unheard

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


def control(name: str, what: str, chosen: Plan, refutes: str, *needs: str, or_by: str = "") -> Case:
    """A program that is wrong in what it offers. `or_by`: where it shows instead, in a kill at another moment."""
    return case(f"programs/{name}-control", f"Negative control: is a program found out that {what}?",
                replace(chosen, system=f"json-lines+{name}"), refutes=frozenset(filter(None, (refutes, or_by))),
                tiers=(Tier.PROCESS,), needs=frozenset({Capability.ACKNOWLEDGES_INPUT, *needs}),
                method="The plan of the case for what it offers.", passes="An oracle refutes it.")  # fmt: skip


def by(name: str) -> str:
    """A wrong program of ours."""
    return f"system:json-lines+{name}"


CASES = with_needs(
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
    control("restores-older-checkpoint", "restores an older one", CHECKPOINTED, "RESUME/older-restored", CHECKPOINTS,
            or_by="RESUME/position-behind"),
    control("finishes-early", "finishes before its last message is in the table", ENDED, "EXACT/input-missing"),
    control("overwrites-neighbours", "writes files of other workers", WORKERS_KILLED, "EXACT/input-missing", SEVERAL),
    control("forgets-in-rescale", "begins empty where another worker was", RESCALED, "EXACT/input-missing", SEVERAL),
    control("ignores-savepoint", "begins empty behind its savepoint", STOPPED, "EXACT/input-missing"),
    control("takes-torn-for-empty", "begins empty if it cannot read a file", DAMAGED[0], "EXACT/input-missing"),
)  # fmt: skip
