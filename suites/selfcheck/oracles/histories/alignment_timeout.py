"""Histories for CUT: checkpoints that may overtake from some moment on. Every event takes one millisecond."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import (
    AttemptStarted,
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    CheckpointDrawn,
    CheckpointTriggered,
    Event,
    NotificationReceived,
    SnapshotTaken,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import BROADCAST, JOIN, KEYED_SUM
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits, injected, story

bad, near = exhibits("CUT")

CHANNEL = "source[0]->sum[0]"
UNALIGNED = {**OPTIONS, "execution.checkpointing.unaligned.enabled": "true"}
PATIENT = {**UNALIGNED, "execution.checkpointing.alignment-timeout": "100 ms"}
WAITED_MS = 200.0
"""Longer than the timeout, however far two clocks are apart."""


def _snapshot(*lines: Line, unaligned: bool, options: dict[str, str] = PATIENT, job: Job = KEYED_SUM) -> History:
    """Of the vertex before the sink."""
    return story(
        AttemptStarted(),
        CheckpointTriggered(checkpoint=1, participants=()),
        *lines,
        SnapshotTaken(subtask=f"{job.vertices[-2].name}[0]", checkpoint=1, unaligned=unaligned),
        options=options,
        job=job,
    )


@bad("aligned-too-long")
def aligned_behind_the_timeout() -> History:
    return _snapshot(WAITED_MS, unaligned=False)


@bad("begins-aligned")
def aligned_without_a_timeout() -> History:
    return _snapshot(unaligned=False, options=UNALIGNED)


@bad("begins-aligned")
def aligned_though_either_input_may_be_overtaken() -> History:
    return _snapshot(unaligned=False, options=UNALIGNED, job=JOIN)


@near("begins-aligned")
def aligned_as_one_input_is_broadcast() -> History:
    """A source has no such input."""
    source = SnapshotTaken(subtask="source[0]", checkpoint=1, unaligned=True)
    return _snapshot(source, unaligned=False, options=UNALIGNED, job=BROADCAST)


@near("begins-aligned")
def unaligned_without_a_timeout() -> History:
    return _snapshot(unaligned=True, options=UNALIGNED)


@near("aligned-too-long")
def aligned_behind_the_timeout_as_one_input_is_broadcast() -> History:
    source = SnapshotTaken(subtask="source[0]", checkpoint=1, unaligned=True)
    return _snapshot(WAITED_MS, source, unaligned=False, job=BROADCAST)


@near("aligned-too-long")
def a_source_has_nothing_to_align() -> History:
    """The trigger is on its way for longer than the timeout."""
    return story(
        AttemptStarted(),
        CheckpointTriggered(checkpoint=1, participants=()),
        WAITED_MS,
        SnapshotTaken(subtask="source[0]", checkpoint=1),
        SnapshotTaken(subtask="sum[0]", checkpoint=1, unaligned=True),
        options=PATIENT,
    )


@near("aligned-too-long")
def unaligned_behind_the_timeout() -> History:
    return _snapshot(WAITED_MS, unaligned=True)


@bad("overtook-early")
def unaligned_before_the_timeout() -> History:
    return _snapshot(unaligned=True)


@bad("overtook-early")
def overtaken_before_the_timeout() -> History:
    return story(
        AttemptStarted(),
        CheckpointTriggered(checkpoint=1, participants=()),
        BarrierSent(channel=CHANNEL, checkpoint=1),
        BarrierReceived(channel=CHANNEL, checkpoint=1, overtaking=True),
        options=PATIENT,
    )


def _drawn_before(waited_ms: float) -> History:
    """The id becomes durable so long after it was drawn; then a barrier overtakes at once."""
    return story(
        AttemptStarted(),
        CheckpointDrawn(checkpoint=1, request=1, origin=CheckpointOrigin.PERIODIC),
        waited_ms,
        CheckpointTriggered(checkpoint=1, participants=()),
        BarrierSent(channel=CHANNEL, checkpoint=1),
        BarrierReceived(channel=CHANNEL, checkpoint=1, overtaking=True),
        options=PATIENT,
    )


@bad("overtook-early")
def overtaken_soon_after_the_id_was_drawn() -> History:
    return _drawn_before(50.0)


@near("overtook-early")
def the_barrier_carries_when_the_id_was_drawn() -> History:
    return _drawn_before(WAITED_MS)


@near("overtook-early")
def aligned_before_the_timeout() -> History:
    return _snapshot(unaligned=False)


def _queue(*between: Event | float, faults: tuple[FaultSpec, ...] = ()) -> History:
    """A barrier is sent behind six batches; two are processed before the timeout, and then what is given."""
    return story(
        AttemptStarted(),
        [BatchSent(channel=CHANNEL, position=position, records=1) for position in range(6)],
        CheckpointTriggered(checkpoint=1, participants=()),
        BarrierSent(channel=CHANNEL, checkpoint=1),
        [BatchProcessed(channel=CHANNEL, position=position, records=1) for position in range(2)],
        *between,
        options=PATIENT,
        faults=faults,
    )


def _processed(*positions: int) -> list[BatchProcessed]:
    return [BatchProcessed(channel=CHANNEL, position=position, records=1) for position in positions]


@bad("barrier-waits")
def barrier_waits_for_its_queue() -> History:
    return _queue(WAITED_MS, *_processed(2, 3, 4, 5), BarrierReceived(channel=CHANNEL, checkpoint=1))


@near("barrier-waits")
def barrier_overtakes_its_queue() -> History:
    return _queue(WAITED_MS, *_processed(2), BarrierReceived(channel=CHANNEL, checkpoint=1, overtaking=True))


@near("barrier-waits")
def queue_is_processed_in_time() -> History:
    return _queue(*_processed(2, 3, 4, 5), WAITED_MS, BarrierReceived(channel=CHANNEL, checkpoint=1))


def _aborted(checkpoint: int, side: int = 1) -> History:
    """One side hears of an aborted checkpoint; then the queue in front of the barrier is worked off."""
    heard = NotificationReceived(checkpoint=checkpoint, subtask=CHANNEL.split("->")[side], completed=False)
    return _queue(heard, WAITED_MS, *_processed(2, 3, 4, 5), BarrierReceived(channel=CHANNEL, checkpoint=1))


@bad("barrier-waits")
def barrier_waits_though_another_checkpoint_was_aborted() -> History:
    return _aborted(2)


@near("barrier-waits")
def barrier_of_an_aborted_checkpoint_keeps_its_place() -> History:
    return _aborted(1)


@near("barrier-waits")
def whoever_sent_the_barrier_hears_that_it_was_given_up() -> History:
    return _aborted(1, side=0)


@bad("barrier-waits")
def whoever_sent_the_barrier_hears_of_another() -> History:
    return _aborted(2, side=0)


@near("aligned-too-long")
def late_channel_brings_its_queue_first() -> History:
    return _behind_a_late_channel(injected("slow", "channel[0]"))


@bad("barrier-waits")
def its_channel_was_to_be_late_and_never_was() -> History:
    return _behind_a_late_channel()


def _behind_a_late_channel(*acted: Event) -> History:
    late = FaultSpec("slow", Target(Role.CHANNEL, 0), parameters={"delay_ms": 300})
    return _queue(
        WAITED_MS,
        *acted,
        *_processed(2, 3, 4, 5),
        BarrierReceived(channel=CHANNEL, checkpoint=1),
        SnapshotTaken(subtask="sum[0]", checkpoint=1, unaligned=True),
        faults=(late,),
    )
