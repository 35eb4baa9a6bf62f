"""A state machine followed through a history: which rows of its table were taken, and which events fit no row."""

from __future__ import annotations

from collections import Counter

from holdfast.harness.model.events import EVENT_KINDS, Event
from holdfast.harness.model.history import History
from holdfast.harness.model.state_machine import StateMachine, Step, field_of
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
    rows: dict[type[Event], list[Step]] = {}
    for step in machine.steps:
        rows.setdefault(EVENT_KINDS[step.on], []).append(step)
    course = Course()
    states: dict[Identity, str] = {}
    for event in of_the_job(history).events:
        if not any(step.is_shown_by(event) for step in rows.get(type(event), ())):
            continue
        identity = tuple(field_of(event, name) for name in machine.identity)
        state = states.get(identity, machine.initial)
        taken = machine.step_from(state, event)
        if taken is None:
            course.strays.append((state, event))
            continue
        course.taken[machine.steps.index(taken)] += 1
        states[identity] = taken.after
    course.ended.update(states.values())
    return course
