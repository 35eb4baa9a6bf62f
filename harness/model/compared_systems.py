"""Several systems in one table: the same plans side by side, which `holdfast compare` measured (`comparison.json`), and
certificates of several systems, versions or nights, which `holdfast matrix` gathered (`matrix.json`)."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Recovery, Title
from holdfast.harness.model.status import Status
from holdfast.harness.model.verdict import Outcome


class ComparedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run of a plan on a system.

    Attributes:
        plan: its name.
        system: with variant, and with the name of the file of its options, if it has one.
        tier: where it ran.
        outcome: the worst verdict; None: the plan does not apply to the system.
        reason: why it does not apply, why the run decides nothing, or what refuted it.
        recoveries: from each landed fault.
        read_again: by restart from a checkpoint, records that had been fed and that it did not cover.
        checkpoints_ms: by completed checkpoint, milliseconds since its trigger.
        load: how many processes of the machine wanted to compute, on average in the last minute of the run.
    """

    plan: str
    system: str
    tier: Tier
    outcome: Outcome | None
    reason: str = ""
    recoveries: tuple[Recovery, ...] = ()
    read_again: tuple[int, ...] = ()
    checkpoints_ms: tuple[float, ...] = ()
    load: float = 0.0


class ComparedSystems(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All runs of one command.

    Attributes:
        command: that repeats it.
        runs: system by system, plan by plan.
    """

    command: str
    runs: tuple[ComparedRun, ...]


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
