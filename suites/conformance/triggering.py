"""When checkpoints begin, and in which turn (RULES TRG)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from msgspec.structs import replace

from holdfast.faults.process import kill, pause
from holdfast.faults.storage import slow_storage
from holdfast.faults.user import request_checkpoint
from holdfast.harness.model.case import Window
from holdfast.harness.model.jobs import REBALANCE
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, RESTART, WORKERS, case, decides, gate, plan, with_needs

PATIENT = Bounds(safety_ms=4_000, liveness_ms=8_000)
STUCK = pause(WORKERS[0], 400, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0]))
"""A worker stands still in front of an acknowledgement, so its checkpoint is pending, and nothing else begins."""
WHILE_STUCK: Mapping[str, Any] = {"after_checkpoint": 2, "at_event": "checkpoint_triggered"}
LONG = {"records": 400, "records_per_second": 200}


def periodic(interval: int, **options: int | str) -> Mapping[str, str]:
    """An interval and more, in milliseconds where it is a duration."""
    named = {"interval": interval, **{key.replace("_", "-"): value for key, value in options.items()}}
    return {
        f"{plans.CHECKPOINTING}.{key}": value if isinstance(value, str) else f"{value} ms"
        for key, value in named.items()
    }


WITHOUT_INTERVAL = replace(
    plan(pause(WORKERS[0], 900, at_event="job_switched"), expected_end=ExpectedEnd.FAILED),
    options={f"{RESTART}.type": "none", "heartbeat.interval": "100 ms", "heartbeat.timeout": "500 ms"},
)
"""The job runs for half a second, until a paused worker is declared dead."""
IDS = (
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("send-trigger", COORDINATOR))),
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("during-persist-job-record", COORDINATOR))),
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("send-trigger", COORDINATOR)),
         kill(COORDINATOR, after_checkpoint=2, gate=gate("publish-metadata", COORDINATOR))),
)  # fmt: skip
PAUSES = tuple(
    plan(slow_storage("publish-metadata", delay_ms, 600, after_checkpoint=1),
         options=periodic(interval_ms, min_pause=pause_ms), records=LONG, bounds=PATIENT)
    for interval_ms, pause_ms, delay_ms in product((40, 100), (60, 150), (30, 90))
)  # fmt: skip
DELAYED = {f"{RESTART}.fixed-delay.delay": "300 ms"}
REFUSED = (
    plan(kill(WORKERS[0], after_checkpoint=1),
         request_checkpoint("user forced", after_checkpoint=1, at_event="failure_counted"), options=DELAYED),
    plan(kill(WORKERS[0], after_checkpoint=1),
         request_checkpoint("user", after_checkpoint=1, at_event="restart_refused"),
         options={f"{RESTART}.type": "none"}, expected_end=ExpectedEnd.FAILED),
)  # fmt: skip
FIRST = tuple(plan(options=periodic(400, min_pause=200), bounds=PATIENT, run_seed=seed, faults=()) for seed in range(6))
BACKLOG: tuple[FaultSpec, ...] = (slow_storage("delete", 300, 900, after_checkpoint=1),)

CASES = with_needs(
    case("triggering/without-interval", "Does a job without an interval take no checkpoints?", WITHOUT_INTERVAL,
         decides("TRG-01", "PACE/triggered-without-interval", wrong="triggers-without-interval"), tiers=EVERYWHERE,
         method="No interval is configured, and the job runs until a paused worker is declared dead.",
         passes="No periodic checkpoint is requested."),
    case("triggering/ids", "Do ids rise, whatever coordinator draws them?", IDS,
         decides("TRG-02", "COORD/ids-not-increasing", wrong="forgets-drawn-ids"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="The coordinator is killed when it has drawn an id, and is about to report it or has reported it.",
         passes="Each id is above all that were triggered before it."),
    case("triggering/sources-only", "Does a checkpoint begin at the sources, and anywhere else with a barrier?", plan(),
         decides("TRG-03", "COORD/triggered-not-a-source", "COORD/begun-without-barrier", wrong="triggers-everybody"),
         tiers=EVERYWHERE,
         method="The trace shows whom the coordinator triggers, and when each subtask takes its snapshot.",
         passes="Only sources are triggered, and every other snapshot follows a barrier."),
    case("triggering/max-concurrent", "Are at most so many checkpoints pending as may be?",
         tuple(plan(STUCK, options={**periodic(40, max_concurrent_checkpoints=limit), **plans.TOLERANT}, records=LONG)
               for limit in ("1", "2", "5")),
         decides("TRG-04", "COORD/too-many-pending", wrong="ignores-max-concurrent"), tiers=EVERYWHERE,
         method="Acknowledgements are held up for ten intervals, with one, two and five checkpoints allowed.",
         passes="Never more are pending, and a surplus request waits."),
    case("triggering/min-pause", "Is the pause after a completion kept, whatever interval and duration are?", PAUSES,
         decides("TRG-05", "PACE/pause-too-short", wrong="ignores-min-pause"), tiers=EVERYWHERE, pictures=("pause",),
         method="Intervals and pauses, longer and shorter, and publications that last longer and shorter.",
         passes="No periodic checkpoint begins sooner after the last completion than the pause."),
    case("triggering/turn",
         "Do forced requests go before those of users, those before the interval's, and older before younger?",
         plan(STUCK, request_checkpoint("user forced user forced user", **WHILE_STUCK), records=LONG),
         decides("TRG-06", "PACE/served-out-of-turn", wrong="serves-oldest-first"), tiers=EVERYWHERE,
         method="While a checkpoint is stuck, users and forced requests come in a mixed batch.",
         passes="Whenever one is served, no other that waits was to go first."),
    case("triggering/full-queue", "Is the queue bounded, and what exceeds it the last in turn?",
         plan(STUCK, request_checkpoint("user", times=1_010, **WHILE_STUCK)),
         decides("TRG-06", "PACE/queue-too-long", wrong="queue-without-end"),
         decides("TRG-06", "PACE/dropped-out-of-turn", wrong="drops-first-in-turn"), tiers=EVERYWHERE,
         method="While a checkpoint is stuck, a thousand and ten requests come.",
         passes="At most a thousand wait, and whatever is dropped was to be served last."),
    case("triggering/users-do-not-pause", "Is a user served at once, although the pause is not over?",
         plan(request_checkpoint("user", after_checkpoint=1), request_checkpoint("user user", after_checkpoint=2),
              options=periodic(40, min_pause=1_000), bounds=PATIENT),
         decides("TRG-06", "PACE/user-waits-for-pause", wrong="pauses-users"),
         method="The pause is one second, and users make requests right after a completion.",
         passes="Each of them waits for a free slot at most."),
    case("triggering/long-checkpoints",
         "Do records flow, and checkpoints not overlap, when one lasts longer than the interval?",
         plan(slow_storage("publish-metadata", 120, 1_500, after_checkpoint=1), job=REBALANCE,
              options=periodic(40, min_pause=60), records={"records": 700, "records_per_second": 200}, bounds=PATIENT),
         decides("TRG-07", "COORD/too-many-pending", wrong="ignores-max-concurrent"),
         decides("TRG-07", "PACE/share-too-high", wrong="ignores-min-pause"),
         decides("TRG-07", "PACE/records-stand-still", wrong="stops-sources-while-aligning"), tiers=EVERYWHERE,
         pictures=("pause",),
         method="Each publication takes three intervals, with a pause of one and a half.",
         passes="One is pending at a time, its share of the time is that of duration and pause, and records flow."),
    case("triggering/refused", "Does a request that cannot be served now leave nothing behind?", REFUSED,
         decides("TRG-08", "PACE/refused-and-begun", "PACE/triggered-while-not-running", wrong="draws-before-checking"),
         decides("TRG-08", "COUNT/failed-below-tolerable", wrong="counts-refusals"), mutant_plan=REFUSED[0],
         tiers=EVERYWHERE,
         method="Users make requests while the job waits for its restart, and when it has failed for good.",
         passes="They are refused, and no id is drawn for them or while not all tasks run."),
    case("triggering/first", "Does the first checkpoint wait for the pause at least, and for the interval at most?",
         FIRST, decides("TRG-09", "PACE/first-trigger-outside", wrong="triggers-at-once"),
         method="Six seeds draw the first delay of a job with a pause of half the interval.",
         passes="Each lies between the two."),
    case("triggering/deletion-backlog", "Do checkpoints wait while too many dropped ones are still being deleted?",
         plan(*BACKLOG, records=LONG), decides("TRG-09", "PACE/triggered-with-backlog", wrong="ignores-backlog"),
         tiers=EVERYWHERE,
         method="Each deletion takes seven intervals.",
         passes="None begins while more than max-concurrent of them are under way."),
)  # fmt: skip
