"""`holdfast matrix`: certificates of several systems, versions or nights in one table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.reports import LATEST, RESULTS, written_by
from holdfast.harness.engine.artefacts.files import make_folder, write_readable
from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.compared_systems import Matrix, MatrixCell, MatrixColumn, MatrixRow
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.sentence import plural
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


FILE = "matrix.json"
REPORT = "report.html"
DEPTH = 2
"""Below a folder that is named: nights hold certificates, and `holdfast-out` holds both."""


def write_matrix(folders: Sequence[Path], out: Path) -> int:
    """Write the table in every form.

    Args:
        folders: of certificates, or that hold some.
        out: folder that is made if it is not there.

    Raises:
        UsageError: there is no certificate.
    """
    found = [each for folder in folders for each in _certificates(folder, DEPTH)]
    if not found:
        raise UsageError(
            f"{', '.join(map(str, folders))} holds no certificate: name folders with {RESULTS}, such as those that "
            "`holdfast certify` writes."
        )
    table = matrix([Certified(read_journal(each / RESULTS), each.name, _report(each, out)) for each in found])
    make_folder(out)
    write_readable(out / FILE, table)
    written = [out / FILE, *written_by(table, out)]
    consoles.results().print(f"{plural(len(found), 'certificate')}: {', '.join(map(str, written))}")
    return 0


def _certificates(folder: Path, depth: int) -> Iterator[Path]:
    """The folder itself, or those below it by name; `latest` is another name of one of them."""
    if (folder / RESULTS).is_file():
        yield folder.resolve()
    elif depth and folder.is_dir():
        for each in sorted(folder.iterdir(), key=_number_first):
            if each.is_dir() and each.name != LATEST:
                yield from _certificates(each, depth - 1)


def _number_first(folder: Path) -> tuple[int, str]:
    """Parts of a system are numbered without zeros."""
    number, _, _ = folder.name.partition("-")
    return int(number) if number.isdecimal() else 0, folder.name


def _report(folder: Path, out: Path) -> str:
    page = folder / REPORT
    return Path(os.path.relpath(page, out.resolve())).as_posix() if page.is_file() else ""
