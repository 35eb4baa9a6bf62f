"""Deviations: each step of a protocol, and each way to do it wrongly, with what sees it."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Deviation(StrEnum):
    """A way to take a step wrongly."""

    MISSING = "missing"
    LATE = "late"
    EARLY = "early"
    TWICE = "twice"
    REORDERED = "reordered"
    WRONG_ID = "wrong id"
    OLDER_ATTEMPT = "older attempt"
    WRONG_CONTENT = "wrong content"
    PARTIAL = "partial"
    NOT_DONE = "said but not done"
    NOT_UNDONE = "not undone"
    NOT_RESET = "not reset by a restart"


class CellState(StrEnum):
    """What is known of a cell."""

    COVERED = "covered"
    EXPLAINED = "explained"
    OPEN = "open"


class Step(msgspec.Struct, frozen=True):
    """One step of the protocol, a row.

    Attributes:
        name: such as `commit` or `timer-restart`.
        kind: `effect`, `event`, `message`, `element` (of a channel) or `timer`; an effect that stores is a `write`.
    """

    name: str
    kind: str


class Cell(msgspec.Struct, frozen=True):
    """One step taken wrongly in one way.

    Attributes:
        step: its name.
        deviation: the way.
        clause: that refutes it, as `ORACLE/clause`; empty: none does.
        variant: the wrong system that was seen to be refuted by it, without `reference+`.
        plan: on which, by name.
        reason: why it cannot be observed, or why there is no such deviation; one sentence.
        missing: of an open cell, what is missing: a clause, or a plan.
    """

    step: str
    deviation: Deviation
    clause: str = ""
    variant: str = ""
    plan: str = ""
    reason: str = ""
    missing: str = ""

    @property
    def state(self) -> CellState:
        if self.clause:
            return CellState.COVERED
        return CellState.EXPLAINED if self.reason else CellState.OPEN


class DeviationTable(msgspec.Struct, frozen=True):
    """Every cell of every step; brought by the factory of a system (spi.system.BringsDeviations).

    Attributes:
        system: whose steps they are.
        steps: rows.
        cells: by row, then by column; where several variants stand in one cell, one after the other.
    """

    system: str
    steps: tuple[Step, ...]
    cells: tuple[Cell, ...]
