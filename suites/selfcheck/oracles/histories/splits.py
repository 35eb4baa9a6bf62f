"""Histories for COORD: splits that an enumerator assigns, of two readers and four partitions."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AckSent,
    AttemptStarted,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    MetadataPublished,
    NodeDied,
    SnapshotTaken,
    SplitsAssigned,
    SplitsLeft,
    SplitsListed,
    SplitsReceived,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, input_log
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("COORD")

ALL = tuple(f"{vertex}[{index}]" for vertex in ("source", "map", "sink") for index in (0, 1))


def story(
    first: tuple[int, ...], second: tuple[int, ...], left: tuple[int, ...], *listings: tuple[int, ...]
) -> History:
    """A checkpoint with what the readers have in it, and what they leave to the enumerator; what was listed before."""
    held = dict(zip(ALL, (first, second, (), (), (), ()), strict=True))
    snapshots: list[Event] = [
        SnapshotTaken(subtask=subtask, checkpoint=1, positions=tuple((split, 3) for split in splits))
        for subtask, splits in held.items()
    ]
    acks: list[Event] = [AckReceived(checkpoint=1, subtask=each, outcome=AckOutcome.SUCCESS) for each in ALL]
    return any_story(
        [SplitsListed(splits=each) for each in listings],
        AttemptStarted(),
        CheckpointTriggered(checkpoint=1, participants=ALL),
        snapshots,
        acks,
        SplitsLeft(checkpoint=1, vertex="source", splits=left),
        MetadataPublished(checkpoint=1, path="chk-1/_metadata", files=()),
        CheckpointCompleted(checkpoint=1),
        job=FORWARD,
        inputs=input_log(10, 10, 10, 10),
    )


@bad("split-lost")
def a_split_that_was_sent_is_nobodys() -> History:
    return story((0, 2), (1,), ())


@near("split-lost")
def a_split_that_was_sent_is_the_enumerators() -> History:
    return story((0, 2), (1,), (3,))


@near("split-lost")
def readers_have_all_splits() -> History:
    return story((0, 2), (1, 3), ())


@bad("split-twice")
def two_readers_have_a_split() -> History:
    return story((0, 2), (1, 2, 3), ())


@bad("split-twice")
def a_reader_has_a_split_that_the_enumerator_keeps() -> History:
    return story((0, 2), (1, 3), (3,))


@near("split-twice")
def no_reader_has_any_split_yet() -> History:
    return story((), (), (0, 1, 2, 3))


def given(*lines: Line) -> History:
    """What a reader is assigned and given."""
    return any_story(AttemptStarted(), *lines, job=FORWARD, inputs=input_log(10, 10, 10, 10))


def assigned(*splits: int) -> SplitsAssigned:
    return at("coordinator.0", SplitsAssigned(subtask="source[1]", splits=splits))


def received(*splits: int) -> SplitsReceived:
    return SplitsReceived(subtask="source[1]", splits=splits)


def _again(times: int) -> list[Line]:
    """The same is assigned again and again."""
    return [line for _ in range(times) for line in (150, assigned(1))]


def ack_sent() -> AckSent:
    return AckSent(checkpoint=1, subtask="source[1]")


def ack_taken() -> list[Line]:
    """A while after it was sent."""
    return [1, at("coordinator.0", AckReceived(checkpoint=1, subtask="source[1]", outcome=AckOutcome.DISCARDED))]


def dies() -> list[Event]:
    return [NodeDied(dead_node="coordinator", cause="kill"), AttemptStarted()]


@bad("split-mistaken")
def a_reader_is_given_splits_of_another() -> History:
    return given(assigned(1, 3), received(0, 2))


@bad("split-mistaken")
def a_reader_is_given_a_part() -> History:
    return given(assigned(1, 3), received(1))


@bad("split-mistaken")
def a_reader_is_given_splits_of_its_last_attempt() -> History:
    return given(assigned(1, 3), received(1, 3), AttemptStarted(), assigned(3), received(1, 3))


@bad("split-mistaken")
def the_next_coordinator_assigned_others() -> History:
    return given(dies(), assigned(3), received(1))


@near("split-mistaken")
def a_reader_is_given_what_it_was_assigned() -> History:
    return given(assigned(1), assigned(1, 3), received(1), received(1, 3))


@near("split-mistaken")
def the_coordinator_dies_before_it_writes_down_what_it_assigned() -> History:
    return given(received(1), dies(), assigned(1), received(1))


@bad("split-assigned-again")
def nobody_takes_the_confirmation() -> History:
    return given(assigned(1), received(1), *_again(4))


@near("split-assigned-again")
def the_confirmation_comes_late() -> History:
    return given(assigned(1), received(1), *_again(3))


@bad("split-assigned-again")
def a_later_ack_of_the_reader_is_taken() -> History:
    return given(assigned(1), received(1), 1, ack_sent(), *ack_taken(), *_again(4))


@near("split-assigned-again")
def a_later_ack_of_the_reader_is_late() -> History:
    return given(assigned(1), received(1), 1, ack_sent(), *_again(5), *ack_taken(), *_again(3))


@near("split-assigned-again")
def the_assignment_was_lost_for_long() -> History:
    return given(*_again(8), received(1), 150)


@bad("split-lost")
def a_split_is_lost_that_only_the_first_listing_held() -> History:
    return story((0, 2), (1,), (), (0, 1, 2, 3), (0, 1, 2))


@near("split-lost")
def a_split_that_was_not_listed_yet_is_in_no_part() -> History:
    return story((0, 2), (1,), (), (0, 1, 2), (0, 1, 2))


@near("split-lost")
def a_split_that_was_listed_behind_the_trigger_is_in_no_part() -> History:
    early = story((0, 2), (1,), (), (0, 1, 2))
    events = list(early.events)
    begun = next(at for at, event in enumerate(events) if isinstance(event, SnapshotTaken))
    return any_story(
        [*events[:begun], SplitsListed(splits=(0, 1, 2, 3)), *events[begun:]],
        job=FORWARD,
        inputs=input_log(10, 10, 10, 10),
    )


@near("split-lost")
def a_split_that_a_later_listing_leaves_out_stays_its_readers() -> History:
    return story((0, 2), (1, 3), (), (0, 1, 2, 3), (0, 1, 2))


def restored(*listings: tuple[int, ...], held: tuple[int, ...]) -> History:
    """Another coordinator goes on from the checkpoint of all splits, and completes one with these."""
    first = story((0, 2), (1, 3), (), (0, 1, 2, 3))
    other = "coordinator.1"
    positions = tuple((split, 3) for split in held)
    later: list[Event] = [
        *(SplitsListed(node=other, splits=each) for each in listings),
        AttemptStarted(node=other, attempt=2, restored_checkpoint=1),
        CheckpointTriggered(node=other, attempt=2, checkpoint=2, participants=ALL),
        *(
            SnapshotTaken(attempt=2, subtask=each, checkpoint=2, positions=positions if each == "source[0]" else ())
            for each in ALL
        ),
        *(AckReceived(node=other, attempt=2, checkpoint=2, subtask=each, outcome=AckOutcome.SUCCESS) for each in ALL),
        SplitsLeft(node=other, attempt=2, checkpoint=2, vertex="source", splits=()),
        MetadataPublished(node=other, attempt=2, checkpoint=2, path="chk-2/_metadata", files=()),
        CheckpointCompleted(node=other, attempt=2, checkpoint=2),
    ]
    return any_story(list(first.events), later, job=FORWARD, inputs=input_log(10, 10, 10, 10))


@bad("split-lost")
def a_restored_split_is_lost_because_a_new_coordinators_listing_leaves_it_out() -> History:
    return restored((0, 1, 2), held=(0, 1, 2))


@near("split-lost")
def a_restored_split_is_held_though_a_new_coordinators_listing_leaves_it_out() -> History:
    return restored((0, 1, 2), held=(0, 1, 2, 3))


def healed(*listings: tuple[int, ...], completed: int) -> History:
    """So many checkpoints complete after the heal."""
    return any_story(
        [SplitsListed(splits=each) for each in listings],
        AttemptStarted(),
        [
            event
            for checkpoint in range(1, completed + 1)
            for event in (
                CheckpointTriggered(checkpoint=checkpoint, participants=ALL),
                *(AckReceived(checkpoint=checkpoint, subtask=each, outcome=AckOutcome.SUCCESS) for each in ALL),
                MetadataPublished(checkpoint=checkpoint, path=f"chk-{checkpoint}/_metadata", files=()),
                CheckpointCompleted(checkpoint=checkpoint),
            )
        ],
        job=FORWARD,
        inputs=input_log(10, 10, 10, 10),
    )


@bad("split-not-listed")
def a_job_goes_on_and_a_split_is_in_no_listing() -> History:
    return healed((0, 1, 2), (0, 1, 2), completed=3)


@near("split-not-listed")
def a_split_is_in_a_later_listing() -> History:
    return healed((0, 1, 2), (0, 1, 2, 3), completed=3)


@near("split-not-listed")
def a_split_is_in_an_earlier_listing_only() -> History:
    return healed((0, 1, 2, 3), (0, 1, 2), completed=3)


@near("split-not-listed")
def a_job_that_has_hardly_gone_on_may_still_list_it() -> History:
    return healed((0, 1, 2), completed=1)
