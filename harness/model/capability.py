"""What an adapter declares that its system can do, what it claims, and how facts about the system are known."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Capability(StrEnum):
    """A thing a case may need of a system; a case whose needs are not declared is not applicable."""

    KILL_WORKER = "kill-worker"
    """A worker can be killed at any moment."""
    KILL_COORDINATOR = "kill-coordinator"
    """The coordinator can be killed at any moment."""
    PAUSE_WORKER = "pause-worker"
    """A worker can be made to stand still, and to go on later."""
    PAUSE_COORDINATOR = "pause-coordinator"
    """The same for the coordinator."""
    SUPERSEDE_COORDINATOR = "supersede-coordinator"
    """A successor of the coordinator can be started while that stands still and comes back later."""
    KILL_PART = "kill-part"
    """One process of a worker, or its container, can be killed or paused by name."""
    CUT_CHANNEL = "cut-channel"
    """What a channel carries can be held back."""
    SLOW_CHANNEL = "slow-channel"
    """What a channel carries can be delayed."""
    IMPAIR_CHANNEL = "impair-channel"
    """A channel can be cut in one direction, limited, reset, or made a black hole."""
    IMPAIR_COORDINATOR = "impair-coordinator"
    """The same for all links between the coordinator and workers."""
    IMPAIR_STORAGE = "impair-storage"
    """The link to the store of checkpoints can be cut, slowed, limited, reset, or made a black hole."""
    IMPAIR_BROKER = "impair-broker"
    """The same for the link to the broker of source and sink."""
    IMPAIR_SOURCE = "impair-source-system"
    """The same for the link to the broker whose queues the source reads."""
    IMPAIR_SINK = "impair-sink-system"
    """The same for the link to the database that the sink writes to."""
    STOP_STORAGE = "stop-storage"
    """The store can be taken down and brought up again with what it holds."""
    STOP_BROKER = "stop-broker"
    """The same for the broker of source and sink."""
    STOP_SOURCE = "stop-source-system"
    """The same for the broker whose queues the source reads."""
    STOP_SINK = "stop-sink-system"
    """The same for the database that the sink writes to."""
    STORAGE_ERROR = "storage-error"
    """Single operations of the store of checkpoints can be made to fail."""
    SLOW_STORAGE = "slow-storage"
    """Single operations of the store of checkpoints can be made to take longer."""
    FULL_STORAGE = "full-storage"
    """The store of checkpoints can be made to have no room left."""
    COMMANDS = "commands"
    """Users can request of the job what Flink lets them request, such as a checkpoint."""
    JOB_CONTROL = "job-control"
    """A job can be cancelled and suspended, and another submitted, from a retained checkpoint or empty."""
    RESCALE = "rescale"
    """The other job may be of another parallelism."""
    RESCALE_IN_PLACE = "rescale-in-place"
    """A running job can be made to go on at another parallelism."""
    LOCAL_RECOVERY = "local-recovery"
    """Workers keep local copies of state, which can be spoilt from outside."""
    WRONG_CLOCK = "wrong-clock"
    """The wall clock of a process can be set, and made to run fast or slow."""
    SLOW_TASK = "slow-task"
    """A batch can be made to keep a subtask busy for a while."""
    UNALIGNED_CHECKPOINTS = "unaligned-checkpoints"
    """Barriers can overtake records, which are then stored as channel state."""
    BUFFER_DEBLOATING = "buffer-debloating"
    """What channels hold follows what their receivers take."""
    INCREMENTAL_CHECKPOINTS = "incremental-checkpoints"
    """Checkpoints share files: each stores what has changed since the one before."""
    DAMAGE_CHECKPOINT = "damage-checkpoint"
    """A file of the newest checkpoint can be removed, cut or changed."""
    LOSE_POWER = "lose-power"
    """All processes can be ended at once, with the loss of what was not synced."""
    STALE_LISTING = "stale-listing"
    """Listings of the store of checkpoints can be made to show what was there some time ago."""
    MICRO_BATCHES = "micro-batches"
    """Each checkpoint is a micro-batch: the completion of the last one can be taken back, so that it is done again."""
    FLINK = "flink"
    """It is Apache Flink, with its own defaults, and with nothing of ours inside."""
    READS_LOG = "reads-log"
    """It reads its input from a log by itself, from positions that it persists."""
    MEMBERSHIP = "membership"
    """Workers share the work of a job: it moves to the others when one leaves in good order, and back when it joins."""
    UPGRADE = "upgrade"
    """The code of the job has a next version, which can take its place on the same checkpoints."""
    FORGE_MESSAGE = "forge-message"
    """A control message can be made to arrive once more, or from an attempt that is over."""
    LOSE_NOTICES = "lose-notices"
    """News of the end of a checkpoint can be lost on its way to a task."""
    DISTURB_MESSAGES = "disturb-messages"
    """Control messages can be delayed, doubled and lost, as far as the system's contract of them allows."""
    GATES = "gates"
    """It can be made to wait in front of an effect, so that a crash point is exact."""
    CHECKPOINTS = "checkpoints"
    """It takes checkpoints, and its events report them."""
    EXACTLY_ONCE_MODE = "exactly-once-mode"
    """Checkpoints can be aligned: none holds what came behind its barrier."""
    AT_LEAST_ONCE_MODE = "at-least-once-mode"
    """Checkpoints can be taken without alignment of barriers."""
    RESTART_STRATEGIES = "restart-strategies"
    """It obeys Flink's options of restart strategies."""
    REGIONAL_FAILOVER = "regional-failover"
    """What is not connected to a failed subtask goes on where it is."""
    OPTIONS = "options"
    """It obeys the other options of the catalogue, by their keys."""
    OPERATORS = "operators"
    """Every operator and partitioning of the model, and several sources."""
    EVENT_TIME_WINDOWS = "event-time-windows"
    """It sums windows of event time, each of which is emitted once."""
    CONFIGURATION = "configuration"
    """It reads Flink's configuration files and performs the calls of a plan, and reports the effective options."""
    ITERATION = "iteration"
    """A job may have feedback edges."""
    SOCKET_INPUT = "socket-input"
    """Input may come over a socket, which sends each record once."""
    BOUNDED_INPUT = "bounded-input"
    """Input may end: tasks finish, and with the last of them the job."""
    TWO_PHASE_COMMIT = "two-phase-commit"
    """Its sink commits transactions when their checkpoint has completed."""
    NAMED_TRANSACTIONS = "named-transactions"
    """What a reader sees of a transaction carries its name, so that both can be compared one by one."""
    TABLE_OUTPUT = "table-output"
    """Rows may go to a table of a database: as transactions that it knows again, or each in place of its key's."""
    ENUMERATED_SPLITS = "enumerated-splits"
    """An enumerator at the coordinator assigns partitions to readers."""
    LOSE_SPLITS = "lose-splits"
    """Its messages can be lost, or be late."""
    START_AT_LATEST = "start-at-latest"
    """Its source may begin at the end of what is in the log."""
    POISON_RECORD = "poison-record"
    """A record of the input can be made to fail its operator whenever it is processed."""
    TRUNCATE_INPUT = "truncate-input"
    """The source system can be made to have removed the oldest records of its partitions."""
    LIST_PART = "list-part"
    """The source system can be made to leave partitions out when it lists them."""
    SURGE_INPUT = "surge-input"
    """Input can be made to arrive faster than the workload states."""
    ACKNOWLEDGES_INPUT = "acknowledges-input"
    """It acknowledges to its feeder which input has taken effect; other input is sent again after a restart."""
    REPORTS_CHECKPOINTS = "reports-checkpoints"
    """It reports which checkpoints it has completed and restored, by ids of its own, beside its acknowledgements."""
    SEVERAL_WORKERS = "several-workers"
    """Of what acknowledges its input: it may run as several processes, each with partitions of its own."""


class Guarantee(StrEnum):
    """A predicate over effects or emissions; the usual names derive from these three."""

    NO_LOSS = "no-loss"
    """Each input takes effect at least once."""
    NO_DUPLICATE = "no-duplicate"
    """Each input takes effect at most once."""
    KEY_ORDER = "key-order"
    """Inputs of one key take effect in their order."""


class OutputMode(StrEnum):
    """What may take the place of committed output that a reader has seen."""

    APPEND = "append"
    """Nothing: rows are added, and those that are there stay."""
    UPSERT = "upsert"
    """A newer row takes the place of the row with its key; no key vanishes."""
    OVERWRITE = "overwrite"
    """A unit takes the place of the unit of its name, whatever that held; the last content of each unit counts."""


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the system under test claims. The refutation of a guarantee that it does not claim is no failure.

    Attributes:
        state: guarantees on how often an input was applied to state.
        output: guarantees on how often a row was seen by a committed reader.
        mode: how its output changes. Under UPSERT and OVERWRITE the output of a history is the last content.
    """

    state: frozenset[Guarantee] = frozenset()
    output: frozenset[Guarantee] = frozenset()
    mode: OutputMode = OutputMode.APPEND


EXACTLY_ONCE = frozenset({Guarantee.NO_LOSS, Guarantee.NO_DUPLICATE, Guarantee.KEY_ORDER})
AT_LEAST_ONCE = frozenset({Guarantee.NO_LOSS})
AT_MOST_ONCE = frozenset({Guarantee.NO_DUPLICATE})


def guarantee_name(guarantees: frozenset[Guarantee]) -> str:
    """The usual name of a set of guarantees."""
    if {Guarantee.NO_LOSS, Guarantee.NO_DUPLICATE} <= guarantees:
        return "exactly-once"
    if Guarantee.NO_LOSS in guarantees:
        return "at-least-once"
    if Guarantee.NO_DUPLICATE in guarantees:
        return "at-most-once"
    return "no guarantee"


class Evidence(StrEnum):
    """Where an event comes from, strongest first; an oracle without the evidence it needs is UNOBSERVED."""

    NATIVE = "native"
    """The system under test reported it itself, at the step it happened in."""
    DERIVED = "derived"
    """Read from its logs, its REST interface or its checkpoint files."""
    BOUNDARY = "boundary"
    """Seen by the harness from outside: a relay, a store, a reader, a process table."""
    NONE = "none"
    """It is not supplied."""
