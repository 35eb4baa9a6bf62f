"""Histories for MESSAGE: what was sent and what was taken, by subtasks and a coordinator that live."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, in_real_time, injected, story
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS

bad, near = exhibits("MESSAGE")

SOURCE = "source[1]"


def running(*lines: Line) -> History:
    """Every subtask runs in attempt 1; the run ends a second after the last line."""
    return story(events.AttemptStarted(), *(events.TaskStarted(subtask=each) for each in SUBTASKS), *lines)


def trigger() -> events.TriggerSent:
    return events.TriggerSent(checkpoint=1, subtask=SOURCE)


def taken(attempt: int = 0) -> events.TriggerReceived:
    return at("", events.TriggerReceived(checkpoint=1, subtask=SOURCE), attempt)


def struck(kind: str, target: str = "worker[1]") -> events.FaultInjected:
    return at("harness", injected(kind, target))


@bad("never-sent")
def trigger_of_another_attempt() -> History:
    return running(events.AttemptStarted(), trigger(), taken(attempt=1))


@bad("never-sent")
def acknowledgement_that_nobody_sent() -> History:
    received = [
        events.AckReceived(checkpoint=each, subtask=SOURCE, outcome=events.AckOutcome.SUCCESS) for each in (1, 2)
    ]
    return running(events.AckSent(checkpoint=1, subtask=SOURCE), received)


@bad("never-sent")
def acknowledgement_under_another_name() -> History:
    sent = events.AckSent(checkpoint=1, subtask="source[0]")
    received = [
        events.AckReceived(checkpoint=1, subtask=each, outcome=events.AckOutcome.SUCCESS)
        for each in ("source[0]", SOURCE)
    ]
    return running(sent, received)


@bad("never-sent")
def decline_of_another_checkpoint() -> History:
    sent = events.DeclineSent(checkpoint=2, subtask=SOURCE, reason="full")
    received = [events.DeclineReceived(checkpoint=each, subtask=SOURCE, reason="full") for each in (2, 1)]
    return running(sent, received)


@bad("never-sent")
def notice_of_the_other_kind() -> History:
    sent = events.NotificationSent(checkpoint=1, subtask=SOURCE, completed=False)
    received = [events.NotificationReceived(checkpoint=1, subtask=SOURCE, completed=each) for each in (False, True)]
    return running(sent, received)


def behind_a_successor(*lines: Line) -> History:
    """Another coordinator has taken over while the one of the attempt lives."""
    claims = (
        at("coordinator.0", events.CoordinatorClaimed(epoch=1)),
        at("coordinator.1", events.CoordinatorClaimed(epoch=2)),
    )
    return story(at("coordinator.0", events.AttemptStarted()), *claims, *lines)


@bad("never-sent")
def neither_of_two_coordinators_sent_it() -> History:
    return behind_a_successor(at("coordinator.0", trigger()), taken(attempt=2))


@near("never-sent")
def a_superseded_coordinator_sent_it() -> History:
    return behind_a_successor(at("coordinator.0", trigger()), taken())


@near("never-received")
def nobody_takes_what_a_superseded_coordinator_sends() -> History:
    return behind_a_successor(at("coordinator.0", trigger()), taken(), at("coordinator.0", another()))


@near("never-sent")
@near("taken-twice")
def trigger_that_is_sent_again() -> History:
    return running(trigger(), trigger(), taken(), taken())


@bad("taken-twice")
def trigger_that_comes_twice() -> History:
    return running(trigger(), taken(), taken())


@bad("taken-twice")
def another_trigger_is_doubled() -> History:
    return running(_doubled("source[0]"), trigger(), taken(), taken())


@near("taken-twice")
def a_fault_doubles_it() -> History:
    return running(_doubled(SOURCE), trigger(), taken(), taken())


def _doubled(subtask: str) -> Line:
    return at(
        "harness", events.MessageDisturbed(message="trigger", way="double", worker=1, subtask=subtask, checkpoint=1)
    )


@near("never-sent")
def the_sender_died_on_a_busy_machine() -> History:
    died = events.NodeDied(dead_node="coordinator", cause="kill")
    return in_real_time(running(trigger(), taken(), died, at("", events.TriggerReceived(checkpoint=2, subtask=SOURCE))))


@near("never-sent")
def subtask_that_had_finished_in_the_checkpoint() -> History:
    """A coordinator finds that in the checkpoint that it restores: nobody sends it."""
    return running(events.FinishReceived(subtask=SOURCE), trigger(), taken())


@bad("never-received")
def trigger_is_lost() -> History:
    return running(trigger())


@bad("never-received")
def acknowledgement_is_lost() -> History:
    return running(events.AckSent(checkpoint=1, subtask=SOURCE))


@bad("never-received")
def notice_is_lost() -> History:
    return running(events.NotificationSent(checkpoint=1, subtask=SOURCE, completed=True))


@bad("never-received")
def decline_is_lost() -> History:
    return running(events.DeclineSent(checkpoint=1, subtask=SOURCE, reason="full"))


@bad("never-received")
def splits_are_lost() -> History:
    return running(events.SplitsAssigned(subtask=SOURCE, splits=(1, 3)))


@bad("never-received")
def end_of_a_subtask_is_lost() -> History:
    return running(events.SubtaskFinished(subtask=SOURCE))


@bad("never-received")
def a_channel_is_slow() -> History:
    """Records travel on it, and no control messages."""
    return running(struck("slow", "channel[0]"), trigger())


@bad("never-received")
def connection_was_cut_before() -> History:
    return running(struck("cut"), 100, trigger())


@bad("never-received")
def another_message_was_struck() -> History:
    lost = events.MessageDisturbed(message="trigger", way="lose", worker=0, subtask="source[0]", checkpoint=1)
    return running(lost, trigger())


@near("never-received")
def trigger_arrives() -> History:
    return running(trigger(), taken())


@near("never-received")
def everything_arrives() -> History:
    return running(
        events.SplitsAssigned(subtask=SOURCE, splits=(1, 3)),
        events.SplitsReceived(subtask=SOURCE, splits=(1, 3)),
        events.AckSent(checkpoint=1, subtask=SOURCE),
        events.AckReceived(checkpoint=1, subtask=SOURCE, outcome=events.AckOutcome.SUCCESS),
        events.SubtaskFinished(subtask=SOURCE),
        events.FinishReceived(subtask=SOURCE),
    )


def _after_one(*lines: Line) -> History:
    """One arrives, so that there is something to decide on."""
    return running(trigger(), taken(), *lines)


def another() -> events.TriggerSent:
    return events.TriggerSent(checkpoint=2, subtask=SOURCE)


@near("never-received")
def its_receiver_has_stopped() -> History:
    return _after_one(another(), events.TaskStopped(subtask=SOURCE, reason="cancelled"))


@near("never-received")
def its_receiver_dies() -> History:
    return _after_one(another(), events.NodeDied(dead_node="worker-1", cause="kill"))


@near("never-received")
def the_next_attempt_begins() -> History:
    return _after_one(another(), events.AttemptStarted())


@near("never-received")
def the_job_is_over() -> History:
    return _after_one(
        events.AckSent(checkpoint=1, subtask=SOURCE), events.JobSwitched(status=events.JobStatus.CANCELLING)
    )


@near("never-received")
def its_coordinator_dies() -> History:
    return _after_one(
        events.AckSent(checkpoint=1, subtask=SOURCE), events.NodeDied(dead_node="coordinator", cause="kill")
    )


@near("never-received")
def a_fault_loses_it() -> History:
    lost = events.MessageDisturbed(message="trigger", way="lose", worker=1, subtask=SOURCE, checkpoint=2)
    return _after_one(at("coordinator.0", lost), another())


@near("never-received")
def its_connection_is_cut() -> History:
    return _after_one(another(), 100, struck("cut"))
