"""Lines, steps and arrows of a space-time diagram, from events that are chosen of a history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.harness.engine.pictures.steps import (
    AUDIT,
    COORDINATOR,
    FAULTS,
    OUTPUT,
    STORAGE,
    label_of,
    line_of,
    received_as,
    sent_as,
    shape_of,
)
from holdfast.harness.engine.plans.words import target_in_words
from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.picture import ArrowKind, DiagramArrow, DiagramStep, StepShape
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.model.topology import process_name, process_of, subtasks
from holdfast.harness.oracles.findings import in_words

MOST_LINES = 12
OF_WITNESS = 100
"""The relevance of an event that a witness names; the wrong step has more, everything else less."""
_MILLISECOND_NS = 1_000_000


def ended_by_deaths(history: History, chosen: Mapping[int, int]) -> dict[int, frozenset[str]]:
    """By place of each death that is drawn, the lines of what ran in the process."""
    hosts: dict[str, str] = {}
    found = {}
    for place in range(max(chosen) + 1):
        event = history.events[place]
        if isinstance(event, events.NodeDied):
            if place in chosen:
                found[place] = frozenset(name for name, node in hosts.items() if node == event.dead_node)
        elif not isinstance(event, events.InputRead):
            hosts[line_of(event)] = event.node
    return found


def lines_of(history: History, chosen: Mapping[int, int], ended: Mapping[int, frozenset[str]]) -> list[str]:
    """The most relevant lines, from top to bottom; a process has one only where nothing else shows that it died."""
    best: dict[str, int] = {}
    for place in sorted(chosen, key=lambda place: place in ended):
        name = line_of(history.events[place])
        if chosen[place] >= OF_WITNESS or not best.keys() & ended.get(place, frozenset()):
            best[name] = max(best.get(name, 0), chosen[place])
    kept = sorted(best, key=lambda name: (-best[name], name))[:MOST_LINES]
    order = {FAULTS: (0, 0), COORDINATOR: (1, 0), STORAGE: (4, 0), OUTPUT: (5, 0), AUDIT: (6, 0)}
    order |= {name: (2, number) for number, name in enumerate(subtasks(history.plan.job, history.plan.topology))}
    return sorted(kept, key=lambda name: (*order.get(name, (3, 0)), name))


class Diagram:
    """Steps on lines, as they are added in causal order.

    Attributes:
        steps, arrows: of the picture.
        step_of: by place of an event that is drawn, its step; of a death the first.
    """

    def __init__(
        self,
        history: History,
        first: int,
        witness: Mapping[int, int],
        lines: Sequence[str],
        ended: Mapping[int, frozenset[str]],
    ) -> None:
        self._history = history
        self._first = first
        self._witness = witness
        self._lines = {name: number for number, name in enumerate(lines)}
        self._start_ns = min(event.time_ns for event in history.events)
        self._next = 0
        self._ended = ended
        self._left_out: dict[int, int] = {}
        self._sent: dict[tuple[object, ...], int] = {}
        self._struck: dict[str, int] = {}
        self._places: list[int] = []
        self.steps: list[DiagramStep] = []
        self.arrows: list[DiagramArrow] = []
        self.step_of: dict[int, int] = {}

    def add(self, place: int) -> None:
        """Draw an event, if its line is there."""
        self._pass(place)
        event = self._history.events[place]
        lines = self._lines_of(place)
        if not lines:
            return
        received = self._sent.get(received_as(event))
        spoken_for = received is not None and shape_of(event) is StepShape.STEP and place not in self._witness
        label = "" if spoken_for else label_of(event, self._target(event))
        for line in lines:
            self._step(place, event, line, label)
            label = ""
        number = self.step_of[place]
        if received is not None:
            arrow = ArrowKind.BARRIER if isinstance(event, events.BarrierReceived) else ArrowKind.MESSAGE
            self.arrows.append(DiagramArrow(received, number, arrow))
        if message := sent_as(event):
            self._sent.setdefault(message, number)

    def _pass(self, place: int) -> None:
        """Go on to an event, and count what is left out before it."""
        for each in range(max(self._next, self._first), place):
            line = self._lines.get(line_of(self._history.events[each]))
            if line is not None:
                self._left_out[line] = self._left_out.get(line, 0) + 1
        self._next = place + 1

    def _lines_of(self, place: int) -> list[int]:
        """Where an event stands; a death ends what lived in its process."""
        name = line_of(self._history.events[place])
        ended = [number for each, number in self._lines.items() if each in self._ended.get(place, frozenset())]
        return ended or ([self._lines[name]] if name in self._lines else [])

    def _step(self, place: int, event: events.Event, line: int, label: str) -> None:
        step = DiagramStep(
            line=line,
            shape=shape_of(event),
            label=label,
            words=in_words(event),
            at_ms=(event.time_ns - self._start_ns) / _MILLISECOND_NS,
            witness=self._witness.get(place, 0),
            before=self._left_out.pop(line, 0),
        )
        if self._is_more_of_the_last(step, place):
            self.step_of[place] = len(self.steps) - 1
            return
        self.step_of.setdefault(place, len(self.steps))
        if self.step_of[place] == len(self.steps):
            self._strikes(event, len(self.steps))
        self.steps.append(step)
        self._places.append(place)

    def _is_more_of_the_last(self, step: DiagramStep, place: int) -> bool:
        """Whether a step is the last message once more, to another receiver, with nothing in between."""
        if not self.steps or step.before or {place, self._places[-1]} & self._witness.keys():
            return False
        event, last = (self._history.events[each] for each in (place, self._places[-1]))
        same = (self.steps[-1].line, self.steps[-1].label) == (step.line, step.label)
        return same and type(event) is type(last) and bool(sent_as(event))

    def _strikes(self, event: events.Event, number: int) -> None:
        """An arrow from a fault to the death that it brought about."""
        if isinstance(event, events.FaultInjected):
            spec = self._spec(event)
            if spec is not None and spec.target.role in (Role.WORKER, Role.COORDINATOR):
                self._struck[process_name(spec.target)] = number
        elif isinstance(event, events.NodeDied):
            fault = self._struck.get(process_of(event.dead_node))
            if fault is not None and event.cause in events.BY_HARNESS:
                self.arrows.append(DiagramArrow(fault, number, ArrowKind.FAULT))

    def _target(self, event: events.Event) -> str:
        spec = self._spec(event)
        return "" if spec is None else str(spec.parameters.get("operation") or target_in_words(spec.target))

    def _spec(self, event: events.Event) -> FaultSpec | None:
        """The fault of the plan that is injected."""
        faults = self._history.plan.faults
        return faults[event.fault] if isinstance(event, events.FaultInjected) and event.fault < len(faults) else None
