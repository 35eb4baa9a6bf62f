"""Jobs with a feedback edge (RULES ITR)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.harness.model.configuration import Call
from holdfast.harness.model.lossy_jobs import ITERATION
from holdfast.harness.model.plan import Plan, Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import CHECKPOINTING, EVERYWHERE, WORKERS, case, decides, plan, with_needs
from holdfast.suites.conformance.submissions import Options, flat, refused, submitted

INTERVAL: Options = {f"{CHECKPOINTING}.interval": "1 s"}
FORCED: Options = {"holdfast.force-checkpointing": "true"}
UNALIGNED: Options = {f"{CHECKPOINTING}.unaligned.enabled": "true"}
UNALIGNED_FORCED: Options = {f"{CHECKPOINTING}.unaligned.forced": "true"}
CHAINED: Options = {"pipeline.operator-chaining.enabled": "true"}
REFUSED = [refused(INTERVAL, job=ITERATION), refused({}, Call("enable_checkpointing", (1_000,)), job=ITERATION),
           refused({}, Call("enable_checkpointing", (1_000, "EXACTLY_ONCE", False)), job=ITERATION),
           refused({}, file=flat(INTERVAL), job=ITERATION), refused(INTERVAL | UNALIGNED_FORCED, job=ITERATION),
           refused(INTERVAL | FORCED | UNALIGNED, job=ITERATION)]  # fmt: skip
ACCEPTED = [submitted({}, job=ITERATION), submitted(INTERVAL | FORCED, job=ITERATION),
            submitted({}, Call("enable_checkpointing", (1_000, "EXACTLY_ONCE", True)), job=ITERATION),
            submitted(INTERVAL | FORCED | UNALIGNED | UNALIGNED_FORCED, job=ITERATION)]  # fmt: skip
LAP, WAY_IN = (
    Target(Role.CHANNEL, network_channels(ITERATION, Topology()).index(channel))
    for channel in ("loop[0]->loop[1]", "source[0]->loop[1]")
)


def _crashed(options: Options, late: Target = LAP, delay_ms: int = 60, records: int = 240) -> Plan:
    """A part of the loop is slow, so that checkpoints find something in it, on a busy machine too if it is slow enough,
    for long enough; then a worker is killed."""
    return plan(slow(late, delay_ms, max(2_000, records * 5)), kill(WORKERS[0], after_checkpoint=2), job=ITERATION,
                options=FORCED | options, records={"records": records})  # fmt: skip


LATE = [_crashed(options, WAY_IN, 20) for options in ({}, CHAINED)]
"""The snapshot of one subtask of the loop comes long after that of the other."""

CASES = with_needs(
    case("iteration/refused", "Are checkpoints of a job with a feedback edge refused unless they are forced?", REFUSED,
         decides("ITR-01", "LOUD/accepted-bad-option", wrong="allows-any-loop"),
         method="Such a job is submitted with an interval, by option, call and file; with unaligned checkpoints, "
                "forced in one way where two are needed.",
         passes="Each is refused."),
    case("iteration/forced",
         "Is such a job accepted without checkpoints, and with forced ones, and is a possible loss reported?", ACCEPTED,
         decides("ITR-01", "LOUD/refused-good-option", wrong="refuses-every-loop"),
         decides("ITR-02", "CONFIG/warning-wrong", wrong="warns-of-nothing"),
         method="It is submitted without an interval, and forced by option and by call.",
         passes="Each is accepted; forced checkpoints give a warning that records in the loop may be lost."),
    case("iteration/confined", "Does a restart from a forced checkpoint lose what was in the loop, and nothing else?",
         [_crashed(options) for options in ({}, CHAINED, UNALIGNED | UNALIGNED_FORCED)],
         decides("ITR-02", "FEEDBACK/lost-outside-loop", wrong="source-skips-one"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="A part of the loop is slow, and a worker is killed; operators are chained or not, barriers overtake "
                "or not.",
         passes="Every record that has no row was in the loop when the checkpoint was taken that was restored."),
    case("iteration/once",
         "Does what is sent round behind a snapshot, and read again after a restart, take effect once?", LATE,
         decides("ITR-02", "NOREPEAT/record-repeated", wrong="lets-laps-overtake"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="One of two subtasks of the loop takes its snapshots late, and the other sends records round to it; a "
                "worker is killed.",
         passes="No record has two rows."),
    case("iteration/loss-control", "Does a crash show the loss where exactly-once is claimed for such a job?",
         replace(_crashed({}, delay_ms=200, records=1_200), system="reference+claims-exactly-once"),
         refutes=frozenset({"EXACT/input-missing"}), tiers=EVERYWHERE,
         method="The same loop and the same kill, under a claim of exactly-once.",
         passes="Records are missing from the output."),
)  # fmt: skip
