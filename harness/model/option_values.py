"""What options may be, where that is one of some names. Names are Flink's; how they are spelled does not count."""

from __future__ import annotations

from enum import StrEnum


class Profile(StrEnum):
    """Versions whose rules and defaults differ (RULES 1.1)."""

    FLINK_1_14 = "flink-1.14"
    FLINK_2 = "flink-2.x"


class Mode(StrEnum):
    """Checkpointing mode."""

    EXACTLY_ONCE = "EXACTLY_ONCE"
    AT_LEAST_ONCE = "AT_LEAST_ONCE"


class Retention(StrEnum):
    """What becomes of completed checkpoints when the job ends (RULES 1.2)."""

    NONE = "NO_EXTERNALIZED_CHECKPOINTS"
    DELETE_ON_CANCELLATION = "DELETE_ON_CANCELLATION"
    RETAIN_ON_CANCELLATION = "RETAIN_ON_CANCELLATION"


class Strategy(StrEnum):
    """Restart strategies."""

    NONE = "none"
    FIXED_DELAY = "fixed-delay"
    FAILURE_RATE = "failure-rate"
    EXPONENTIAL_DELAY = "exponential-delay"


class Failover(StrEnum):
    """How much of a job restarts."""

    REGION = "region"
    FULL = "full"


class StateBackend(StrEnum):
    """Where working state lives; somebody else's backend is `module:name`."""

    HASHMAP = "hashmap"
    ROCKSDB = "rocksdb"


class CheckpointStorage(StrEnum):
    """Where snapshots go."""

    JOB_MANAGER = "jobmanager"
    FILE_SYSTEM = "filesystem"


class StartupMode(StrEnum):
    """Where a source without state begins."""

    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"


class SplitAssignment(StrEnum):
    """Who assigns partitions to readers."""

    STATIC = "static"
    """The graph: partition and subtask number decide."""
    ENUMERATOR = "enumerator"
    """An enumerator at the coordinator, by messages."""


class Connector(StrEnum):
    """What a source reads."""

    FILE_SYSTEM = "filesystem"
    KAFKA = "kafka"
    RABBITMQ = "rabbitmq"
    """Queues, which forget what is acknowledged and give again what is not."""


class SinkConnector(StrEnum):
    """What a sink writes."""

    FILE_SYSTEM = "filesystem"
    KAFKA = "kafka"
    JDBC = "jdbc"
    """A table of a database."""


class SinkDatabase(StrEnum):
    """Where the table of a sink is."""

    EMBEDDED = "embedded"
    """In memory on the simulator, in a file of the run on processes."""
    POSTGRESQL = "postgresql"
    """In a database of the run's own, in a PostgreSQL that runs as a process."""


class DeliveryGuarantee(StrEnum):
    """The delivery guarantee of a sink."""

    EXACTLY_ONCE = "exactly-once"
    """Rows become visible when a completed checkpoint promises them: two-phase commit."""
    AT_LEAST_ONCE = "at-least-once"
    """Rows become visible before the ack of their checkpoint: what a restore reads again shows twice, or in a table
    takes the place of the row of its key."""


class Compaction(StrEnum):
    """How RocksDB compacts. Flink has FIFO as well, which drops what is old, and NONE, which the library has not."""

    LEVEL = "LEVEL"
    UNIVERSAL = "UNIVERSAL"


class Compression(StrEnum):
    """The compression of RocksDB's files, as far as the library has it."""

    NONE = "NO_COMPRESSION"
    SNAPPY = "SNAPPY_COMPRESSION"
    ZLIB = "ZLIB_COMPRESSION"
    BZ2 = "BZLIB2_COMPRESSION"
    LZ4 = "LZ4_COMPRESSION"
    LZ4HC = "LZ4HC_COMPRESSION"
    ZSTD = "ZSTD_COMPRESSION"


class ClaimedGuarantee(StrEnum):
    """The guarantee that a job claims, end to end."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"
