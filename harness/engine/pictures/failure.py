"""The run around a violation as a space-time diagram: the events that its witness names, and what explains them.

What is drawn is chosen by how near it is to the witness: what it names first, then the fault and the restart before it
and the life of its checkpoint, then messages of that checkpoint, then neighbours. The rest of the window is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from holdfast.harness.engine.pictures.diagram import OF_WITNESS, Diagram, ended_by_deaths, lines_of
from holdfast.harness.engine.pictures.steps import AUDIT, TELLING_NOTHING, line_of, received_as, sent_as
from holdfast.harness.engine.views.finding import first_anomaly
from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.picture import FailurePicture
from holdfast.harness.model.topology import channel_ends
from holdfast.harness.model.verdict import Anomaly, Verdict
from holdfast.harness.oracles.findings import events_of, in_words

MOST_EVENTS = 44
MOST_BEFORE, MOST_NEIGHBOURS = 4, 12
"""On its line just before an event of the witness; and what only stands on lines that are drawn, nearest to one."""
EXPLAINS = (
    "A line is a process or a subtask; time goes to the right, event by event. Numbers are lines of the witness; the "
    "red diamond is the wrong step. Arrows are messages, the thicker ones barriers."
)
_ELSEWHERE = 40
"""The relevance of events of the same checkpoint on other lines: too little for a line of their own."""
_ABOUT = ("checkpoint", "channel", "transaction", "path", "subtask", "partition")
"""Fields by which events are about the same thing."""
_THINGS = ("transaction", "path")
_TURNS = (
    events.AttemptStarted,
    events.FailureCounted,
    events.RecoveryFailed,
    events.RestartRefused,
    events.CoordinatorClaimed,
    events.JobSubmitted,
    events.NodeDied,
)
"""What explains why a run goes on as it does."""
_LIVES = (
    events.CheckpointTriggered,
    events.CheckpointCompleted,
    events.CheckpointAborted,
    events.CheckpointDropped,
    events.CheckpointRetained,
    events.SavepointTriggered,
    events.SavepointCompleted,
)
_FAULTS = (events.FaultInjected, events.FaultHealed, events.ObjectDamaged, events.MessageDisturbed)
_ALL_THE_TIME = (events.BatchSent, events.BatchProcessed, events.SourceEmitted, events.FileWritten, events.TimersSet)
_ENDS = (events.CheckpointCompleted, events.CheckpointAborted, events.SavepointCompleted)


class _Window(NamedTuple):
    """A part of a history.

    Attributes:
        first, last: places of its first and last event.
        witness: by place of an event, the number of the line that names it; 0 of the wrong step if none does.
        wrong: the place of the step that broke the clause.
        turns: places of the last fault, restart and complete checkpoint before it.
        checkpoints: that the witness is about.
    """

    first: int
    last: int
    witness: Mapping[int, int]
    wrong: int
    turns: frozenset[int]
    checkpoints: frozenset[int]


def pictures_of_failure(history: History, verdicts: Iterable[Verdict]) -> tuple[FailurePicture, ...]:
    """The picture of what the finding of a run calls its cause, if there is one and events of the history show it."""
    cause = first_anomaly(history, verdicts)
    with suppress(ValueError):  # An oracle of somebody else may name an event of its own making.
        made = None if cause is None else failure_picture(history, cause[1])
        return () if made is None else (made,)
    return ()


def failure_picture(history: History, anomaly: Anomaly) -> FailurePicture | None:
    """The run around an anomaly; None if rows alone show it.

    Args:
        history: what happened.
        anomaly: that an oracle reported.

    Raises:
        ValueError: the history does not hold the event that the anomaly names.
    """
    if anomaly.at is None:
        return None
    window = _window(history, anomaly)
    chosen = _chosen(history, window)
    ended = ended_by_deaths(history, chosen)
    lines = lines_of(history, chosen, ended)
    diagram = Diagram(history, window.first, window.witness, lines, ended)
    for place in sorted(chosen):
        diagram.add(place)
    shown_ms = [step.at_ms for step in diagram.steps]
    return FailurePicture(
        name="failure",
        title=f"Around the wrong step: {in_words(history.events[window.wrong])}",
        first_ms=min(shown_ms),
        last_ms=max(shown_ms),
        events=window.last - window.first + 1,
        drawn=len(diagram.step_of),
        lines=tuple(lines),
        steps=tuple(diagram.steps),
        arrows=tuple(diagram.arrows),
        wrong=diagram.step_of[window.wrong],
        explains=f"{EXPLAINS} Drawn are {len(diagram.step_of):,} of {window.last - window.first + 1:,} events.",
    )


def _window(history: History, anomaly: Anomaly) -> _Window:
    """From what led to the first event of the witness to the end of the checkpoint that it is about."""
    at = anomaly.at
    assert at is not None
    key = at.node, at.sequence, at.time_ns
    every = enumerate(history.events)
    wrong = next((place for place, event in every if (event.node, event.sequence, event.time_ns) == key), None)
    if wrong is None:
        raise ValueError(
            f"the history holds no event {at.sequence} of node {at.node!r} at {at.time_ns} ns, which the verdict "
            "names: it is the verdict on another run."
        )
    witness = events_of(anomaly.witness, history)
    witness.setdefault(wrong, 0)
    first, last = min(witness), max(witness)
    checkpoints = _checkpoints(history, witness)
    lives = [history.position(each) for each in history.of_kinds(_LIVES) if _checkpoint(each) in checkpoints]
    ends = [history.position(each) for each in history.of_kinds(_ENDS) if _checkpoint(each) in checkpoints]
    turns = {place for place in _turns(history, wrong) if place is not None}
    return _Window(
        first=min({first, *turns, *lives}),
        last=min((place for place in ends if place > last), default=last),
        witness=witness,
        wrong=wrong,
        turns=frozenset(turns),
        checkpoints=checkpoints,
    )


def _turns(history: History, wrong: int) -> Iterator[int | None]:
    """What the wrong step came after: a fault, a restart and a complete checkpoint, the last of each."""
    for found in (
        history.of(events.FaultInjected),
        history.of(events.AttemptStarted)[1:],
        history.of(events.CheckpointCompleted),
    ):
        before = [place for event in found if (place := history.position(event)) < wrong]
        yield before[-1] if before else None


def _checkpoints(history: History, places: Iterable[int]) -> frozenset[int]:
    """The checkpoints that some events are about, or that their files and transactions belong to."""
    named = [history.events[place] for place in places]
    things = {(field, value) for event in named for field in _THINGS if (value := getattr(event, field, ""))}
    if things:
        named += [each for each in history.events if any(getattr(each, field, "") == value for field, value in things)]
    return frozenset(checkpoint for each in named if (checkpoint := _checkpoint(each)))


def _checkpoint(event: events.Event) -> int:
    """The one that an event is about, or begins from; 0: none."""
    return getattr(event, "checkpoint", 0) or getattr(event, "restored_checkpoint", 0) or 0


def _chosen(history: History, window: _Window) -> dict[int, int]:
    """By place, the relevance of each event that is drawn for the witness."""
    named = [history.events[place] for place in window.witness]
    about = {(field, value) for event in named for field in _ABOUT if (value := getattr(event, field, None))}
    lines = {line_of(event) for event in named}
    scores = {
        place: score
        for place in range(window.first, window.last + 1)
        if (score := _score(history.events[place], about, lines, window.checkpoints))
    }
    scores.update(dict.fromkeys(_before(history, window), 70))
    scores.update(dict.fromkeys(window.turns, 95))
    scores.update(dict.fromkeys(window.witness, OF_WITNESS))
    scores[window.wrong] += 1
    _with_their_messages(history, window, scores)
    shown = {line_of(history.events[place]) for place, score in scores.items() if score > _ELSEWHERE}

    def distance(place: int) -> int:
        return min(abs(place - each) for each in window.witness)

    ranked = sorted(scores, key=lambda place: (-scores[place], distance(place), place))
    kept = [place for place in ranked if scores[place] > _ELSEWHERE]
    elsewhere = [place for place in ranked if scores[place] <= _ELSEWHERE and _whose(history.events[place]) <= shown]
    kept += elsewhere[:MOST_NEIGHBOURS]
    return {place: scores[place] for place in kept[:MOST_EVENTS]}


def _whose(event: events.Event) -> set[str]:
    """The lines that an event is about: its own, and who is at the other end."""
    ends = channel_ends(getattr(event, "channel", ""))
    return {line_of(event), *filter(None, (*ends, getattr(event, "subtask", "")))}


def _before(history: History, window: _Window) -> Iterator[int]:
    """What happened just before the events of the witness, each on its own line."""
    left = {line_of(history.events[place]): 0 for place in window.witness}
    for place in range(max(window.witness), window.first - 1, -1):
        event = history.events[place]
        name = line_of(event)
        if place in window.witness:
            left[name] = MOST_BEFORE
        elif left.get(name) and not isinstance(event, TELLING_NOTHING):
            left[name] -= 1
            yield place


def _score(event: events.Event, about: set[tuple[str, object]], lines: set[str], checkpoints: frozenset[int]) -> int:
    """The relevance of an event of the window for the witness; 0: none."""
    line, checkpoint = line_of(event), _checkpoint(event)
    if isinstance(event, TELLING_NOTHING) or line == AUDIT:
        return 0
    if isinstance(event, _TURNS):
        return 0 if _begins_the_run(event) else 85
    if isinstance(event, _LIVES):
        return 80 if checkpoint in checkpoints else _ELSEWHERE
    if isinstance(event, _FAULTS):
        return 60
    same = {field for field, value in about if getattr(event, field, None) == value}
    if same.intersection(_THINGS):
        return 75
    if checkpoint and checkpoint in checkpoints:
        return 65 if line in lines or same & {"channel", "subtask"} else _ELSEWHERE
    return _ELSEWHERE - 10 if line in lines and not isinstance(event, _ALL_THE_TIME) else 0


def _begins_the_run(event: events.Event) -> bool:
    """Every run has a first coordinator, job and attempt: they explain nothing."""
    if isinstance(event, events.AttemptStarted):
        return event.attempt <= 1
    return isinstance(event, events.CoordinatorClaimed | events.JobSubmitted) and event.attempt == 0


def _with_their_messages(history: History, window: _Window, scores: dict[int, int]) -> None:
    """The other ends of relevant messages: their senders, and receivers of what the witness sent."""
    sent: dict[tuple[object, ...], int] = {}
    for place in range(window.first, window.last + 1):
        event = history.events[place]
        if message := sent_as(event):
            sent.setdefault(message, place)
        sender = None if isinstance(event, events.TaskStarted) else sent.get(received_as(event))
        if sender is not None:
            if scores.get(place, 0) > 60:
                scores[sender] = max(scores.get(sender, 0), 62)
            if sender in window.witness:
                scores[place] = max(scores.get(place, 0), 62)
