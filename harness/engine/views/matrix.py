"""From certificates to one table: rule areas x systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from holdfast.harness.model.journal import Journal
from holdfast.harness.model.matrix import Matrix, MatrixCell, MatrixColumn, MatrixRow
from holdfast.harness.model.status import Status


class Certified(NamedTuple):
    """A certificate, and where it lies.

    Attributes:
        folder: its name.
        report: see MatrixColumn.
    """

    journal: Journal
    folder: str
    report: str


def matrix(certificates: Sequence[Certified]) -> Matrix:
    """The table: columns as the certificates stand, rows in the order of the rules."""
    titles = {
        each.rule.area: each.rule.title
        for each in chain.from_iterable(certified.journal.rules for certified in certificates)
    }
    return Matrix(
        tuple(map(_column, certificates, _names(certificates))),
        tuple(
            MatrixRow(area, title, tuple(_cell(certified.journal, area) for certified in certificates))
            for area, title in titles.items()
        ),
    )


def _names(certificates: Sequence[Certified]) -> Sequence[str]:
    """By system, and where several are of one, by folder."""
    systems = [each.journal.system for each in certificates]
    return [
        system if systems.count(system) == 1 else f"{system}, {certified.folder}"
        for certified, system in zip(certificates, systems, strict=True)
    ]


def _column(certified: Certified, name: str) -> MatrixColumn:
    journal = certified.journal
    return MatrixColumn(
        name,
        journal.heading,
        journal.title,
        journal.started,
        journal.certificate.versions,
        certified.report,
        sum(each.on_its_word for each in journal.rules if each.concerns(journal.subject)),
    )


def _cell(journal: Journal, area: str) -> MatrixCell:
    rules = [each for each in journal.rules if each.rule.area == area and each.counts_for(journal.subject)]
    counts = Counter(each.status for each in rules)
    refuted = tuple(each.rule.id for each in rules if each.status is Status.FAIL)
    # Of several findings that name a rule the first one stays.
    numbers = {rule: number for number, each in reversed([*enumerate(journal.findings, 1)]) for rule in each.rules}
    return MatrixCell(
        {status: counts[status] for status in reversed(Status) if counts[status]},
        refuted,
        {rule: numbers[rule] for rule in refuted if rule in numbers},
    )
