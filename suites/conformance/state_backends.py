"""State backends of the SPI under real processes that die (RULES SBK, INC, REC, RSC): RocksDB, and others by name."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.process import kill
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier, Window
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import DEDUPLICATE, DELAYED_SUM, SESSION_SUM, SLIDING_SUM, TOP_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.incremental import AFTER_RESTARTS, INCREMENTAL, LONG, SHARING
from holdfast.suites.conformance.operators import KEYED
from holdfast.suites.conformance.plans import EXACT_SUMS, STATE_IN_FILES, WORKERS, case, decides, gate, plan, with_needs
from holdfast.suites.conformance.rescaling import BY_KEY as RESCALED
from holdfast.suites.conformance.rescaling import RETAIN, rescaled

FULL = {profile.BACKEND: "rocksdb", **STATE_IN_FILES}
COPIED = {**FULL, profile.DIRECTORY: "file:///checkpoints", profile.LOCAL_RECOVERY: "true"}
FOREIGN = "holdfast.fixtures.backends.named_files:NamedFilesBackend"
LOSES = "holdfast.fixtures.mutants.state_backends.loses_the_unflushed:LosesTheUnflushed"
PATIENT = Bounds(safety_ms=30_000, liveness_ms=30_000)


def _plan(*faults: FaultSpec, options: Mapping[str, str] = INCREMENTAL) -> Plan:
    return plan(*faults, options=options, records=LONG, bounds=PATIENT)


AT_WRITES = (
    _plan(kill(WORKERS[1], after_checkpoint=2, gate=gate("acknowledge", WORKERS[1], "sum"))),
    _plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("publish-metadata", COORDINATOR))),
    _plan(kill(COORDINATOR, after_checkpoint=3, gate=gate("notify", COORDINATOR))),
)
"""Between an upload and its acknowledgement, and in front of and behind a completion."""
CHAINS = (
    _plan(kill(WORKERS[0], after_checkpoint=6), kill(COORDINATOR, after_checkpoint=9)),
    _plan(kill(WORKERS[0], after_checkpoint=3), options=COPIED),
    _plan(kill(WORKERS[1], after_checkpoint=3), options={**INCREMENTAL, profile.BACKEND: FOREIGN}),
)


def widths(*faults: FaultSpec, options: Mapping[str, str] = INCREMENTAL) -> Plan:
    """A job on two workers goes on with four, and then with two."""
    return rescaled(2, 4, 2, faults=faults, options={**RETAIN, **options}, bounds=PATIENT)


def by_key(job: Job, options: Mapping[str, str] = INCREMENTAL) -> Plan:
    """A job whose state lies in a backend alone; a worker is killed."""
    return plan(kill(WORKERS[0], after_checkpoint=2), job=job, options=options, bounds=PATIENT)


BY_NIGHT = (
    _plan(kill(WORKERS[0], after_checkpoint=3, gate=gate("during-write-state", WORKERS[0]))),
    _plan(kill(WORKERS[0], after_checkpoint=3), options=FULL),
    _plan(kill(WORKERS[0], after_checkpoint=6), options={**INCREMENTAL, profile.CHANGELOG: "true"}),
    widths(options=FULL),
    by_key(TOP_SUM),
    by_key(DEDUPLICATE),
    by_key(DELAYED_SUM),
)
"""More of the same, which is left to the night (suites/selfcheck/processes/test_state_on_disk.py)."""

CASES = with_needs(
    case("state-backends/rocksdb-at-writes",
         "Does what RocksDB has stored survive deaths around the moment when a checkpoint owns it?", AT_WRITES,
         decides("INC-02", "SHARED/deleted-in-use", wrong="deletes-with-dropped"),
         decides("REC-03", *EXACT_SUMS, wrong="source-repeats-one"), windows=(Window.RESTORED_STATE,),
         tiers=(Tier.PROCESS,), needs=SHARING, mutant_plan=AFTER_RESTARTS,
         method="SIGKILL hits a worker between upload and acknowledgement, and the coordinator before and after a "
                "completion; state is kept in a real RocksDB, whose tables later checkpoints share.",
         passes="No file is deleted that a checkpoint reaches, none stays that no checkpoint reaches, and each row is "
                "the effect of every record once."),
    case("state-backends/rocksdb-chains",
         "Is a chain of increments restored, and so are a local copy and somebody else's backend?", CHAINS,
         decides("INC-02", "SHARED/deleted-in-use", wrong="deletes-with-dropped"),
         decides("REC-03", *EXACT_SUMS, wrong="source-repeats-one"), windows=(Window.RESTORED_STATE,),
         tiers=(Tier.PROCESS,), needs=SHARING, mutant_plan=AFTER_RESTARTS,
         method="Workers and the coordinator are killed once several increments rest on each other, with full "
                "snapshots and local copies, and with a backend by its name.",
         passes="Each checkpoint restores to what its subtasks had, and each row is the effect of every record once."),
    case("state-backends/rocksdb-widths",
         "Do tables of RocksDB come to the subtasks that own their key groups at another width?",
         widths(kill(WORKERS[1], after_checkpoint=5)), decides("RSC-01", *EXACT_SUMS, wrong="source-repeats-one"),
         windows=(Window.RESTORED_STATE,), tiers=(Tier.PROCESS,), needs=SHARING, mutant_plan=RESCALED,
         method="A job on two workers goes on with four and then with two again; a worker is killed in between.",
         passes="Each key group has one owner with its state, and each row is the effect of every record once."),
    case("state-backends/operators-by-key",
         "Do sessions and windows come back as they were, from the heap and from RocksDB?",
         (by_key(SESSION_SUM, {}), by_key(SLIDING_SUM)),
         decides("REC-07", "WINDOW/window-wrong", "WINDOW/window-unknown", wrong="ends-sessions-by-steady-clock"),
         windows=(Window.RESTORED_STATE,), tiers=(Tier.PROCESS,), needs=SHARING,
         mutant_plan=[each for each in KEYED if each.job is SESSION_SUM],
         method="Event time crosses real channels, a worker is killed, and timers are restored.",
         passes="Every row is what the oracle's own interpretation of the job has at that prefix of the input."),
    case("state-backends/loss-control", "Is it shown that a backend stores tables without what is only in memory?",
         _plan(kill(WORKERS[0], after_checkpoint=3), options={**INCREMENTAL, profile.BACKEND: LOSES}),
         refutes=frozenset({"RESTORE/audit-differs", "RESTORE/state-differs", "EXACT/input-missing"}),
         tiers=(Tier.PROCESS,), needs=SHARING,
         method="Such a backend is named, and a worker killed.",
         passes="What a checkpoint gives back is not what its subtasks had."),
)  # fmt: skip
