"""A state machine as a table: the states that a system declares for its parts, and the steps between them.

A row names the event of the history that shows the step, so a table can be drawn, and followed through a real run.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

import msgspec

from holdfast.harness.model.events import EVENT_KINDS, Event

ANY = "*"
"""Stands for every state before a step."""


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row.

    Attributes:
        before, after: states; `before` may be ANY.
        on: kind of the event that shows it.
        words: on the arrow, short.
        where: by field of the event, the pattern (as of a file name) that its value has.
    """

    before: str
    on: str
    after: str
    words: str
    where: dict[str, str] = {}

    def is_shown_by(self, event: Event) -> bool:
        """Whether an event of its kind has the values that it asks for."""
        return all(fnmatchcase(str(field_of(event, name)), pattern) for name, pattern in self.where.items())


class StateMachine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of part.

    Attributes:
        name: such as `checkpoint`; of the files that show it.
        title: one line.
        initial: where each part begins.
        good, bad: states that end well, and badly.
        identity: fields of an event that say which part it is about; `subtask` is also the receiver of a channel.
        steps: the table. An event of a kind in it must fit a row of the state that its part is in.
    """

    name: str
    title: str
    initial: str
    identity: tuple[str, ...]
    steps: tuple[Step, ...]
    good: frozenset[str] = frozenset()
    bad: frozenset[str] = frozenset()

    @property
    def states(self) -> tuple[str, ...]:
        """All of them, the initial one first."""
        named = (state for step in self.steps for state in (step.before, step.after) if state != ANY)
        return tuple(dict.fromkeys((self.initial, *named)))

    def step_from(self, state: str, event: Event) -> Step | None:
        """The row by which a part that is in a state takes the step that an event shows; None: there is none."""
        kind = type(event)
        for step in self.steps:
            stands_there = step.before == state or step.before == ANY
            if stands_there and EVENT_KINDS[step.on] is kind and (not step.where or step.is_shown_by(event)):
                return step
        return None


def field_of(event: Event, name: str) -> object:
    """A field of an event; `subtask` is also the receiver of a channel."""
    if name == "subtask" and not hasattr(event, name):
        return getattr(event, "channel", "").rpartition("->")[2]
    return getattr(event, name)
