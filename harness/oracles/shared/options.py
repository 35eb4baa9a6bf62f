"""A plan as an oracle reads it: Flink's keys, where what cannot be read counts as not given, and what it broke."""

from __future__ import annotations

from holdfast.harness.model import profile
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.units import duration_ms
from holdfast.harness.oracles.shared.stated_options import texts

NS_PER_MS = 1_000_000


def milliseconds(plan: Plan, key: str, default: int) -> int:
    """A duration."""
    try:
        return duration_ms(texts(plan)[key])
    except (KeyError, ValueError):
        return default


def interval_ms(plan: Plan) -> int:
    """Between periodic checkpoints, 0 if there are none; a longer pause is the interval (CFG-03)."""
    stated_ms = milliseconds(plan, profile.INTERVAL, 0)
    return max(stated_ms, milliseconds(plan, profile.MIN_PAUSE, 0)) if stated_ms else 0


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
    """Whether the defaults of version 1.14 apply."""
    return texts(plan).get(profile.PROFILE, "").lower() == profile.FLINK_1_14


def gives_again(plan: Plan) -> bool:
    """Whether sources read queues whose messages have no ids: what was not acknowledged is read again, unrecognised."""
    stated = texts(plan)
    queues = stated.get(profile.SOURCE_CONNECTOR, "").lower() == "rabbitmq"
    return queues and stated.get(profile.CORRELATION_IDS, "").lower() == "false"


def retention(plan: Plan) -> str:
    """The policy of what becomes of checkpoints when the job is over, as Flink spells it."""
    stated = texts(plan).get(profile.RETENTION, "NO_EXTERNALIZED_CHECKPOINTS")
    return stated.upper().replace("-", "_")


def tolerable_failures(plan: Plan) -> int:
    """How many checkpoints in a row may fail; the older flag counts where no number is given."""
    stated = texts(plan)
    if profile.TOLERABLE_FAILURES not in stated and stated.get(profile.FAIL_ON_ERRORS, "").lower() == "false":
        return profile.UNLIMITED
    return number(plan, profile.TOLERABLE_FAILURES, 0)


def at_least_once(plan: Plan) -> bool:
    """Whether barriers are counted instead of aligned."""
    return texts(plan).get(profile.MODE, "").upper().replace("-", "_") == "AT_LEAST_ONCE"


def checkpoints_after_finish(plan: Plan) -> bool:
    """Whether checkpoints are taken when some tasks have finished: since Flink 1.15 that is the default."""
    return texts(plan).get(profile.AFTER_FINISH, str(not flink_1_14(plan))).lower() == "true"


def chained(plan: Plan) -> bool:
    """Whether operators that are connected one to one are chained, which is the default."""
    return texts(plan).get(profile.CHAINING, "true").lower() == "true"


def synchronous_snapshots(plan: Plan) -> bool:
    """Whether state is written before records are processed again."""
    return texts(plan).get(profile.ASYNCHRONOUS, "true").lower() == "false"


def overtakes(plan: Plan) -> bool:
    """Whether barriers may overtake: where they are counted they have nothing to wait for (CFG-02)."""
    return texts(plan).get(profile.UNALIGNED, "").lower() == "true" and not at_least_once(plan)


def alignment_timeout_ms(plan: Plan) -> int:
    """How long after its trigger a checkpoint that may overtake is aligned; 0 also where none may."""
    return milliseconds(plan, profile.ALIGNMENT_TIMEOUT, 0) if overtakes(plan) else 0


def skipped_in_flight(plan: Plan) -> int:
    """The checkpoint whose in-flight records a restore leaves out; -1: none."""
    return number(plan, profile.SKIPPED_IN_FLIGHT, -1)
