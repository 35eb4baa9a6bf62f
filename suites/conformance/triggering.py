"""When checkpoints begin, and in which turn (RULES TRG)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from msgspec.structs import replace

from holdfast.faults.process import kill, pause
from holdfast.faults.storage import slow_storage
from holdfast.faults.user import request_checkpoint
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import REBALANCE
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    RESTART,
    TOLERANT,
    WORKERS,
    gate,
    plan,
    with_needs,
)

PATIENT = Bounds(safety_ms=4_000, liveness_ms=8_000)
STUCK = pause(WORKERS[0], 400, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0]))
"""A worker stands still in front of an acknowledgement, so its checkpoint is pending, and nothing else begins."""
WHILE_STUCK: Mapping[str, Any] = {"after_checkpoint": 2, "at_event": "checkpoint_triggered"}
LONG = {"records": 400, "records_per_second": 200}


def periodic(interval: int, **options: int | str) -> Mapping[str, str]:
    """An interval and more, in milliseconds where it is a duration."""
    named = {"interval": interval, **{key.replace("_", "-"): value for key, value in options.items()}}
    return {
        f"{CHECKPOINTING}.{key}": value if isinstance(value, str) else f"{value} ms" for key, value in named.items()
    }


WITHOUT_INTERVAL = replace(
    plan(pause(WORKERS[0], 900, at_event="job_switched"), expected_end=ExpectedEnd.FAILED),
    options={f"{RESTART}.type": "none", "heartbeat.interval": "100 ms", "heartbeat.timeout": "500 ms"},
)
"""The job runs for half a second, until a paused worker is declared dead."""
IDS = (
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("send-trigger", COORDINATOR))),
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("during-persist-job-record", COORDINATOR))),
    plan(
        kill(COORDINATOR, after_checkpoint=1, gate=gate("send-trigger", COORDINATOR)),
        kill(COORDINATOR, after_checkpoint=2, gate=gate("publish-metadata", COORDINATOR)),
    ),
)
CONCURRENT = tuple(
    plan(STUCK, options={**periodic(40, max_concurrent_checkpoints=limit), **TOLERANT}, records=LONG)
    for limit in ("1", "2", "5")
)
PAUSES = tuple(
    plan(
        slow_storage("publish-metadata", delay_ms, 600, after_checkpoint=1),
        options=periodic(interval_ms, min_pause=pause_ms),
        records=LONG,
        bounds=PATIENT,
    )
    for interval_ms, pause_ms, delay_ms in product((40, 100), (60, 150), (30, 90))
)
QUEUED = plan(
    STUCK,
    request_checkpoint("user forced user forced user", **WHILE_STUCK),
    records=LONG,
)
FULL_QUEUE = plan(STUCK, request_checkpoint("user", times=1_010, **WHILE_STUCK))
WITHOUT_PAUSE = plan(
    request_checkpoint("user", after_checkpoint=1),
    request_checkpoint("user user", after_checkpoint=2),
    options=periodic(40, min_pause=1_000),
    bounds=PATIENT,
)
SLOW_CHECKPOINTS = plan(
    slow_storage("publish-metadata", 120, 1_500, after_checkpoint=1),
    job=REBALANCE,
    options=periodic(40, min_pause=60),
    records={"records": 700, "records_per_second": 200},
    bounds=PATIENT,
)
DELAYED = {f"{RESTART}.fixed-delay.delay": "300 ms"}
REFUSED = (
    plan(
        kill(WORKERS[0], after_checkpoint=1),
        request_checkpoint("user forced", after_checkpoint=1, at_event="failure_counted"),
        options=DELAYED,
    ),
    plan(
        kill(WORKERS[0], after_checkpoint=1),
        request_checkpoint("user", after_checkpoint=1, at_event="restart_refused"),
        options={f"{RESTART}.type": "none"},
        expected_end=ExpectedEnd.FAILED,
    ),
)
FIRST = tuple(plan(options=periodic(400, min_pause=200), bounds=PATIENT, run_seed=seed, faults=()) for seed in range(6))
BACKLOG: tuple[FaultSpec, ...] = (slow_storage("delete", 300, 900, after_checkpoint=1),)

CASES = with_needs(
    Case(
        id="triggering/without-interval",
        purpose="Does a job without an interval take no checkpoints?",
        method="No interval is configured, and the job runs until a paused worker is declared dead.",
        passes="No periodic checkpoint is requested.",
        decides=(Decision("TRG-01", "PACE", ("triggered-without-interval",), "triggers-without-interval"),),
        plan=WITHOUT_INTERVAL,
        tiers=EVERYWHERE,
    ),
    Case(
        id="triggering/ids",
        purpose="Do ids rise, whatever coordinator draws them?",
        method="The coordinator is killed when it has drawn an id, and is about to report it or has reported it.",
        passes="Each id is above all that were triggered before it.",
        decides=(Decision("TRG-02", "COORD", ("ids-not-increasing",), "forgets-drawn-ids"),),
        windows=(Window.RESTORED_STATE,),
        plan=IDS,
        tiers=EVERYWHERE,
    ),
    Case(
        id="triggering/sources-only",
        purpose="Does a checkpoint begin at the sources, and anywhere else with a barrier?",
        method="The trace shows whom the coordinator triggers, and when each subtask takes its snapshot.",
        passes="Only sources are triggered, and every other snapshot follows a barrier.",
        decides=(
            Decision("TRG-03", "COORD", ("triggered-not-a-source", "begun-without-barrier"), "triggers-everybody"),
        ),
        plan=plan(),
        tiers=EVERYWHERE,
    ),
    Case(
        id="triggering/max-concurrent",
        purpose="Are at most so many checkpoints pending as may be?",
        method="Acknowledgements are held up for ten intervals, with one, two and five checkpoints allowed.",
        passes="Never more are pending, and a surplus request waits.",
        decides=(Decision("TRG-04", "COORD", ("too-many-pending",), "ignores-max-concurrent"),),
        plan=CONCURRENT,
        tiers=EVERYWHERE,
    ),
    Case(
        id="triggering/min-pause",
        purpose="Is the pause after a completion kept, whatever interval and duration are?",
        method="Intervals and pauses, longer and shorter, and publications that last longer and shorter.",
        passes="No periodic checkpoint begins sooner after the last completion than the pause.",
        decides=(Decision("TRG-05", "PACE", ("pause-too-short",), "ignores-min-pause"),),
        plan=PAUSES,
        tiers=EVERYWHERE,
        pictures=("pause",),
    ),
    Case(
        id="triggering/turn",
        purpose="Do forced requests go before those of users, those before the interval's, and older before younger?",
        method="While a checkpoint is stuck, users and forced requests come in a mixed batch.",
        passes="Whenever one is served, no other that waits was to go first.",
        decides=(Decision("TRG-06", "PACE", ("served-out-of-turn",), "serves-oldest-first"),),
        plan=QUEUED,
        tiers=EVERYWHERE,
    ),
    Case(
        id="triggering/full-queue",
        purpose="Is the queue bounded, and what exceeds it the last in turn?",
        method="While a checkpoint is stuck, a thousand and ten requests come.",
        passes="At most a thousand wait, and whatever is dropped was to be served last.",
        decides=(
            Decision("TRG-06", "PACE", ("queue-too-long",), "queue-without-end"),
            Decision("TRG-06", "PACE", ("dropped-out-of-turn",), "drops-first-in-turn"),
        ),
        plan=FULL_QUEUE,
        tiers=EVERYWHERE,
    ),
    Case(
        id="triggering/users-do-not-pause",
        purpose="Is a user served at once, although the pause is not over?",
        method="The pause is one second, and users make requests right after a completion.",
        passes="Each of them waits for a free slot at most.",
        decides=(Decision("TRG-06", "PACE", ("user-waits-for-pause",), "pauses-users"),),
        plan=WITHOUT_PAUSE,
    ),
    Case(
        id="triggering/long-checkpoints",
        purpose="Do records flow, and checkpoints not overlap, when one lasts longer than the interval?",
        method="Each publication takes three intervals, with a pause of one and a half.",
        passes="One is pending at a time, its share of the time is that of duration and pause, and records flow.",
        decides=(
            Decision("TRG-07", "COORD", ("too-many-pending",), "ignores-max-concurrent"),
            Decision("TRG-07", "PACE", ("share-too-high",), "ignores-min-pause"),
            Decision("TRG-07", "PACE", ("records-stand-still",), "stops-sources-while-aligning"),
        ),
        plan=SLOW_CHECKPOINTS,
        tiers=EVERYWHERE,
        pictures=("pause",),
    ),
    Case(
        id="triggering/refused",
        purpose="Does a request that cannot be served now leave nothing behind?",
        method="Users make requests while the job waits for its restart, and when it has failed for good.",
        passes="They are refused, and no id is drawn for them or while not all tasks run.",
        decides=(
            Decision("TRG-08", "PACE", ("refused-and-begun", "triggered-while-not-running"), "draws-before-checking"),
            Decision("TRG-08", "COUNT", ("failed-below-tolerable",), "counts-refusals"),
        ),
        plan=REFUSED,
        mutant_plan=REFUSED[0],
        tiers=EVERYWHERE,
    ),
    Case(
        id="triggering/first",
        purpose="Does the first checkpoint wait for the pause at least, and for the interval at most?",
        method="Six seeds draw the first delay of a job with a pause of half the interval.",
        passes="Each lies between the two.",
        decides=(Decision("TRG-09", "PACE", ("first-trigger-outside",), "triggers-at-once"),),
        plan=FIRST,
    ),
    Case(
        id="triggering/deletion-backlog",
        purpose="Do checkpoints wait while too many dropped ones are still being deleted?",
        method="Each deletion takes seven intervals.",
        passes="None begins while more than max-concurrent of them are under way.",
        decides=(Decision("TRG-09", "PACE", ("triggered-with-backlog",), "ignores-backlog"),),
        plan=plan(*BACKLOG, records=LONG),
        tiers=EVERYWHERE,
    ),
)
