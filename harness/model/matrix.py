"""Certificates of several systems, versions or nights as one table: what `holdfast matrix` stores as `matrix.json`."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.journal import Title
from holdfast.harness.model.status import Status

MATRIX_VERSION = 1


class MatrixColumn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One certificate.

    Attributes:
        name: of its system; where several are of one, with its folder.
        heading: see Journal.
        title: in one word, over the system and its parts.
        started: ISO 8601 in UTC.
        versions: see Certificate.
        report: its page, relative to the folder of the matrix; empty: there is none.
        on_its_word: decided rules that rest on the word of the system alone.
    """

    name: str
    heading: str
    title: Title
    started: str
    versions: tuple[str, ...] = ()
    report: str = ""
    on_its_word: int = 0


class MatrixCell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of one area in one certificate.

    Attributes:
        counts: by status, worst first; empty: no rule of the area binds the subject.
        refuted: ids of rules.
        findings: by refuted rule, the number of its finding in the report; what no finding names has none.
    """

    counts: dict[Status, int] = {}
    refuted: tuple[str, ...] = ()
    findings: dict[str, int] = {}

    @property
    def worst(self) -> Status | None:
        """The worst status of those that apply; None: it has no rule."""
        applying = [status for status in self.counts if status is not Status.NOT_APPLICABLE]
        return next(iter((*applying, *self.counts)), None)


class MatrixRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One area of rules.

    Attributes:
        area: such as `BAR`.
        title: in words.
        cells: one for each column.
    """

    area: str
    title: str
    cells: tuple[MatrixCell, ...]


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole table."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    version: int = MATRIX_VERSION
