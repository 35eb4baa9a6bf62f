"""`holdfast matrix`: certificates of several systems, versions or nights in one table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.folders import LATEST, RESULTS
from holdfast.harness.commands.reports import written_by
from holdfast.harness.engine.artefacts.files import make_folder, write_readable
from holdfast.harness.engine.artefacts.journal_file import read_journal
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.views.matrix import Certified, matrix
from holdfast.harness.model.plural import plural

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
