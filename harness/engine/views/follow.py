"""A state machine followed through a history: which rows of its table were taken, and which events fit no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase

from holdfast.harness.model.events import EVENT_KINDS, Event
from holdfast.harness.model.history import History
from holdfast.harness.model.state_machine import ANY, StateMachine, Step
from holdfast.harness.model.succession import of_the_job

Identity = tuple[object, ...]


class Course:
    """What a history made of a table.

    Attributes:
        taken: by row, how often.
        strays: events that fit no row, each with the state that its part was in.
        ended: in which state how many parts are left.
    """

    def __init__(self) -> None:
        self.taken: Counter[int] = Counter()
        self.strays: list[tuple[str, Event]] = []
        self.ended: Counter[str] = Counter()


def follow(machine: StateMachine, history: History) -> Course:
    """Take every event of a kind in the table to its part; what superseded coordinators say is of no part."""
    rows: dict[type[Event], list[tuple[int, Step]]] = {}
    for number, step in enumerate(machine.steps):
        rows.setdefault(EVENT_KINDS[step.on], []).append((number, step))
    course = Course()
    states: dict[Identity, str] = {}
    for event in of_the_job(history).events:
        candidates = rows.get(type(event))
        if candidates is None or not _concerns(event, candidates):
            continue
        identity = tuple(_field(event, name) for name in machine.identity)
        state = states.get(identity, machine.initial)
        found = next(
            ((number, step) for number, step in candidates if step.before in (state, ANY) and _fits(event, step)), None
        )
        if found is None:
            course.strays.append((state, event))
            continue
        course.taken[found[0]] += 1
        states[identity] = found[1].after
    course.ended.update(states.values())
    return course


def _concerns(event: Event, rows: Iterable[tuple[int, Step]]) -> bool:
    """Whether any row, of whatever state, is about an event like this."""
    return any(_fits(event, step) for _, step in rows)


def _fits(event: Event, step: Step) -> bool:
    return all(fnmatchcase(str(_field(event, name)), pattern) for name, pattern in step.where.items())


def _field(event: Event, name: str) -> object:
    if name == "subtask" and not hasattr(event, name):
        return getattr(event, "channel", "").rpartition("->")[2]
    return getattr(event, name)
