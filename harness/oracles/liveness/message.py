"""MESSAGE: control messages between the coordinator and subtasks, sent and received (RULES CRD, TRG-03, E2E-05)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from holdfast.harness.model import events
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History, of_the_job
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, event_line
from holdfast.harness.oracles.liveness.last_state import LastState

TO_TASKS: tuple[type[events.Event], ...] = (events.TriggerSent, events.NotificationSent, events.SplitsAssigned)
TO_COORDINATOR: tuple[type[events.Event], ...] = (events.AckSent, events.DeclineSent, events.SubtaskFinished)
Key = Callable[[events.Event], object]
"""What a message that was sent, and one that was received, have in common if they are the same."""
_CHANNEL = "channel"
"""How targets begin that carry records and no control messages."""


class MessageOracle:
    """Pairs what was sent with what was received.

    That a message is lost is judged on the simulator only, where the end of the run, and the time since which nothing
    was in the way, are read on one clock. That it was sent follows from message edges alone.
    """

    name = "MESSAGE"
    title = "control messages"
    invariant = "Each received message was sent in that attempt, and each one arrives while its connection is open."
    clauses: Mapping[str, str] = {
        "never-sent": "a message is received that was not sent in that attempt",
        "taken-twice": "a message is taken more often than it was sent in that attempt, and nothing doubled it",
        "never-received": "a message between processes that live is never taken though its connection is open",
    }
    evidence: tuple[type[events.Event], ...] = (events.AttemptStarted,)
    sees_superseded = True

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        state = LastState(of_the_job(history))
        disturbing = state.exempt.acted(Consequence.DISTURBS_MESSAGES)
        standing = all(event.target.startswith(_CHANNEL) for event in disturbing)
        forged = bool(state.exempt.acted(Consequence.FORGES_MESSAGES))
        judged = not (history.end.problem or state.exempt.real_time)
        for sent, received, fields in events.MESSAGE_EDGES:
            if sent not in TO_TASKS and sent not in TO_COORDINATOR:
                continue
            key = attrgetter(*fields)
            given: Counter[object] = Counter(map(key, history.of(sent)))
            taken: Counter[object] = Counter(map(key, history.of(received)))
            if sent is not events.SubtaskFinished and not forged:
                _judge_receptions(history, state, sent, received, key, given, taken, findings)
            if judged:
                _judge_losses(history, state, sent, key, given, taken, findings, standing=standing)
        return findings.verdict(history)


def _part(event: Any) -> tuple[str, int]:
    """Whose message it is, and of which checkpoint; 0: of none."""
    return event.subtask, getattr(event, "checkpoint", 0)


def _disturbed(history: History) -> set[tuple[str, int]]:
    """What faults delayed, doubled or lost messages of."""
    return {_part(event) for event in history.of(events.MessageDisturbed)}


def _judge_receptions(
    history: History,
    state: LastState,
    sent: type[events.Event],
    received: type[events.Event],
    key: Key,
    given: Counter[object],
    taken: Counter[object],
    findings: Findings,
) -> None:
    """Where events of sending are recorded; a superseded coordinator sends too. What the dead sent they may not have
    got to write down, and on a machine it may be written late."""
    if not history.supplies(sent):
        return
    receptions = history.of(received)
    findings.check("never-sent", len(receptions))
    findings.check("taken-twice", len(receptions))
    if (state.exempt.dead and state.exempt.real_time) or taken.items() <= given.items():
        return
    untaken = given.copy()
    disturbed = _disturbed(history)
    for event in receptions:
        name = key(event)
        untaken[name] -= 1
        if name not in given:
            findings.violated("never-sent", f"it was received and never sent: {event_line(event)}", event)
        elif untaken[name] < 0 and _part(event) not in disturbed:
            findings.violated("taken-twice", f"it was sent once less: {event_line(event)}", event)


def _judge_losses(
    history: History,
    state: LastState,
    sent: type[events.Event],
    key: Key,
    given: Counter[object],
    taken: Counter[object],
    findings: Findings,
    *,
    standing: bool,
) -> None:
    """Messages of present attempts, so that the coordinator is the one that lives, and of running subtasks, where these
    are to receive them; `standing`: no fault disturbed the messages of connections. Messages of a superseded
    coordinator have no receiver, and those that it received have arrived."""
    findings.check("never-received", len(taken))
    if not state.coordinator or state.over or given.keys() <= taken.keys():
        return
    disturbed = _disturbed(history)
    for event in state.history.of(sent):
        if key(event) in taken:
            continue
        late = standing and state.is_long_ago(event.time_ns)
        if not (late or state.is_due(event.time_ns)):
            continue
        subtask, _ = part = _part(event)
        attempt, task = state.present(subtask), state.task(subtask)
        if attempt is None or attempt.attempt != event.attempt or part in disturbed:
            continue
        node = event.node if sent in TO_COORDINATOR else task.node if task is not None else ""
        if node and state.lives(node) and (standing or state.was_quiet(event.time_ns)):
            findings.violated("never-received", f"it was sent and never received: {event_line(event)}", event)
