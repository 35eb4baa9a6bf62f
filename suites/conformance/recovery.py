"""What a recovery restores, and what comes out in the end (RULES REC)."""

from __future__ import annotations

from typing import Any

from holdfast.faults.damage import damage
from holdfast.faults.input import surge
from holdfast.faults.process import kill
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.target import COORDINATOR, Target
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EXACT_ROWS, STATE_IN_FILES, WORKERS, case, decides, gate, plan, with_needs

ON_WORKERS = (
    "send-barrier", "write-state", "during-write-state", "pre-commit", "during-pre-commit", "acknowledge", "commit",
    "during-commit",
)  # fmt: skip
ON_COORDINATOR = (
    "persist-job-record", "during-persist-job-record", "send-trigger", "publish-metadata", "during-publish-metadata",
    "notify", "delete", "during-delete",
)  # fmt: skip
WORKERS_RECOVER = ("read-state", "restored")
COORDINATOR_RECOVERS = ("recover", "deploy")
BEFORE_FIRST = ("restored", "send-barrier", "write-state", "pre-commit", "acknowledge")
COORDINATOR_BEFORE_FIRST = ("deploy", "persist-job-record", "send-trigger", "publish-metadata", "notify")


def _crash(target: Target, effect: str) -> Plan:
    """A process dies in front of, or in the middle of, one of its steps."""
    return plan(kill(target, after_checkpoint=1, gate=gate(effect, target)), options=STATE_IN_FILES)


def _crash_again(target: Target, effect: str, times: int = 1) -> Plan:
    """A worker dies, and in the recovery from that a process dies in front of one of its steps."""
    again = [kill(target, after_checkpoint=2, gate=gate(effect, target)) for _ in range(times)]
    first = COORDINATOR if effect == "recover" else WORKERS[1]
    return plan(kill(first, after_checkpoint=2), *again, options={**STATE_IN_FILES, **plans.TWO_RETAINED})


def _crash_early(target: Target, effect: str) -> Plan:
    """A process dies before any checkpoint is complete."""
    return plan(kill(target, gate=gate(effect, target)), options=STATE_IN_FILES)


CRASHES = (
    *(_crash(target, effect) for target in WORKERS for effect in ON_WORKERS),
    *(_crash(COORDINATOR, effect) for effect in ON_COORDINATOR),
    *(_crash_again(target, effect) for target in WORKERS for effect in WORKERS_RECOVER),
    *(_crash_again(COORDINATOR, effect) for effect in COORDINATOR_RECOVERS),
)
"""Every step of every participant."""
EARLY_CRASHES = (
    *(_crash_early(WORKERS[0], effect) for effect in BEFORE_FIRST),
    *(_crash_early(COORDINATOR, effect) for effect in COORDINATOR_BEFORE_FIRST),
)
TWO_KILLS = plan(kill(WORKERS[0], after_checkpoint=2), kill(WORKERS[1], after_checkpoint=3), options=plans.TWO_RETAINED)
START_AT_LATEST = plan(kill(COORDINATOR, gate=gate("publish-metadata", COORDINATOR)),
                       options={"scan.startup.mode": "latest-offset"},
                       records={"records": 80, "partitions": 1, "idle_partition": 0, "starts_ms": 30})  # fmt: skip
"""The job starts at the end of an empty partition, and dies when something is there."""
RECORDED: dict[str, Any] = {"after_checkpoint": 2, "gate": gate("send-trigger", COORDINATOR)}
"""The id of the next checkpoint is durable, and with it that the newest is complete. The coordinator stands there, so
none completes before the damage is done."""
WAYS = ("remove", "truncate", "flip")
WHO_READS = {"metadata": kill(COORDINATOR, **RECORDED),
             "state": kill(WORKERS[0], after_checkpoint=2, gate=gate("acknowledge", WORKERS[0]))}  # fmt: skip
"""By what is damaged, the death that makes somebody read it, before the next checkpoint can complete."""
UNREADABLE = tuple(
    plan(damage(part, way, 300, **RECORDED), WHO_READS[part], options={**STATE_IN_FILES, **retained})
    for part in ("metadata", "state")
    for way in WAYS
    for retained in ({}, plans.TWO_RETAINED)
)
"""A file of the newest checkpoint is spoilt as a process dies that makes somebody read it, and mended after a while."""
MISSING = UNREADABLE[0]
NOT_MENDED = tuple(
    plan(damage(part, "remove", **RECORDED), WHO_READS[part],
         options={**STATE_IN_FILES, f"{plans.RESTART}.fixed-delay.attempts": "3"}, expected_end=ExpectedEnd.FAILED)
    for part in ("metadata", "state")
)  # fmt: skip
BACKLOGS = tuple(
    plan(surge(300, 200, after_checkpoint=1), kill(WORKERS[0], after_checkpoint=2),
         options={f"{plans.RESTART}.fixed-delay.delay": "200 ms"},
         records={"records": 3 * rate, "records_per_second": rate})
    for rate in (100, 200, 400)
)  # fmt: skip
REREADS = tuple(
    plan(kill(WORKERS[0], after_checkpoint=2, at_event="checkpoint_triggered"),
         kill(WORKERS[1], after_checkpoint=4, gate=gate("acknowledge", WORKERS[1], "sink")),
         kill(WORKERS[0], after_checkpoint=6, at_event="rows_visible"),
         options={**plans.TWO_RETAINED, plans.FAILOVER: "full", f"{plans.CHECKPOINTING}.interval": f"{interval_ms} ms"},
         records={"records": 16 * interval_ms // 2, "preloaded_percent": 0})
    for interval_ms in (40, 80, 160)
)  # fmt: skip
"""Input arrives for as long as ten checkpoints or more take."""

CASES = with_needs(
    case("recovery/latest-checkpoint",
         "Do all tasks continue from the latest completed checkpoint, and the sources from its positions?", TWO_KILLS,
         decides("REC-01", "COORD/restored-not-latest", wrong="restores-older"),
         decides("REC-01", "COORD/tasks-restored-differently", wrong="restores-differently"),
         decides("REC-02", "RESTORE/position-differs", wrong="source-skips-one"), windows=plans.RESTORED,
         tiers=plans.EVERYWHERE, pictures=("recovery",),
         method="Two checkpoints are retained; both workers are killed one after the other.",
         passes="Each task of an attempt restores the one with the highest id that had completed, and the first "
                "offsets read afterwards are those that it holds."),
    case("recovery/read-from-positions", "Do restored sources read from where they report to continue?", TWO_KILLS,
         decides("REC-02", "RESTORE/read-elsewhere", wrong="reads-later"), windows=plans.RESTORED,
         method="Both workers are killed one after the other; the source system, which is the harness's own, records "
                "from which offset on it hands records to each attempt.",
         passes="The first offset that an attempt is handed is the one that its restored source reports."),
    case("recovery/crash-anywhere", "Is the output that of a failure-free run, whichever step a participant dies at?",
         CRASHES, decides("REC-03", *EXACT_ROWS, wrong="source-repeats-one"),
         windows=(*plans.RESTORED, Window.TRANSACTION_IN_DOUBT), pictures=("recovery",),
         method="Workers and coordinator are killed at each of their steps in turn, those of a recovery included.",
         passes="The committed output equals that of the oracle's model, once."),
    case("recovery/before-first-checkpoint",
         "Does a failure before the first checkpoint lead back to the initial state?",
         (*EARLY_CRASHES, START_AT_LATEST), decides("REC-04", "RESTORE/not-initial", wrong="forgets-start"),
         windows=(Window.RESTARTED_EMPTY,), mutant_plan=START_AT_LATEST,
         method="Workers and coordinator are killed at each step up to the first completion.",
         passes="An attempt that restores nothing starts empty, at the start of its input."),
    case("recovery/crash-in-recovery", "Is a failure during recovery recovered from the same checkpoint?",
         (*(_crash_again(WORKERS[0], effect, times=2) for effect in WORKERS_RECOVER),
          *(_crash_again(COORDINATOR, effect, times=2) for effect in COORDINATOR_RECOVERS)),
         decides("REC-05", "RESTORE/recovery-not-repeated", wrong="falls-back"), windows=plans.RESTORED,
         method="A process dies, and dies twice more in the recovery from that; two checkpoints are retained.",
         passes="After a failed restore the same checkpoint is restored again."),
    case("recovery/missing", "Does a recovery whose checkpoint is gone or damaged fail, instead of starting empty?",
         UNREADABLE, decides("REC-08", "LOUD/started-empty", wrong="starts-empty-if-missing"),
         decides("REC-08", *EXACT_ROWS, wrong="starts-empty"), windows=(Window.RESTORED_STATE,), tiers=plans.EVERYWHERE,
         mutant_plan=MISSING,
         method="Metadata or a state file of the newest checkpoint is removed, cut or changed in one bit, a "
                "coordinator or worker dies, and the file is mended after some attempts; one checkpoint is retained, "
                "or two.",
         passes="No attempt starts empty, and the output is that of the oracle's model once it is mended."),
    case("recovery/fails-visibly",
         "Does a job whose checkpoint stays unreadable fail in the end, as its restart strategy demands?", NOT_MENDED,
         decides("REC-08", "LIVE/end-not-reached", wrong="waits-for-lost-checkpoint"), tiers=plans.EVERYWHERE,
         mutant_plan=NOT_MENDED[0],
         method="Metadata or a state file of the newest checkpoint is removed for good; three restarts are allowed.",
         passes="The job fails, and reports why."),
    case("recovery/backlog", "Does the backlog of a downtime drain while input continues to come, at several rates?",
         BACKLOGS, decides("REC-10", "LIVE/input-not-drained", wrong="stops-after-restore"), windows=plans.RESTORED,
         method="A worker dies and the restart waits for 200 ms; meanwhile and afterwards input arrives at three "
                "rates, each three times as fast for a while.",
         passes="The last checkpoint covers all input."),
    case("recovery/read-again",
         "How much is read again after a failure, and how much more where checkpoints come less often?", REREADS,
         decides("REC-11", "REREAD/too-much", wrong="restores-older"), windows=plans.RESTORED,
         method="Workers die behind, between and in front of the completion of checkpoints; the interval is 40, 80 and "
                "160 ms. Every run reports how many records were read again.",
         passes="No failure costs more records than arrive in the interval and the time of a checkpoint."),
)  # fmt: skip
