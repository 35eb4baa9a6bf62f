"""What a recovery restores, from local copies too, what restarts, and what comes out (RULES REC, LOC, RST-06)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.faults.damage import damage, spoil_local_copy
from holdfast.faults.input import poison, surge
from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Window
from holdfast.harness.model.jobs import FORWARD, REDUCED, TWO_PIPELINES
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR, Target
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    EXACT_ROWS,
    FAILOVER,
    RESTART,
    STATE_IN_FILES,
    WORKERS,
    case,
    decides,
    gate,
    plan,
    with_needs,
)

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


DIRECTORY = {**plans.STATE_IN_FILES, f"{CHECKPOINTING}.dir": "file:///checkpoints"}
ON = {**DIRECTORY, "execution.state-recovery.from-local": "true"}
OLD_SPELLING = {**DIRECTORY, "state.backend.local-recovery": "true"}
IN_MEMORY = {**plans.STATE_IN_FILES, "execution.state-recovery.from-local": "true"}
UNALIGNED = {**ON, f"{CHECKPOINTING}.unaligned.enabled": "true"}
KILLED = kill(WORKERS[0], after_checkpoint=3)
BEFORE_ACK = kill(WORKERS[0], after_checkpoint=3, gate=gate("acknowledge", WORKERS[0], "sum"))
"""The copy of a checkpoint lies there that never completes."""


def local(*faults: FaultSpec, options: Mapping[str, str] = ON, **fields: Any) -> Plan:
    """A plan whose workers keep copies."""
    return plan(*faults, options=options, **fields)


def spoilt(way: str) -> Plan:
    """The newest copy of a worker is spoilt, which then dies."""
    before = (spoil_local_copy(0, "remember", after_checkpoint=2),) if way == "stale" else ()
    return local(*before, spoil_local_copy(0, way, after_checkpoint=3), KILLED)


INTACT = (local(KILLED), local(BEFORE_ACK, options=OLD_SPELLING))

LOCAL_CASES = with_needs(
    case("local-recovery/off", "Are there no local copies where nobody asked for them, or where they are excluded?",
         (local(KILLED, options=DIRECTORY), local(KILLED, options=IN_MEMORY), local(KILLED, options=UNALIGNED)),
         decides("LOC-01", "LOCAL/kept-though-off", wrong="keeps-copies-unasked"), windows=(Window.RESTORED_STATE,),
         method="A worker dies: without the option, with state in the coordinator's memory, with unaligned "
                "checkpoints.",
         passes="No local copy is written or used, and the output is the same as with them."),
    case("local-recovery/intact",
         "Does a restore use the intact copy on the worker's own disk, and nothing that is older or newer?", INTACT,
         decides("LOC-03", "LOCAL/intact-copy-unused", wrong="never-looks-for-copies"),
         decides("LOC-04", "LOCAL/copy-left", wrong="never-prunes-copies"),
         decides("LOC-04", "LOCAL/moved", wrong="history:local/moved/two-subtasks-change-places"),
         decides("REC-09", "RESTORE/state-differs", wrong="N2"), windows=(Window.RESTORED_STATE,),
         mutant_plan=INTACT[1], tiers=EVERYWHERE,
         method="A worker dies, once with a copy on its disk of a checkpoint that never completes.",
         passes="Every subtask restores from the local copy of the restored checkpoint, reads nothing of that from the "
                "checkpoint storage, and starts where it was before."),
    case("local-recovery/two-operators", "Are the copies of two operators on one worker kept apart?",
         local(kill(WORKERS[0], after_checkpoint=3), job=REDUCED, expected_end=ExpectedEnd.FINISHED),
         decides("LOC-03", "LOCAL/spoilt-copy-used", wrong="N1"), windows=(Window.RESTORED_STATE,),
         method="A worker with two keyed operators dies.", passes="Each of them restores its own state."),
    case("local-recovery/spoilt", "Is a damaged, partial, stale, foreign or missing copy passed over?",
         tuple(spoilt(way) for way in ("flip", "truncate", "foreign", "stale", "remove")),
         decides("LOC-03", "LOCAL/spoilt-copy-used", wrong="trusts-name-of-copy"),
         decides("LOC-03", "LOCAL/spoilt-copy-fatal", wrong="insists-on-copy"), pictures=("local-recovery",),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="The newest copies of a worker are changed, cut, exchanged or removed, and the worker dies.",
         passes="No such copy is used, and the state is read from the checkpoint storage without anybody's doing."),
    case("local-recovery/unwritten", "Does a checkpoint complete whose local copies cannot be written?",
         local(storage_error("write-local", how={"occurrences": 3}, after_checkpoint=1), KILLED),
         decides("LOC-02", "LOCAL/local-failure-counts", wrong="needs-local-copy"), tiers=EVERYWHERE,
         method="Writing local copies fails a few times, and a worker dies.",
         passes="No checkpoint is declined for it."),
    case("local-recovery/unstored", "Is a checkpoint declined whose state is on local disks alone?",
         local(storage_error("write-state", how={"occurrences": 2}, after_checkpoint=2),
               options={**ON, **plans.TOLERANT}),
         decides("LOC-02", "LOCAL/acked-unstored", wrong="takes-local-for-stored"),
         method="Storing state in the checkpoint storage fails a few times.",
         passes="What could not be stored is never acknowledged."),
    case("local-recovery/unreadable", "Is the checkpoint storage read where the local disk fails?",
         local(storage_error("read-local", how={"occurrences": 2}, after_checkpoint=3), KILLED),
         windows=(Window.RESTORED_STATE,),
         method="Reading local copies fails, and a worker dies.", passes="The job goes on as if there were no copies."),
    needs=frozenset({Capability.LOCAL_RECOVERY}),
)  # fmt: skip


REGION, FULL = {FAILOVER: "region"}, {FAILOVER: "full"}
LONGER = {"records": 240}
EVEN = {"partitions": 4, "records": 240}
ONE_ROW = {f"{RESTART}.type": "exponential-delay", f"{RESTART}.exponential-delay.initial-backoff": "50 ms"}
JUST_ENOUGH = {f"{RESTART}.exponential-delay.attempts-before-reset-backoff": "2"}


def _pipelines(strategy: dict[str, str]) -> Plan:
    """A record of the left pipeline fails its source for a while; then a worker dies, which runs parts of both."""
    failures = (poison(300), kill(WORKERS[1], after_checkpoint=4))
    options = {**strategy, f"{plans.CHECKPOINTING}.interval": "60 ms"}
    return plan(*failures, job=TWO_PIPELINES, options=options, records=EVEN)


def _chains(strategy: dict[str, str]) -> Plan:
    """Each worker hosts a chain of its own; both die, one after the other."""
    kills = (kill(WORKERS[0], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=3))
    return plan(*kills, job=FORWARD, options=strategy, records=LONGER)


TOGETHER = plan(kill(WORKERS[0], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=3), job=TWO_PIPELINES,
                options={**REGION, **ONE_ROW, **JUST_ENOUGH}, records=EVEN)  # fmt: skip
"""Each death hits two regions; the row has room for two."""
DURING_DELAY = plan(kill(WORKERS[0], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=1, at_event="node_started"),
                    job=FORWARD, options={**REGION, f"{RESTART}.fixed-delay.delay": "200 ms"},
                    records=LONGER)  # fmt: skip
"""The second worker dies when the first is back and the region of the first still waits."""

REGION_CASES = with_needs(
    case("regions/same-results", "Do regional and full restart give the same results?",
         tuple(make(strategy) for make in (_pipelines, _chains) for strategy in (REGION, FULL)),
         decides("REC-06", "EXACT/row-repeated", "EXACT/input-missing", wrong="region-starts-empty"),
         decides("REC-06", "RESTORE/position-differs", wrong="source-skips-one"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="Two disjoint pipelines with a poisoned record and a killed worker, and one chain per worker with two "
                "kills, each under both strategies.",
         passes="Every record has its row once, whichever strategy restarts it."),
    case("regions/only-affected", "Does a failure restart the regions that it hits, whole, and no other?",
         (_pipelines(REGION), _chains(REGION)),
         decides("REC-06", "REGION/unaffected-restarted", wrong="restarts-every-region"),
         decides("REC-06", "REGION/region-torn", wrong="tears-region"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="Two disjoint pipelines with a poisoned record and a killed worker, and one chain per worker with two "
                "kills, under regional failover.",
         passes="Every attempt after the first is one of whole regions in which something failed."),
    case("regions/simultaneous", "Do failures that come together count as one in an exponential delay?", TOGETHER,
         decides("RST-06", "COUNT/simultaneous-counted", wrong="lengthens-for-simultaneous"),
         decides("RST-06", "COUNT/failed-too-early", wrong="counts-simultaneous"), windows=plans.RESTORED,
         method="Both workers die, one after the other; on each runs a part of two regions, which both fail; two "
                "restarts in a row are allowed.",
         passes="The second region of each failure waits for what is left of the delay of the first, and the job "
                "runs."),
    case("regions/own-delay",
         "Does a region that fails while another one waits for its restart wait for a delay of its own?", DURING_DELAY,
         decides("RST-03", "COUNT/delay-too-short", wrong="obeys-old-restart-timers"), windows=plans.RESTORED,
         method="One chain per worker under regional failover; the second worker dies during the delay of the first.",
         passes="Each region restarts when the delay after its own failure is over."),
)  # fmt: skip
