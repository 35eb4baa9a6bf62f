"""LIVE: after the heal the plan's expected end is reached (RULES: every rule about how a run ends)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from holdfast.harness.model import events, profile
from holdfast.harness.model.consequence import Consequence, FaultFate
from holdfast.harness.model.events import BY_HARNESS, NodeDied, StateFound
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.topology import channel_ends, process_of
from holdfast.harness.model.verdict import Damage, Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.checkpoints import spans
from holdfast.harness.oracles.ledger.parts import by_part
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.liveness.blockage import status_in_words, waiting_for
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.layout import newest_attempts
from holdfast.harness.oracles.shared.stated_options import texts


def own_deaths(history: History) -> Iterator[str]:
    """One sentence for each program that died by itself; nothing where a system is not a program of the user's."""
    if not history.of(StateFound):
        return
    causes: dict[str, list[str]] = {}
    for died in history.of(NodeDied):
        if died.cause not in BY_HARNESS:
            causes.setdefault(process_of(died.dead_node), []).append(died.cause)
    for process, theirs in causes.items():
        yield f"{process} died {plural(len(theirs), 'time')} by itself, the last time with {theirs[-1]}"


OWED_CHECKPOINTS = 2
"""New complete checkpoints that show that a job runs: the first may have been on its way at the heal."""


class LiveOracle:
    """Judges the liveness phase. Without protocol events only the expected end itself."""

    name = "LIVE"
    title = "progress after the heal"
    invariant = "After the heal the expected end is reached, new checkpoints complete, and all input drains."
    clauses: Mapping[str, str] = {
        "end-not-reached": "the expected end is not reached within its bound",
        "failed-by-itself": "the job fails by an error of its own, though nothing was broken",
        "no-output": "the job has taken all its input and written no row, though rows are due",
        "no-new-checkpoints": "a running job completes fewer than two checkpoints after the heal",
        "input-not-drained": "the last completed checkpoint of a running job does not cover all input",
        "channel-left-blocked": "a channel stays blocked although its checkpoint is over",
    }
    evidence: tuple[type[events.Event], ...] = ()

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        if history.end.problem:
            return findings.verdict(history)
        if not history.end.reached and _not_brought_about(history):
            return findings.verdict(history)
        if not history.plan.faults and history.plan.expected_end is not ExpectedEnd.FAILED:
            findings.check("failed-by-itself")
            if history.end.job_error and _has_failed(history):
                findings.violated("failed-by-itself", history.end.reason, damage=Damage.STOPPED)
                return findings.verdict(history)  # All else that is missing follows from that.
        findings.check("end-not-reached")
        if not history.end.reached:
            _name_what_is_missing(history, findings)
        if history.output.units or history.end.wrote_nothing:
            findings.check("no-output")
        if nothing := history.end.wrote_nothing:
            findings.violated("no-output", nothing, damage=Damage.LOSS)
        for note in own_deaths(history) if history.end.reached else ():
            findings.inform(note)
        if history.plan.expected_end is ExpectedEnd.RUNNING:
            if profile.INTERVAL in texts(history.plan) and history.of(events.CheckpointTriggered):
                _judge_checkpoints(history, findings)
            _judge_channels(history, findings)
        return findings.verdict(history)


def _has_failed(history: History) -> bool:
    """Whether the job has not come to its end, and was given up."""
    switched = history.of(events.JobSwitched)
    return not history.end.reached and any(event.status is events.JobStatus.FAILED for event in switched)


def _name_what_is_missing(history: History, findings: Findings) -> None:
    """The end is not reached: say what the job is, and which transaction or acknowledgement is missing."""
    expected = history.plan.expected_end
    if expected is ExpectedEnd.FAILED:
        message = "the job still runs or restarts, where it must end as failed"
        findings.violated("end-not-reached", message, damage=Damage.WRONG_RESTART)
        return
    if expected not in (ExpectedEnd.RUNNING, ExpectedEnd.FINISHED):
        findings.violated("end-not-reached", history.end.reason or f"the job is not {expected}")
        return
    reason = history.end.reason or "the reason is not known"
    waiting = waiting_for(history)
    words = "; ".join([reason, *own_deaths(history), *(text for text, _ in waiting)])
    findings.violated("end-not-reached", f"{status_in_words(history)}: {words}", *(event for _, event in waiting))


def _not_brought_about(history: History) -> bool:
    """An end that only the faults of the plan lead to is not due where one of them never acted on a job that ran, or
    too late, nor where two kills were one failure to it, since they hit it before it ran again, nor where the
    coordinator died with the command of the user that ends the job. A job runs without faults, until a user ends it."""
    if history.plan.expected_end in (ExpectedEnd.RUNNING, ExpectedEnd.FINISHED):
        return _never_submitted_again(history)
    switched = history.of(events.JobSwitched)
    if not switched or switched[-1].status is not events.JobStatus.RUNNING:
        return False
    ran_ns = [event.time_ns for event in switched if event.status is events.JobStatus.RUNNING]
    kills_ns = sorted(event.time_ns for event in exemptions(history).acted(Consequence.ENDS_PROCESS))
    as_one = any(
        not any(first <= running <= second for running in ran_ns) and second < ran_ns[-1]
        for first, second in pairwise(kills_ns)
    )
    missed = not {FaultFate.NEVER_ACTED, FaultFate.TOO_LATE}.isdisjoint(history.end.fault_fates)
    return as_one or missed or _command_died(history)


def _never_submitted_again(history: History) -> bool:
    """Whether a user ended the job, and the fault that was to submit the next one never acted."""
    exempt, fates = exemptions(history), history.end.fault_fates
    ended = [event for event in exempt.acted(Consequence.ENDS_JOB) if fates[event.fault] is FaultFate.LANDED]
    submitted = exempt.acted(Consequence.BEGINS_JOB)
    return (
        FaultFate.NEVER_ACTED in fates
        and bool(ended)
        and not any(event.time_ns >= ended[-1].time_ns for event in submitted)
    )


def _command_died(history: History) -> bool:
    """Whether a command that ends the job had no effect, and the coordinator that was given it died before it can have
    had its turn: one that begins and completes checkpoints meanwhile ignores the command."""
    fates = dict(enumerate(history.end.fault_fates))
    exempt = exemptions(history)
    given_ns = [
        event.time_ns
        for event in exempt.acted(Consequence.ENDS_JOB)
        if fates.get(event.fault) is FaultFate.WITHOUT_EFFECT
    ]
    coordinators = {event.node for event in history.of(events.AttemptStarted)}
    for given in given_ns:
        # A successor may go on with the job while this one, which stood still, is still to learn of it.
        death = exempt.next_death(coordinators, given)
        if death is None:
            continue
        over_ns, node = death
        own = [span for span in spans(history) if span.completed.node == node]
        if sum(given < span.triggered.time_ns and span.completed.time_ns < over_ns for span in own) < OWED_CHECKPOINTS:
            return True
    return False


def _judge_checkpoints(history: History, findings: Findings) -> None:
    """Those since the heal: coordinator and harness share one clock, the simulator's or that of their machine."""
    completed = history.of(events.CheckpointCompleted)
    healed_ns = history.end.healed_ns
    new = sum(event.time_ns >= healed_ns for event in completed)
    findings.check("no-new-checkpoints")
    if new < OWED_CHECKPOINTS:
        message = f"{plural(new, 'checkpoint')} completed after the heal, {OWED_CHECKPOINTS} are due"
        findings.violated("no-new-checkpoints", message, *completed[-1:])
    if not completed or not completed[-1].positions:
        return
    findings.check("input-not-drained")
    last, lengths = completed[-1], history.inputs.lengths()
    if last.positions != lengths:
        message = f"checkpoint {last.checkpoint}, the last, stands at {last.positions} of {lengths}"
        findings.violated("input-not-drained", message, last)


def _judge_channels(history: History, findings: Findings) -> None:
    """Channels of the last attempts of the last job, which uses ids of checkpoints again: the alignment of a checkpoint
    that is over has ended everywhere."""
    blocked = history.of(events.ChannelBlocked)
    attempts = history.of(events.AttemptStarted)
    if not blocked or not attempts:
        return
    present = newest_attempts(history, attempts)
    job_of = history.derived(Submissions).of
    last = job_of(attempts[-1])
    unblocked = {
        (event.channel, event.checkpoint)
        for event in history.of(events.ChannelUnblocked)
        if event.attempt == present[channel_ends(event.channel)[1]]
    }
    stuck = [
        event
        for event in blocked
        if event.attempt == present[channel_ends(event.channel)[1]]
        and (event.channel, event.checkpoint) not in unblocked
        and job_of(event) == last
    ]
    findings.check("channel-left-blocked", len(unblocked))
    if not stuck:
        return
    completed = {event.checkpoint for event in history.of(events.CheckpointCompleted) if job_of(event) == last}
    completed |= {event.checkpoint for event in history.of(events.SavepointCompleted) if job_of(event) == last}
    aborted = {event.checkpoint for event in history.of(events.CheckpointAborted) if job_of(event) == last}
    newest = max(completed | aborted, default=-1)
    dead = exemptions(history).dead
    stopped = {event.subtask for event in history.of(events.TaskStopped) if event.attempt == present[event.subtask]}
    notices = by_part(history, events.NotificationReceived).all
    for event in stuck:
        receiver = channel_ends(event.channel)[1]
        # The checkpoint may be under way when the run is stopped, or the news of its end may be
        over = event.checkpoint in completed or event.checkpoint < newest
        over = over or any(not each.completed for each in notices.get((event.attempt, receiver, event.checkpoint), ()))
        if over and event.node not in dead and receiver not in stopped:
            findings.check("channel-left-blocked")
            message = f"{event.channel} stays blocked for checkpoint {event.checkpoint}, which is over"
            findings.violated("channel-left-blocked", message, event)
