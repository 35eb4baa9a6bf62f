"""The options of a job: all that is known of each, and the only place in the code where its key is spelled.

Rules of this file:
- A constant is a key of Flink 2.x. It begins with `holdfast.` where Flink has a call in code and no key.
- Its line has the format of a value, the default, the rule that demands the default, and the bounds of what may be
  set. A field of JobOptions has the type of the value, and names the constant.
- Nothing here says what an option does, nor how a text is read: the system under test and the oracles each do that.
- The defaults are also those of the reference runtime. The samples of `suites/conformance` list them once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec

from holdfast.harness.model.checkpoint import ClaimMode
from holdfast.harness.model.option_values import (
    CheckpointStorage,
    ClaimedGuarantee,
    Compaction,
    Compression,
    Connector,
    DeliveryGuarantee,
    Failover,
    Mode,
    Profile,
    Retention,
    SinkConnector,
    SinkDatabase,
    SplitAssignment,
    StartupMode,
    StateBackend,
    Strategy,
)  # fmt: skip

FLINK_1_14, FLINK_2 = Profile.FLINK_1_14.value, Profile.FLINK_2.value
"""The versions whose defaults differ."""
UNLIMITED = 2**31 - 1
"""Of attempts and failures: Integer.MAX_VALUE."""
MINIMUM_MS = 10
"""Of interval and timeout: CheckpointCoordinatorConfiguration.MINIMAL_CHECKPOINT_TIME."""


class Kind(StrEnum):
    """How the values of an option are written."""

    DURATION = "duration"
    """`10 s`, `5 min`; a bare number counts milliseconds."""
    SIZE = "size"
    """`20 kb`; a bare number counts bytes."""
    NUMBER = "number"
    """A whole number."""
    ATTEMPTS = "attempts"
    """A whole number, or `infinite`."""
    DECIMAL = "decimal"
    """`1.5`."""
    FLAG = "flag"
    """`true` or `false`; empty: not given."""
    NAME = "name"
    """One of some names in lower case, such as `exactly-once`; empty: not given."""
    CONSTANT = "constant"
    """One of some names in upper case, such as `EXACTLY_ONCE`."""
    TEXT = "text"
    """A path or URI; empty: not given."""


class Option(msgspec.Struct, frozen=True):
    """What is known about an option.

    Attributes:
        key: of Flink 2.x.
        kind: of value.
        default: of flink-2.x.
        rule: the rule that demands the default.
        older: deprecated spellings that are still read.
        default_1_14: the default of flink-1.14, where it differs.
        least, most: bounds of what may be given, inclusive, in milliseconds and bytes; a default may lie outside.
        above: a lower bound, exclusive.
    """

    key: str
    kind: Kind
    default: str
    rule: str
    older: tuple[str, ...] = ()
    default_1_14: str | None = None
    least: float | None = None
    most: float | None = None
    above: float | None = None

    def default_of(self, version: str) -> str:
        """The default of flink-1.14 or flink-2.x."""
        return self.default_1_14 if version == FLINK_1_14 and self.default_1_14 is not None else self.default


_listed: list[Option] = []


def _option(key: str, kind: Kind, default: str, rule: str, older: tuple[str, ...] = (), **further: Any) -> str:
    _listed.append(Option(key, kind, default, rule, older, **further))
    return key


_CHECKPOINTING = "execution.checkpointing"
_FIXED, _RATE = "restart-strategy.fixed-delay", "restart-strategy.failure-rate"
_EXPONENTIAL = "restart-strategy.exponential-delay"
_DEBLOAT = "taskmanager.network.memory.buffer-debloat"
_BOTH_LOCAL = ("state.backend.local-recovery",)
"""One flag of 1.14 that is two options now."""

PROFILE = _option("holdfast.profile", Kind.NAME, FLINK_2, "CFG-04")
# --- triggering, barriers, coordination ---
INTERVAL = _option(f"{_CHECKPOINTING}.interval", Kind.DURATION, "0 ms", "TRG-01", least=MINIMUM_MS)
MODE = _option(f"{_CHECKPOINTING}.mode", Kind.CONSTANT, "EXACTLY_ONCE", "BAR-07")
FORCED = _option("holdfast.force-checkpointing", Kind.FLAG, "false", "ITR-01")
TIMEOUT = _option(f"{_CHECKPOINTING}.timeout", Kind.DURATION, "10 min", "CRD-04", least=MINIMUM_MS)
MIN_PAUSE = _option(f"{_CHECKPOINTING}.min-pause", Kind.DURATION, "0 ms", "TRG-05")
MAX_CONCURRENT = _option(f"{_CHECKPOINTING}.max-concurrent-checkpoints", Kind.NUMBER, "1", "TRG-04", least=1)
TOLERABLE_FAILURES = _option(f"{_CHECKPOINTING}.tolerable-failed-checkpoints", Kind.NUMBER, "0", "CRD-09", least=0)
FAIL_ON_ERRORS = _option("holdfast.fail-on-checkpointing-errors", Kind.FLAG, "", "CFG-04")
RETENTION = _option(
    f"{_CHECKPOINTING}.externalized-checkpoint-retention", Kind.CONSTANT, "NO_EXTERNALIZED_CHECKPOINTS", "RET-02"
)
RETAINED = _option(
    f"{_CHECKPOINTING}.num-retained", Kind.NUMBER, "1", "RET-01", ("state.checkpoints.num-retained",), least=1
)
UNALIGNED = _option(
    f"{_CHECKPOINTING}.unaligned.enabled", Kind.FLAG, "false", "UNA-01", (f"{_CHECKPOINTING}.unaligned",)
)
UNALIGNED_FORCED = _option(f"{_CHECKPOINTING}.unaligned.forced", Kind.FLAG, "false", "ITR-01")
ALIGNMENT_TIMEOUT = _option(
    f"{_CHECKPOINTING}.aligned-checkpoint-timeout",
    Kind.DURATION,
    "0 ms",
    "UNA-04",
    (f"{_CHECKPOINTING}.alignment-timeout",),
)
SKIPPED_IN_FLIGHT = _option(
    f"{_CHECKPOINTING}.recover-without-channel-state.checkpoint-id", Kind.NUMBER, "-1", "UNA-09", least=-1
)
AFTER_FINISH = _option(
    f"{_CHECKPOINTING}.checkpoints-after-tasks-finish",
    Kind.FLAG,
    "true",
    "FIN-01",
    (f"{_CHECKPOINTING}.checkpoints-after-tasks-finish.enabled",),
    default_1_14="false",
)
INLINE_THRESHOLD = _option(
    f"{_CHECKPOINTING}.data-inline-threshold",
    Kind.SIZE,
    "20 kb",
    "STO-04",
    ("state.storage.fs.memory-threshold",),
    most=1 << 20,
)
WRITE_BUFFER = _option(
    f"{_CHECKPOINTING}.write-buffer-size", Kind.NUMBER, "4096", "STO-04", ("state.storage.fs.write-buffer-size",)
)
# --- state and its storage ---
BACKEND = _option("state.backend.type", Kind.NAME, "hashmap", "CFG-07", ("state.backend",))
ASYNCHRONOUS = _option("state.backend.async", Kind.FLAG, "true", "ASY-07")
ROCKSDB = "state.backend.rocksdb"
"""What the options of that backend begin with."""
INCREMENTAL = _option(f"{_CHECKPOINTING}.incremental", Kind.FLAG, "false", "INC-01", ("state.backend.incremental",))
CHANGELOG = _option("state.changelog.enabled", Kind.FLAG, "false", "INC-09", ("state.backend.changelog.enabled",))
STORAGE = _option(f"{_CHECKPOINTING}.storage", Kind.NAME, "jobmanager", "CFG-05", ("state.checkpoint-storage",))
DIRECTORY = _option(f"{_CHECKPOINTING}.dir", Kind.TEXT, "", "CFG-05", ("state.checkpoints.dir",))
SAVEPOINT_DIRECTORY = _option(f"{_CHECKPOINTING}.savepoint-dir", Kind.TEXT, "", "CFG-05", ("state.savepoints.dir",))
LOCAL_BACKUP = _option(f"{_CHECKPOINTING}.local-backup.enabled", Kind.FLAG, "false", "LOC-01", _BOTH_LOCAL)
LOCAL_RECOVERY = _option("execution.state-recovery.from-local", Kind.FLAG, "false", "LOC-01", _BOTH_LOCAL)
LOCAL_DIRECTORIES = _option(
    f"{_CHECKPOINTING}.local-backup.dirs", Kind.TEXT, "", "LOC-01", ("taskmanager.state.local.root-dirs",)
)
MEMORY_LIMIT = _option("holdfast.storage.memory-limit", Kind.SIZE, "5 mb", "SBK-07", least=1)
MEMORY_BUDGET = _option("holdfast.storage.memory-budget", Kind.SIZE, "256 mb", "SBK-10", least=1)
RECOVERY_PATH = _option("execution.state-recovery.path", Kind.TEXT, "", "RET-03", ("execution.savepoint.path",))
CLAIM_MODE = _option(
    "execution.state-recovery.claim-mode",
    Kind.CONSTANT,
    "NO_CLAIM",
    "SAV-06",
    ("execution.savepoint-restore-mode",),
    default_1_14="LEGACY",
)
IGNORE_UNCLAIMED = _option(
    "execution.state-recovery.ignore-unclaimed-state",
    Kind.FLAG,
    "false",
    "SAV-05",
    ("execution.savepoint.ignore-unclaimed-state",),
)
# --- RocksDB; where Flink leaves a default to it, that of RocksDB ---
ROCKSDB_MANAGED = _option(f"{ROCKSDB}.memory.managed", Kind.FLAG, "true", "SBK-08")
ROCKSDB_FIXED_MEMORY = _option(f"{ROCKSDB}.memory.fixed-per-slot", Kind.SIZE, "0 b", "SBK-08")
ROCKSDB_WRITE_BUFFER_RATIO = _option(
    f"{ROCKSDB}.memory.write-buffer-ratio", Kind.DECIMAL, "0.5", "SBK-08", least=0.01, most=0.99
)
ROCKSDB_PARTITIONED_INDEX = _option(f"{ROCKSDB}.memory.partitioned-index-filters", Kind.FLAG, "false", "SBK-08")
ROCKSDB_BLOCK_SIZE = _option(f"{ROCKSDB}.block.blocksize", Kind.SIZE, "4 kb", "SBK-08", least=1 << 10)
ROCKSDB_METADATA_BLOCK_SIZE = _option(f"{ROCKSDB}.block.metadata-blocksize", Kind.SIZE, "4 kb", "SBK-08", least=1 << 10)
ROCKSDB_BLOCK_CACHE = _option(f"{ROCKSDB}.block.cache-size", Kind.SIZE, "8 mb", "SBK-08", least=1 << 16)
ROCKSDB_WRITE_BUFFER_SIZE = _option(f"{ROCKSDB}.writebuffer.size", Kind.SIZE, "64 mb", "SBK-08", least=1 << 16)
ROCKSDB_WRITE_BUFFERS = _option(f"{ROCKSDB}.writebuffer.count", Kind.NUMBER, "2", "SBK-08", least=2)
ROCKSDB_BUFFERS_TO_MERGE = _option(f"{ROCKSDB}.writebuffer.number-to-merge", Kind.NUMBER, "1", "SBK-08", least=1)
ROCKSDB_COMPACTION = _option(f"{ROCKSDB}.compaction.style", Kind.CONSTANT, "LEVEL", "SBK-08")
ROCKSDB_DYNAMIC_LEVELS = _option(f"{ROCKSDB}.compaction.level.use-dynamic-size", Kind.FLAG, "false", "SBK-08")
ROCKSDB_FILE_SIZE = _option(
    f"{ROCKSDB}.compaction.level.target-file-size-base", Kind.SIZE, "64 mb", "SBK-08", least=1 << 16
)
ROCKSDB_LEVEL_SIZE = _option(
    f"{ROCKSDB}.compaction.level.max-size-level-base", Kind.SIZE, "256 mb", "SBK-08", least=1 << 16
)
ROCKSDB_COMPRESSION = _option(f"{ROCKSDB}.compression.per.level", Kind.CONSTANT, "SNAPPY_COMPRESSION", "SBK-08")
ROCKSDB_THREADS = _option(f"{ROCKSDB}.thread.num", Kind.NUMBER, "2", "SBK-08", least=1)
ROCKSDB_OPEN_FILES = _option(f"{ROCKSDB}.files.open", Kind.NUMBER, "-1", "SBK-08", least=-1)
ROCKSDB_BLOOM_FILTER = _option(f"{ROCKSDB}.use-bloom-filter", Kind.FLAG, "false", "SBK-08")
ROCKSDB_BLOOM_BITS = _option(f"{ROCKSDB}.bloom-filter.bits-per-key", Kind.DECIMAL, "10.0", "SBK-08", least=1)
ROCKSDB_TRANSFERS = _option(f"{ROCKSDB}.checkpoint.transfer.thread.num", Kind.NUMBER, "4", "SBK-08", least=1)
ROCKSDB_WRITE_BATCH = _option(f"{ROCKSDB}.write-batch-size", Kind.SIZE, "2 mb", "SBK-08")
# --- restart ---
STRATEGY = _option("restart-strategy.type", Kind.NAME, "none", "RST-01", ("restart-strategy",))
FIXED_ATTEMPTS = _option(f"{_FIXED}.attempts", Kind.NUMBER, "1", "RST-03", least=0)
FIXED_DELAY = _option(f"{_FIXED}.delay", Kind.DURATION, "1 s", "RST-03")
RATE_FAILURES = _option(f"{_RATE}.max-failures-per-interval", Kind.NUMBER, "1", "RST-04", least=1)
RATE_INTERVAL = _option(f"{_RATE}.failure-rate-interval", Kind.DURATION, "1 min", "RST-04")
RATE_DELAY = _option(f"{_RATE}.delay", Kind.DURATION, "1 s", "RST-04")
EXPONENTIAL_INITIAL = _option(f"{_EXPONENTIAL}.initial-backoff", Kind.DURATION, "1 s", "RST-06", least=1)
EXPONENTIAL_MAX = _option(
    f"{_EXPONENTIAL}.max-backoff", Kind.DURATION, "1 min", "RST-06", default_1_14="5 min", least=1
)
EXPONENTIAL_MULTIPLIER = _option(
    f"{_EXPONENTIAL}.backoff-multiplier", Kind.DECIMAL, "1.5", "RST-06", default_1_14="2.0", above=1
)
EXPONENTIAL_RESET = _option(f"{_EXPONENTIAL}.reset-backoff-threshold", Kind.DURATION, "1 h", "RST-06", least=1)
EXPONENTIAL_JITTER = _option(f"{_EXPONENTIAL}.jitter-factor", Kind.DECIMAL, "0.1", "RST-06", least=0, most=1)
EXPONENTIAL_ATTEMPTS = _option(
    f"{_EXPONENTIAL}.attempts-before-reset-backoff", Kind.ATTEMPTS, "infinite", "RST-06", least=0
)
FAILOVER = _option("jobmanager.execution.failover-strategy", Kind.NAME, "region", "REC-06")
HEARTBEAT_INTERVAL = _option("heartbeat.interval", Kind.DURATION, "10 s", "CFG-04", least=1)
HEARTBEAT_TIMEOUT = _option("heartbeat.timeout", Kind.DURATION, "50 s", "CFG-04", least=1)
# --- job and network ---
CHAINING = _option("pipeline.operator-chaining.enabled", Kind.FLAG, "true", "BAR-12", ("pipeline.operator-chaining",))
STARTUP = _option("scan.startup.mode", Kind.NAME, "earliest-offset", "REC-04")
SPLIT_ASSIGNMENT = _option("source.split-assignment", Kind.NAME, "static", "E2E-05")
SOURCE_CONNECTOR = _option("source.connector", Kind.NAME, "", "CFG-04")
CORRELATION_IDS = _option("source.correlation-ids", Kind.FLAG, "true", "E2E-05")
SINK_CONNECTOR = _option("sink.connector", Kind.NAME, "", "CFG-04")
SINK_DATABASE = _option("sink.database", Kind.NAME, "embedded", "TPC-09")
DELIVERY = _option("sink.delivery-guarantee", Kind.NAME, "exactly-once", "E2E-01")
GUARANTEE = _option("holdfast.guarantee", Kind.NAME, "", "E2E-01")
BATCH_RECORDS = _option("source.max-batch-records", Kind.NUMBER, "65536", "CFG-04", least=1)
BUFFERS_PER_CHANNEL = _option("taskmanager.network.memory.buffers-per-channel", Kind.NUMBER, "8", "BAR-11", least=1)
DEBLOAT = _option(f"{_DEBLOAT}.enabled", Kind.FLAG, "false", "UNA-08")
DEBLOAT_TARGET = _option(f"{_DEBLOAT}.target", Kind.DURATION, "1 s", "UNA-08", least=1)
DEBLOAT_PERIOD = _option(f"{_DEBLOAT}.period", Kind.DURATION, "200 ms", "UNA-08", least=1)
DEBLOAT_SAMPLES = _option(f"{_DEBLOAT}.samples", Kind.NUMBER, "20", "UNA-08", least=1)
DEBLOAT_THRESHOLD = _option(f"{_DEBLOAT}.threshold-percentages", Kind.NUMBER, "25", "UNA-08", least=1, most=100)


class JobOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The effective options of a job: a field for each, which names its key; in milliseconds and bytes. None: unset."""

    profile: Annotated[Profile, PROFILE]
    # --- triggering, barriers, coordination ---
    interval_ms: Annotated[int, INTERVAL]
    mode: Annotated[Mode, MODE]
    forced: Annotated[bool, FORCED]
    timeout_ms: Annotated[int, TIMEOUT]
    min_pause_ms: Annotated[int, MIN_PAUSE]
    max_concurrent: Annotated[int, MAX_CONCURRENT]
    tolerable_failures: Annotated[int, TOLERABLE_FAILURES]
    fail_on_errors: Annotated[bool | None, FAIL_ON_ERRORS]
    retention: Annotated[Retention, RETENTION]
    retained: Annotated[int, RETAINED]
    unaligned: Annotated[bool, UNALIGNED]
    unaligned_forced: Annotated[bool, UNALIGNED_FORCED]
    alignment_timeout_ms: Annotated[int, ALIGNMENT_TIMEOUT]
    skipped_in_flight: Annotated[int, SKIPPED_IN_FLIGHT]
    after_tasks_finish: Annotated[bool, AFTER_FINISH]
    inline_threshold_bytes: Annotated[int, INLINE_THRESHOLD]
    write_buffer_bytes: Annotated[int, WRITE_BUFFER]
    # --- state and its storage ---
    backend: Annotated[StateBackend | str, BACKEND]
    asynchronous: Annotated[bool, ASYNCHRONOUS]
    incremental: Annotated[bool, INCREMENTAL]
    changelog: Annotated[bool, CHANGELOG]
    storage: Annotated[CheckpointStorage | None, STORAGE]
    directory: Annotated[str, DIRECTORY]
    savepoint_directory: Annotated[str, SAVEPOINT_DIRECTORY]
    local_backup: Annotated[bool, LOCAL_BACKUP]
    local_recovery: Annotated[bool, LOCAL_RECOVERY]
    local_directories: Annotated[str, LOCAL_DIRECTORIES]
    memory_limit_bytes: Annotated[int, MEMORY_LIMIT]
    memory_budget_bytes: Annotated[int, MEMORY_BUDGET]
    recovery_path: Annotated[str, RECOVERY_PATH]
    claim_mode: Annotated[ClaimMode, CLAIM_MODE]
    ignore_unclaimed_state: Annotated[bool, IGNORE_UNCLAIMED]
    # --- RocksDB; where Flink leaves a default to it, that of RocksDB ---
    rocksdb_managed: Annotated[bool, ROCKSDB_MANAGED]
    rocksdb_fixed_memory_bytes: Annotated[int, ROCKSDB_FIXED_MEMORY]
    rocksdb_write_buffer_ratio: Annotated[float, ROCKSDB_WRITE_BUFFER_RATIO]
    rocksdb_partitioned_index: Annotated[bool, ROCKSDB_PARTITIONED_INDEX]
    rocksdb_block_bytes: Annotated[int, ROCKSDB_BLOCK_SIZE]
    rocksdb_metadata_block_bytes: Annotated[int, ROCKSDB_METADATA_BLOCK_SIZE]
    rocksdb_block_cache_bytes: Annotated[int, ROCKSDB_BLOCK_CACHE]
    rocksdb_write_buffer_bytes: Annotated[int, ROCKSDB_WRITE_BUFFER_SIZE]
    rocksdb_write_buffers: Annotated[int, ROCKSDB_WRITE_BUFFERS]
    rocksdb_buffers_to_merge: Annotated[int, ROCKSDB_BUFFERS_TO_MERGE]
    rocksdb_compaction: Annotated[Compaction, ROCKSDB_COMPACTION]
    rocksdb_dynamic_levels: Annotated[bool, ROCKSDB_DYNAMIC_LEVELS]
    rocksdb_file_bytes: Annotated[int, ROCKSDB_FILE_SIZE]
    rocksdb_level_bytes: Annotated[int, ROCKSDB_LEVEL_SIZE]
    rocksdb_compression: Annotated[tuple[Compression, ...], ROCKSDB_COMPRESSION]
    rocksdb_threads: Annotated[int, ROCKSDB_THREADS]
    rocksdb_open_files: Annotated[int, ROCKSDB_OPEN_FILES]
    rocksdb_bloom_filter: Annotated[bool, ROCKSDB_BLOOM_FILTER]
    rocksdb_bloom_bits: Annotated[float, ROCKSDB_BLOOM_BITS]
    rocksdb_transfers: Annotated[int, ROCKSDB_TRANSFERS]
    rocksdb_write_batch_bytes: Annotated[int, ROCKSDB_WRITE_BATCH]
    # --- restart ---
    strategy: Annotated[Strategy | None, STRATEGY]
    fixed_attempts: Annotated[int, FIXED_ATTEMPTS]
    fixed_delay_ms: Annotated[int, FIXED_DELAY]
    rate_failures: Annotated[int, RATE_FAILURES]
    rate_interval_ms: Annotated[int, RATE_INTERVAL]
    rate_delay_ms: Annotated[int, RATE_DELAY]
    exponential_initial_ms: Annotated[int, EXPONENTIAL_INITIAL]
    exponential_max_ms: Annotated[int, EXPONENTIAL_MAX]
    exponential_multiplier: Annotated[float, EXPONENTIAL_MULTIPLIER]
    exponential_reset_ms: Annotated[int, EXPONENTIAL_RESET]
    exponential_jitter: Annotated[float, EXPONENTIAL_JITTER]
    exponential_attempts: Annotated[int, EXPONENTIAL_ATTEMPTS]
    failover: Annotated[Failover, FAILOVER]
    heartbeat_interval_ms: Annotated[int, HEARTBEAT_INTERVAL]
    heartbeat_timeout_ms: Annotated[int, HEARTBEAT_TIMEOUT]
    # --- job and network ---
    chaining: Annotated[bool, CHAINING]
    startup: Annotated[StartupMode, STARTUP]
    split_assignment: Annotated[SplitAssignment, SPLIT_ASSIGNMENT]
    source_connector: Annotated[Connector | None, SOURCE_CONNECTOR]
    correlation_ids: Annotated[bool, CORRELATION_IDS]
    sink_connector: Annotated[SinkConnector | None, SINK_CONNECTOR]
    sink_database: Annotated[SinkDatabase, SINK_DATABASE]
    delivery: Annotated[DeliveryGuarantee, DELIVERY]
    guarantee: Annotated[ClaimedGuarantee | None, GUARANTEE]
    batch_records: Annotated[int, BATCH_RECORDS]
    buffers_per_channel: Annotated[int, BUFFERS_PER_CHANNEL]
    debloat: Annotated[bool, DEBLOAT]
    debloat_target_ms: Annotated[int, DEBLOAT_TARGET]
    debloat_period_ms: Annotated[int, DEBLOAT_PERIOD]
    debloat_samples: Annotated[int, DEBLOAT_SAMPLES]
    debloat_threshold_percent: Annotated[int, DEBLOAT_THRESHOLD]


OPTIONS: Mapping[str, Option] = {each.key: each for each in _listed}
"""Every option by its key."""
OLDER: Mapping[str, tuple[str, ...]] = {
    older: tuple(each.key for each in _listed if older in each.older) for option in _listed for older in option.older
}
"""By deprecated spelling, the options that it stands for."""
TUNED: Mapping[str, str] = {"fixed-delay": _FIXED, "failure-rate": _RATE, "exponential-delay": _EXPONENTIAL}
"""By restart strategy, what the keys of its own options begin with."""
