"""Where options come from: spellings, files, calls, and which of them wins (RULES CFG-07, CFG-08, RST-07)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.harness.model.configuration import Call, ConfigurationFile
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    FLAT,
    NESTED,
    RESTART,
    WORKERS,
    Options,
    case,
    decides,
    flat,
    nested,
    plan,
    refused,
    submitted,
    with_needs,
)

SPELLINGS = (
    ("state.backend", "state.backend.type", "rocksdb", "hashmap"),
    ("state.backend.incremental", f"{CHECKPOINTING}.incremental", "true", "false"),
    ("state.backend.local-recovery", "execution.state-recovery.from-local", "true", "false"),
    ("state.backend.local-recovery", f"{CHECKPOINTING}.local-backup.enabled", "true", "false"),
    ("state.checkpoint-storage", f"{CHECKPOINTING}.storage", "jobmanager", "filesystem"),
    ("state.checkpoints.dir", f"{CHECKPOINTING}.dir", "hdfs:///checkpoints/", "hdfs:///others/"),
    ("state.checkpoints.num-retained", f"{CHECKPOINTING}.num-retained", "2", "3"),
    ("state.savepoints.dir", f"{CHECKPOINTING}.savepoint-dir", "s3://bucket/savepoints", "s3://bucket/others"),
    ("state.storage.fs.memory-threshold", f"{CHECKPOINTING}.data-inline-threshold", "30kb", "31kb"),
    ("state.storage.fs.write-buffer-size", f"{CHECKPOINTING}.write-buffer-size", "8192", "4096"),
    ("taskmanager.state.local.root-dirs", f"{CHECKPOINTING}.local-backup.dirs", "/disk1", "/disk2"),
    ("restart-strategy", f"{RESTART}.type", "fixed-delay", "none"),
    (f"{CHECKPOINTING}.unaligned", f"{CHECKPOINTING}.unaligned.enabled", "true", "false"),
    (f"{CHECKPOINTING}.alignment-timeout", f"{CHECKPOINTING}.aligned-checkpoint-timeout", "1 s", "2 s"),
    (
        f"{CHECKPOINTING}.checkpoints-after-tasks-finish.enabled",
        f"{CHECKPOINTING}.checkpoints-after-tasks-finish",
        "false",
        "true",
    ),
    ("pipeline.operator-chaining", "pipeline.operator-chaining.enabled", "false", "true"),
)
"""In the spelling of the source documents, in that of 2.x, a value, another one."""
OF_ONE_SPELLING = (
    ("state.backend.async", "false"),
    (f"{RESTART}.fixed-delay.attempts", "3"),
    (f"{RESTART}.fixed-delay.delay", "10 s"),
    (f"{RESTART}.failure-rate.max-failures-per-interval", "3"),
    (f"{RESTART}.failure-rate.failure-rate-interval", "5 min"),
    (f"{RESTART}.failure-rate.delay", "10 s"),
    (f"{CHECKPOINTING}.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION"),
)
BACKENDS = (
    "jobmanager",
    "filesystem",
    "rocksdb",
    "hashmap",
    "MemoryStateBackend",
    "FsStateBackend",
    "RocksDBStateBackend",
    "org.apache.flink.runtime.state.filesystem.FsStateBackendFactory",
)
DIRECTORY: Options = {"state.checkpoints.dir": "hdfs:///checkpoints/"}
GIVEN: list[Options] = [
    *({old: value} for old, _, value, _ in SPELLINGS),
    *({new: value} for _, new, value, _ in SPELLINGS),
    *({old: value, new: value} for old, new, value, _ in SPELLINGS),
    *({key: value} for key, value in OF_ONE_SPELLING),
    *({"state.backend": name, **DIRECTORY} for name in BACKENDS),
]
CONTRADICTORY: list[Options] = [
    *({old: value, new: other} for old, new, value, other in SPELLINGS),
    {"state.backend": "filesystem", "state.checkpoint-storage": "jobmanager", **DIRECTORY},
]
UNREADABLE = (
    ConfigurationFile(FLAT, "restart-strategy fixed-delay\n"),
    ConfigurationFile(FLAT, "restart-strategy: fixed-delay\nrestart-strategy: none\n"),
    ConfigurationFile(NESTED, "restart-strategy:\n  type: fixed-delay\n delay: 1 s\n"),
    ConfigurationFile(NESTED, "restart-strategy: &strategy\n  type: none\n"),
    ConfigurationFile("flink.properties", "restart-strategy=none\n"),
)

FLAT_AS_USED = """\
# Common
jobmanager.rpc.address: localhost
taskmanager.numberOfTaskSlots: 4

state.backend: filesystem  # heap, with files
state.checkpoints.dir: hdfs://namenode:8020/flink/checkpoints
state.checkpoints.num-retained : 3
restart-strategy: failure-rate
restart-strategy.failure-rate.max-failures-per-interval: 3
restart-strategy.failure-rate.failure-rate-interval: 5 min
restart-strategy.failure-rate.delay: 10 s
"""
NESTED_AS_USED = """\
---
jobmanager:
  rpc:
    address: localhost
execution:
  checkpointing:
    interval: 3min      # every
    mode: "EXACTLY_ONCE"
    dir: 's3://bucket/key'
    num-retained: 3
restart-strategy:
    type: exponential-delay
    exponential-delay.max-backoff: 2 min
state.backend.type: hashmap
"""

CALLS = (
    [Call("enable_checkpointing", (1000,))],
    [Call("enable_checkpointing", (1000, "AT_LEAST_ONCE"))],
    [Call("enable_checkpointing", (1000, "EXACTLY_ONCE", True))],
    [Call("set_checkpointing_mode", ("AT_LEAST_ONCE",))],
    [Call("set_checkpoint_timeout", (60_000,))],
    [Call("set_min_pause_between_checkpoints", (500,))],
    [Call("set_max_concurrent_checkpoints", (3,))],
    [Call("set_tolerable_checkpoint_failure_number", (2,))],
    [Call("set_fail_on_checkpointing_errors", (False,))],
    [Call("enable_externalized_checkpoints", ("RETAIN_ON_CANCELLATION",))],
    [Call("enable_externalized_checkpoints", ("DELETE_ON_CANCELLATION",))],
    [Call("enable_unaligned_checkpoints")],
    [Call("enable_unaligned_checkpoints", (False,))],
    [Call("set_checkpoint_storage", ("hdfs:///my/checkpoint/dir",))],
    [Call("set_checkpoint_storage", ("jobmanager",))],
    [Call("set_state_backend", ("memory_state_backend",))],
    [Call("set_state_backend", ("memory_state_backend", 1 << 20))],
    [Call("set_state_backend", ("fs_state_backend", "oss://bucket/object"))],
    [Call("set_state_backend", ("fs_state_backend", "s3://bucket/key", False))],
    [Call("set_state_backend", ("rocksdb_state_backend", "hdfs:///checkpoints"))],
    [Call("set_state_backend", ("rocksdb_state_backend", "hdfs:///checkpoints", True))],
    [Call("set_state_backend", ("hashmap",))],
    [Call("set_restart_strategy", ("no_restart",))],
    [Call("set_restart_strategy", ("fixed_delay_restart", 3, "10 s"))],
    [Call("set_restart_strategy", ("failure_rate_restart", 3, "5 min", "10 s"))],
    [Call("set_restart_strategy", ("exponential_delay_restart", "1 s", "1 min", "1.5", "1 h", "0.1"))],
    [Call("configure", (f"{CHECKPOINTING}.checkpoints-after-tasks-finish.enabled", True))],
    [Call("disable_operator_chaining")],
    [Call("set_checkpoint_timeout", (60_000,)), Call("set_checkpoint_timeout", ("2 min",))],
)
"""Every call of the source documents; at last one that is made twice."""
BAD_CALLS = (
    Call("enable_checkpoints", (1000,)),
    Call("enable_checkpointing"),
    Call("enable_checkpointing", ("often",)),
    Call("enable_checkpointing", (9,)),
    Call("set_restart_strategy", ("sometimes",)),
    Call("configure", ("execution.checkpointing.intervall", "1 s")),
)

CODE_WINS = (
    ({f"{RESTART}.type": "none"}, {"restart-strategy": "fixed-delay"}),
    ({"restart-strategy": "none"}, {f"{RESTART}.type": "fixed-delay"}),
    ({f"{CHECKPOINTING}.timeout": "1 min"}, {f"{CHECKPOINTING}.timeout": "2 min"}),
    ({f"{CHECKPOINTING}.num-retained": "2"}, {"state.checkpoints.num-retained": "3"}),
    ({"holdfast.profile": "flink-2.x"}, {"holdfast.profile": "flink-1.14"}),
)
"""What the job says, and what its cluster says."""
ONCE = {
    f"{RESTART}.type": "fixed-delay",
    f"{RESTART}.fixed-delay.attempts": "1",
    f"{RESTART}.fixed-delay.delay": "20 ms",
}
OFTEN = {"restart-strategy": "fixed-delay", f"{RESTART}.fixed-delay.attempts": "30"}
PROGRAM = (
    Call("enable_checkpointing", (40,)),
    Call("set_restart_strategy", ("fixed_delay_restart", 30, "20 ms")),
    Call("set_min_pause_between_checkpoints", (10,)),
)
SMALL_BATCHES = {"source.max-batch-records": "4"}
UNKNOWN_NAMES: list[Options] = [
    {f"{RESTART}.type": "sometimes"},
    {"restart-strategy": "fixed_deley"},
    {"restart-strategi": "none"},
    {f"{CHECKPOINTING}.mode": "TWICE"},
    {"state.backend": "leveldb"},
]

CASES = with_needs(
    case("configuration/spellings",
         "Does each key work in the spelling of the source documents and in that of Flink 2?",
         [submitted(options) for options in GIVEN],
         decides("CFG-07", "CONFIG/value-wrong", wrong="knows-newest-spelling"),
         method="A job is submitted with each key in either spelling and in both, and with each old backend.",
         passes="The value is in force under the newest key; an old backend is a pair of backend and storage."),
    case("configuration/contradictory-spellings", "Is a job refused that gives an option two values in two spellings?",
         [refused(options) for options in CONTRADICTORY],
         decides("CFG-07", "LOUD/accepted-bad-option", wrong="takes-last-spelling"),
         method="A job is submitted with each key in both spellings and two values.", passes="Each is refused."),
    case("configuration/files", "Are options read from the flat file of Flink 1.14 and from the nested one of 2.x?",
         [submitted({}, file=write(options)) for write in (flat, nested) for options in GIVEN],
         decides("CFG-07", "CONFIG/value-wrong", wrong="ignores-file"),
         method="A job is submitted to a cluster with each of these options in either file.",
         passes="The value is in force, and reported to be of the file."),
    case("configuration/files-as-used", "Are comments, quotes, lists and keys of others read as Flink reads them?",
         [submitted({}, file=ConfigurationFile(NESTED, NESTED_AS_USED)),
          submitted({}, file=ConfigurationFile(FLAT, FLAT_AS_USED))],
         decides("CFG-07", "CONFIG/value-wrong", wrong="ignores-file"),
         method="A job is submitted to clusters whose files look like real ones.",
         passes="The options are in force, and a warning names the keys that are not the runtime's."),
    case("configuration/unreadable-files", "Is a file refused that cannot be read or contradicts itself?",
         [refused({}, file=file) for file in UNREADABLE],
         decides("CFG-07", "LOUD/accepted-bad-option", wrong="ignores-file"),
         method="A job is submitted to clusters with such files.", passes="Each is refused."),
    case("configuration/calls", "Does every call of the source documents exist, and set what its name says?",
         [submitted({}, *calls) for calls in CALLS], decides("CFG-08", "CONFIG/value-wrong", wrong="ignores-calls"),
         method="A program is submitted for each call, with and without its optional arguments.",
         passes="The options in force are those that the call stands for."),
    case("configuration/bad-calls", "Is a call refused that does not exist or does not take its arguments?",
         [refused({}, call) for call in BAD_CALLS],
         decides("CFG-08", "LOUD/accepted-bad-option", wrong="ignores-calls"),
         method="A program is submitted for each such call.", passes="Each is refused."),
    case("configuration/program", "Does a job run as its program sets it?",
         [plan(kill(WORKERS[0], after_checkpoint=1), options=SMALL_BATCHES, calls=PROGRAM)],
         decides("CFG-08", "CONFIG/value-wrong", wrong="ignores-calls"), tiers=plans.EVERYWHERE,
         method="A program sets checkpoints and restarts by calls, and a worker is killed.",
         passes="It restarts, and the options of its program stay in force."),
    case("configuration/code-over-file", "Does the job's setting win over the cluster's, and that over the default?",
         [submission
          for code, cluster in CODE_WINS
          for submission in (submitted({}, file=flat(cluster)), submitted(code, file=flat(cluster)),
                             submitted({}, *(Call("configure", pair) for pair in code.items()), file=nested(cluster)))],
         decides("RST-07", "CONFIG/value-wrong", wrong="puts-file-over-code"),
         decides("RST-07", "CONFIG/origin-wrong", wrong="tells-no-origin"),
         method="Options are set by the job, by its cluster, and by both in the same and in different spellings.",
         passes="The first of them is in force, and its origin is reported."),
    case("configuration/restarts-of-the-job",
         "Does a job restart by its own options, whatever those of its cluster are?",
         [plan(kill(WORKERS[0], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=21), options=ONCE,
               configuration_file=flat(OFTEN), expected_end=ExpectedEnd.FAILED)],
         decides("RST-07", "COUNT/restarted-beyond-policy", wrong="puts-file-over-code"), tiers=plans.EVERYWHERE,
         method="The job allows one restart, its cluster thirty, and two workers are killed one after the other.",
         passes="The job fails at the second failure."),
    case("configuration/unknown-names", "Is an unknown name refused?", [refused(options) for options in UNKNOWN_NAMES],
         decides("RST-07", "LOUD/accepted-bad-option", wrong="accepts-any-option"),
         method="A job is submitted with restart strategies, modes, backends and keys that do not exist.",
         passes="Each is refused."),
)  # fmt: skip
