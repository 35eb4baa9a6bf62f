"""A plan as an oracle reads it: Flink's keys, where what cannot be read counts as not given, and what it broke."""

from __future__ import annotations

from holdfast.harness.model.events import FaultInjected
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import Role
from holdfast.harness.model.units import duration_ms
from holdfast.harness.oracles.models.stated_options import texts

INTERVAL = "execution.checkpointing.interval"
MIN_PAUSE = "execution.checkpointing.min-pause"
TIMEOUT = "execution.checkpointing.timeout"
MAX_CONCURRENT = "execution.checkpointing.max-concurrent-checkpoints"
PROFILE = "holdfast.profile"
RETENTION = "execution.checkpointing.externalized-checkpoint-retention"
RETAINED = "execution.checkpointing.num-retained"
TOLERABLE = "execution.checkpointing.tolerable-failed-checkpoints"
FAIL_ON_ERRORS = "holdfast.fail-on-checkpointing-errors"
UNLIMITED = 2**31 - 1
MODE = "execution.checkpointing.mode"
CHAINING = "pipeline.operator-chaining.enabled"
UNALIGNED = "execution.checkpointing.unaligned.enabled"
ALIGNMENT_TIMEOUT = "execution.checkpointing.aligned-checkpoint-timeout"
SKIPPED_IN_FLIGHT = "execution.checkpointing.recover-without-channel-state.checkpoint-id"
ASYNCHRONOUS = "state.backend.async"
AFTER_FINISH = "execution.checkpointing.checkpoints-after-tasks-finish"
NS_PER_MS = 1_000_000


def milliseconds(plan: Plan, key: str, default: int) -> int:
    """A duration."""
    try:
        return duration_ms(texts(plan)[key])
    except (KeyError, ValueError):
        return default


def interval_ms(plan: Plan) -> int:
    """Between periodic checkpoints, 0 if there are none; a longer pause is the interval (CFG-03)."""
    stated_ms = milliseconds(plan, INTERVAL, 0)
    return max(stated_ms, milliseconds(plan, MIN_PAUSE, 0)) if stated_ms else 0


def number(plan: Plan, key: str, default: int) -> int:
    """A whole number."""
    try:
        return int(texts(plan)[key])
    except (KeyError, ValueError):
        return default


def decimal(plan: Plan, key: str, default: float) -> float:
    """A number with a point."""
    try:
        return float(texts(plan)[key])
    except (KeyError, ValueError):
        return default


def flink_1_14(plan: Plan) -> bool:
    """Whether the defaults of version 1.14 are asked for."""
    return texts(plan).get(PROFILE, "").lower() == "flink-1.14"


def retention(plan: Plan) -> str:
    """The policy of what becomes of checkpoints when the job is over, as Flink spells it."""
    stated = texts(plan).get(RETENTION, "NO_EXTERNALIZED_CHECKPOINTS")
    return stated.upper().replace("-", "_")


def tolerable_failures(plan: Plan) -> int:
    """How many checkpoints in a row may fail; the older flag counts where no number is given."""
    stated = texts(plan)
    if TOLERABLE not in stated and stated.get(FAIL_ON_ERRORS, "").lower() == "false":
        return UNLIMITED
    return number(plan, TOLERABLE, 0)


def at_least_once(plan: Plan) -> bool:
    """Whether barriers are counted instead of aligned."""
    return texts(plan).get(MODE, "").upper().replace("-", "_") == "AT_LEAST_ONCE"


def checkpoints_after_finish(plan: Plan) -> bool:
    """Whether checkpoints go on when some tasks have finished: since Flink 1.15 they do unless told otherwise."""
    return texts(plan).get(AFTER_FINISH, str(not flink_1_14(plan))).lower() == "true"


def chained(plan: Plan) -> bool:
    """Whether operators that are joined one to one share a thread: they do unless told otherwise."""
    return texts(plan).get(CHAINING, "true").lower() == "true"


def synchronous_snapshots(plan: Plan) -> bool:
    """Whether state is written before records are processed again."""
    return texts(plan).get(ASYNCHRONOUS, "true").lower() == "false"


def overtakes(plan: Plan) -> bool:
    """Whether barriers may overtake: where they are counted they have nothing to wait for (CFG-02)."""
    return texts(plan).get(UNALIGNED, "").lower() == "true" and not at_least_once(plan)


def alignment_timeout_ms(plan: Plan) -> int:
    """How long after its trigger a checkpoint that may overtake is aligned; 0 also where none may."""
    return milliseconds(plan, ALIGNMENT_TIMEOUT, 0) if overtakes(plan) else 0


def skipped_in_flight(plan: Plan) -> int:
    """The checkpoint whose in-flight records a restore leaves out; -1: none."""
    return number(plan, SKIPPED_IN_FLIGHT, -1)


def coordinator_paused(history: History) -> bool:
    """Whether the coordinator stood still for a while: then its timers say nothing."""
    faults = history.plan.faults
    hit = [faults[event.fault] for event in history.of(FaultInjected) if event.fault < len(faults)]
    return any(fault.kind == "pause" and fault.target.role is Role.COORDINATOR for fault in hit)
