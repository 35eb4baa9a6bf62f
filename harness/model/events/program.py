"""A program that acknowledges its input, as its feeder sees it from outside."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event


class StateFound(Event, tag="state_found"):
    """What a life of the program begins from, read by the harness before that life runs. `positions`: by partition, how
    many records the table holds."""

    positions: tuple[int, ...]


class ProgramReady(Event, tag="program_ready"):
    """The program has read its table. `positions`: by partition, the next offset that it lacks, by its own word."""

    positions: tuple[int, ...]


class StateRestored(Event, tag="state_restored"):
    """The program begins this life from a checkpoint that it has reported, by its own word."""

    checkpoint: int


class ProgramHeld(Event, tag="program_held"):
    """The program stands at a gate of its own, and does nothing until it is released."""

    gate: str


class AcknowledgementHeld(Event, tag="acknowledgement_held"):
    """An acknowledgement arrived and is held at a gate; it is lost if the program dies meanwhile."""

    partition: int
    next_offset: int


class InputAcknowledged(Event, tag="input_acknowledged"):
    """The program answers for the records of a partition before `next_offset`: they are not sent again."""

    partition: int
    next_offset: int
