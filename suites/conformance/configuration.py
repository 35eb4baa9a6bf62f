"""Options at their limits, at their defaults, and against each other (RULES CFG-01 to CFG-06)."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.harness.model.configuration import Call
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import (
    AT_LEAST_ONCE,
    CHECKPOINTING,
    EVERYWHERE,
    Options,
    case,
    decides,
    flat,
    plan,
    refused,
    submitted,
    with_needs,
)

LIMITS = (
    (f"{CHECKPOINTING}.interval", "9 ms", "10 ms"),
    (f"{CHECKPOINTING}.timeout", "9 ms", "10 ms"),
    (f"{CHECKPOINTING}.min-pause", "-1 ms", "0 ms"),
    (f"{CHECKPOINTING}.max-concurrent-checkpoints", "0", "1"),
    (f"{CHECKPOINTING}.tolerable-failed-checkpoints", "-1", "0"),
    (f"{CHECKPOINTING}.num-retained", "0", "1"),
    (f"{CHECKPOINTING}.data-inline-threshold", "1048577 b", "1 mb"),
    ("state.backend.rocksdb.writebuffer.count", "1", "2"),
)
"""Option, the nearest value that must be refused, the limit itself."""
BEYOND = [{key: bad} for key, bad, _ in LIMITS]
AT = [{key: good} for key, _, good in LIMITS]

INTERVAL = {f"{CHECKPOINTING}.interval": "1 s"}
PROFILES: Sequence[Options] = ({}, {"holdfast.profile": "flink-1.14"}, {"holdfast.profile": "flink-2.x"})
UNALIGNED = {f"{CHECKPOINTING}.unaligned.enabled": "true"}
CONCURRENT = {f"{CHECKPOINTING}.max-concurrent-checkpoints": "2"}
EXCLUSIVE = [UNALIGNED | CONCURRENT, {f"{CHECKPOINTING}.unaligned": "true"} | CONCURRENT]
LONG_PAUSE = {f"{CHECKPOINTING}.min-pause": "100 ms"}
TOLERATED = {f"{CHECKPOINTING}.tolerable-failed-checkpoints": "2"}
DIRECTORY = f"{CHECKPOINTING}.dir"
DIRECTORIES = (
    "hdfs://namenode:port/flink-checkpoints/chk-17/",
    "hdfs://namenode:9000/flink/checkpoints",
    "hdfs:///my/checkpoint/dir",
    "oss://bucket/object",
    "s3://bucket/key",
    "file:///tmp/checkpoints",
    "/tmp/checkpoints",
)
"""The forms of the source documents."""
NO_DIRECTORIES = ("hdsf:///my/checkpoint/dir", "ftp://host/path", "checkpoints", "s3:///key", "file://tmp")
RATE = f"{plans.RESTART}.failure-rate"
NEVER_REACHED = {
    f"{plans.RESTART}.type": "failure-rate",
    f"{RATE}.max-failures-per-interval": "3",
    f"{RATE}.failure-rate-interval": "1000 ms",
    f"{RATE}.delay": "5 min",
}
"""An article's own: the two durations are in the wrong order."""
REACHED = NEVER_REACHED | {f"{RATE}.failure-rate-interval": "901 s"}
BY_HAND = {"execution.state-recovery.path": "hdfs:///checkpoints/chk-17"}
ROCKSDB = {"state.backend.type": "rocksdb", DIRECTORY: "hdfs:///checkpoints"}
CACHE = {"state.backend.rocksdb.block.cache-size": "64 mb"}
RATIO = {"state.backend.rocksdb.memory.write-buffer-ratio": "0.6"}
NOT_MANAGED = {"state.backend.rocksdb.memory.managed": "false"}
FIXED = {"state.backend.rocksdb.memory.fixed-per-slot": "128 mb"}
LINTED: Sequence[Options] = (
    {"state.backend.rocksdb.thread.num": "4"},
    ROCKSDB | CACHE,
    ROCKSDB | CACHE | NOT_MANAGED | FIXED,
    ROCKSDB | RATIO | NOT_MANAGED,
    NEVER_REACHED,
    NEVER_REACHED | {f"{RATE}.failure-rate-interval": "900 s"},
    {f"{CHECKPOINTING}.interval": "15 min", f"{CHECKPOINTING}.timeout": "10 min"},
    BY_HAND,
    {DIRECTORY: "hdfs://namenode:9000/flink-checkpoints/chk-17/"},
    {"state.backend.async": "false"},
    {f"{RATE}.delay": "10 s"},
)
SPOTLESS: Sequence[Options] = (
    {},
    ROCKSDB | {"state.backend.rocksdb.compression.per.level": "NO_COMPRESSION;LZ4_COMPRESSION"},
    ROCKSDB | CACHE | NOT_MANAGED,
    ROCKSDB | RATIO | NOT_MANAGED | FIXED,
    REACHED,
    {f"{CHECKPOINTING}.interval": "15 min", f"{CHECKPOINTING}.timeout": "15 min"},
    BY_HAND | {f"{CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"},
    {DIRECTORY: "hdfs://namenode:9000/flink-checkpoints/chk-/"},
)


FAIL_FLAGS = [Call("set_fail_on_checkpointing_errors", (fail,)) for fail in (True, False)]
WITHOUT_DIRECTORY: Sequence[Options] = (
    {"state.backend.type": "rocksdb"},
    {"state.backend": "filesystem"},
    {"state.backend": "FsStateBackend"},
    {"state.backend": "org.apache.flink.contrib.streaming.state.RocksDBStateBackendFactory"},
    {"state.checkpoint-storage": "filesystem"},
)

REACHED_BY_ALL = {DIRECTORY: "hdfs:///checkpoints", f"{CHECKPOINTING}.interval": "100 ms"}
NOT_REACHED = plan(storage_error("reach-directory", 10_000, after_checkpoint=1),
                   kill(plans.WORKERS[1], after_checkpoint=1), options=REACHED_BY_ALL,
                   expected_end=ExpectedEnd.FAILED)  # fmt: skip
"""The worker comes back where the directory is out of its reach, which lasts until then on a busy machine, too."""
NEVER_STARTED = plan(storage_error("reach-directory"), options=REACHED_BY_ALL, expected_end=ExpectedEnd.FAILED)

CASES = with_needs(
    case("configuration/refused", "Is an option beyond its limit refused at submit?",
         [refused(plans.OPTIONS | options) for options in BEYOND],
         decides("CFG-01", "LOUD/accepted-bad-option", wrong="accepts-any-option"),
         method="A job is submitted with each option one step beyond its limit.",
         passes="Each is refused before anything starts."),
    case("configuration/accepted", "Is an option at its limit accepted?", [plan(options=options) for options in AT],
         decides("CFG-01", "LOUD/refused-good-option", wrong="refuses-limits"),
         method="A job runs with each option exactly at its limit.", passes="None is refused."),
    case("configuration/unaligned-and-concurrent", "Are unaligned checkpoints refused together with concurrent ones?",
         [refused(options) for options in EXCLUSIVE],
         decides("CFG-02", "LOUD/accepted-bad-option", wrong="allows-concurrent-unaligned"),
         method="A job is submitted with both, in either spelling.", passes="It is refused before anything starts."),
    case("configuration/unaligned-at-least-once",
         "Are unaligned checkpoints switched off, and is that reported, where the mode is at-least-once?",
         [plan(options=UNALIGNED | AT_LEAST_ONCE), plan(options=UNALIGNED | AT_LEAST_ONCE | CONCURRENT)],
         decides("CFG-02", "CONFIG/value-wrong", wrong="keeps-unaligned"),
         decides("CFG-02", "CONFIG/warning-wrong", wrong="warns-of-nothing"), tiers=EVERYWHERE,
         method="A job runs with both, once with concurrent checkpoints as well.",
         passes="It runs aligned by nothing, and a warning reports that the option is overridden."),
    case("configuration/long-pause",
         "Does a pause above the interval raise it, and is a pause beside concurrent checkpoints warned of?",
         [plan(options=LONG_PAUSE), plan(options=LONG_PAUSE | CONCURRENT)],
         decides("CFG-03", "CONFIG/value-wrong", wrong="keeps-short-interval"),
         decides("CFG-03", "CONFIG/warning-wrong", wrong="warns-of-nothing"), tiers=EVERYWHERE,
         method="A job runs with an interval of 40 ms and a pause of 100 ms, once with two checkpoints at a time.",
         passes="The interval in force is 100 ms, and warnings say what is odd."),
    case("configuration/defaults", "Are the defaults those of the profile?",
         [submitted(profile | interval) for profile in PROFILES for interval in ({}, INTERVAL)],
         decides("CFG-04", "CONFIG/value-wrong", wrong="knows-one-profile"),
         method="A job without options is submitted under each profile, and under none, without and with checkpoints.",
         passes="Every option has the default of the profile, which is flink-2.x where none is named."),
    case("configuration/fail-flag", "Does the flag from before failures were counted stand for a number?",
         [submitted({}, flag) for flag in FAIL_FLAGS],
         decides("CFG-04", "CONFIG/value-wrong", wrong="forgets-fail-flag"),
         method="A program calls set_fail_on_checkpointing_errors with true or false.",
         passes="No failure is tolerated, or any number of them."),
    case("configuration/fail-flag-and-number", "Does that flag lose to a number?",
         [submission
          for flag in FAIL_FLAGS
          for submission in (submitted(TOLERATED, flag), submitted({}, flag, file=flat(TOLERATED)),
                             submitted({}, Call("set_tolerable_checkpoint_failure_number", (2,)), flag))],
         decides("CFG-04", "CONFIG/value-wrong", wrong="puts-flag-over-number"),
         decides("CFG-04", "CONFIG/warning-wrong", wrong="warns-of-nothing"),
         method="A program sets the flag, and a number is set by the program or by the cluster.",
         passes="The number is in force, and a warning reports so."),
    case("configuration/directories", "Does a directory select the file system, and none the coordinator's memory?",
         [submitted({DIRECTORY: directory}) for directory in DIRECTORIES] + [submitted({})],
         decides("CFG-05", "CONFIG/value-wrong", wrong="stores-in-memory"),
         method="A job is submitted with each form of a directory, and with none.",
         passes="The storage in force is the one that follows."),
    case("configuration/no-directories", "Is a directory of an unknown scheme refused before the job starts?",
         [refused({DIRECTORY: directory}) for directory in NO_DIRECTORIES],
         decides("CFG-05", "LOUD/accepted-bad-option", wrong="allows-any-directory"),
         method="A job is submitted with each of several texts that are no directory.", passes="Each is refused."),
    case("configuration/unreachable-directory", "Is a directory that one worker cannot reach named, with the worker?",
         [NOT_REACHED], decides("CFG-05", "LOUD/directory-not-named", wrong="takes-any-worker"), tiers=EVERYWHERE,
         method="A worker is killed, and comes back where it does not reach the directory.",
         passes="The job fails, and reports which worker does not reach which directory."),
    case("configuration/unreachable-at-first", "Is that reported before the job starts?", [NEVER_STARTED],
         decides("CFG-05", "LOUD/directory-not-named", wrong="takes-any-worker"),
         method="The first worker that registers does not reach the directory.",
         passes="The job fails, and reports which worker does not reach which directory."),
    case("configuration/without-directory",
         "Is it reported when a backend that keeps state on disk or in files has no directory?",
         [submitted(options) for options in WITHOUT_DIRECTORY],
         decides("CFG-05", "CONFIG/warning-wrong", wrong="warns-of-nothing"),
         method="A job is submitted with each such backend, in old and new names, and no directory.",
         passes="Coordinator memory is in force with its limit, and a warning names the key."),
    case("configuration/lints", "Are settings pointed out that cannot act, and no others?",
         [submitted(options) for options in (*LINTED, *SPOTLESS)],
         decides("CFG-06", "CONFIG/lint-wrong", wrong="lints-nothing"),
         method="Jobs are submitted with settings that cannot act, and with their near misses.",
         passes="Each of the former is reported with a lint, none of the latter."),
)  # fmt: skip
