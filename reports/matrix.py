"""Several certificates in one table: a page, Markdown, and a badge for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from holdfast.harness.model.compared_systems import Matrix, MatrixCell, MatrixColumn, MatrixRow
from holdfast.harness.model.journal import Status, Title
from holdfast.harness.model.status import STATUS_WORDS
from holdfast.reports import pages, text
from holdfast.reports.files import replace_folder, write_file
from holdfast.reports.svg import element

STYLE_SHEETS = ("report.css", "matrix.css")
BADGE_COLOURS = {
    Title.CERTIFIED: "#1c7447",
    Title.PARTIAL: "#8d5a00",
    Title.INCONCLUSIVE: "#8d5a00",
    Title.REFUSED: "#b3261e",
}


class MatrixPage:
    """`matrix.html`: it needs no network."""

    name = "html"
    shows = Matrix
    writes = "matrix.html"

    def render(self, matrix: Matrix, folder: Path) -> Path:
        """See spi.reporter."""
        return write_file(folder / self.writes, page(matrix))


class MatrixMarkdown:
    """`matrix.md`, for a README or a wiki."""

    name = "markdown"
    shows = Matrix
    writes = "matrix.md"

    def render(self, matrix: Matrix, folder: Path) -> Path:
        """See spi.reporter."""
        return write_file(folder / self.writes, markdown(matrix))


class MatrixBadges:
    """`badges/`: a small picture of each title."""

    name = "badges"
    shows = Matrix
    writes = "badges"

    def render(self, matrix: Matrix, folder: Path) -> Path:
        """See spi.reporter."""
        return replace_folder(folder / self.writes, badges(matrix))


def page(matrix: Matrix) -> str:
    style = Markup("\n" + "".join(map(pages.asset, STYLE_SHEETS)))
    template = _environment().get_template("matrix.html.j2")
    return template.render(matrix=matrix, style=style, style_hash=pages.hash_of(style))


@cache
def _environment() -> Environment:
    environment = pages.environment()
    environment.filters.update(beside=beside, binding=binding, mark=mark, others=others, place=place, slug=text.slug)
    environment.globals.update(
        words=STATUS_WORDS, marks=text.STATUS_MARKS, meanings=text.STATUS_MEANINGS, Status=Status
    )
    return environment


def mark(cell: MatrixCell) -> str:
    """The sign of the worst status."""
    return "" if cell.worst is None else text.STATUS_MARKS[cell.worst]


def short(cell: MatrixCell) -> str:
    """How many rules passed of how many, in a few characters; the refuted ones by id."""
    if cell.worst is None:
        return ""
    if not binding(cell):
        return "does not apply"
    refuted = f": {', '.join(cell.refuted)}" if cell.refuted else ""
    return f"{cell.counts.get(Status.PASS, 0)} of {binding(cell)}{refuted}"


def binding(cell: MatrixCell) -> int:
    """How many rules apply."""
    return sum(count for status, count in cell.counts.items() if status is not Status.NOT_APPLICABLE)


def others(cell: MatrixCell) -> str:
    """What neither passed nor is named, with its count: no area looks better than it is."""
    shown = [Status.PASS, Status.FAIL, *([cell.worst] if len(cell.counts) == 1 else [])]
    return text.statuses_in_words({each: number for each, number in cell.counts.items() if each not in shown})


def place(cell: MatrixCell, rule: str) -> str:
    """Where a report shows a refuted rule: its finding, with the run; or the rule itself."""
    return f"finding-{cell.findings[rule]}" if rule in cell.findings else f"rule-{text.slug(rule)}"


def beside(columns: Sequence[MatrixColumn], row: MatrixRow) -> Iterable[tuple[MatrixColumn, MatrixCell]]:
    """The cells of a row, each with its certificate."""
    return zip(columns, row.cells, strict=True)


def markdown(matrix: Matrix) -> str:
    """The same table in Markdown, with what its signs mean."""
    columns = [text.markdown(each.name) for each in matrix.columns]
    lines = [
        f"| Rules | {' | '.join(columns)} |",
        f"| --- |{' --- |' * len(columns)}",
        f"| **Certificate** | {' | '.join(f'**{text.markdown(each.heading)}**' for each in matrix.columns)} |",
    ]
    for row in matrix.rows:
        cells = (text.markdown(f"{mark(cell)} {short(cell)}".strip()) for cell in row.cells)
        lines.append(f"| {row.area} {text.markdown(row.title)} | {' | '.join(cells)} |")
    present = [status for status in Status if any(cell.worst is status for row in matrix.rows for cell in row.cells)]
    signs = "; ".join(f"{text.STATUS_MARKS[status]} {STATUS_WORDS[status]}" for status in present)
    lines += ["", f"Rules that passed, of those that apply. The sign is the worst of an area: {signs}.", ""]
    return "\n".join(lines)


def badges(matrix: Matrix) -> Mapping[str, str]:
    """By name of a file, a picture of a title."""
    names = [text.slug(each.name) or "system" for each in matrix.columns]
    numbered = [f"{name}-{names[:at].count(name) + 1}" for at, name in enumerate(names)]
    files = [number if names.count(name) > 1 else name for name, number in zip(names, numbered, strict=True)]
    return {f"{name}.svg": badge(each) for name, each in zip(files, matrix.columns, strict=True)}


def badge(column: MatrixColumn) -> str:
    """`holdfast | CERTIFIED on sim, process`, in the size that READMEs are used to."""
    left, words = "holdfast", column.heading
    widths = [round(6.6 * len(each)) + 14 for each in (left, words)]
    font = "font-family: Verdana, DejaVu Sans, sans-serif; font-size: 11px"
    drawn = (
        element("title", f"{column.name}: {words}"),
        element("rect", width=sum(widths), height=20, rx=3, fill=BADGE_COLOURS[column.title]),
        element("path", d=f"M3 0h{widths[0] - 3}v20h-{widths[0] - 3}a3 3 0 0 1-3-3v-14a3 3 0 0 1 3-3z", fill="#444c54"),
        *(
            element("text", each, x=x, y=14, fill="#fff", text_anchor="middle", style=font)
            for each, x in ((left, widths[0] / 2), (words, widths[0] + widths[1] / 2))
        ),
    )
    width = sum(widths)
    box = f"0 0 {width} 20"
    picture = element(
        "svg", *drawn, xmlns="http://www.w3.org/2000/svg", width=width, height=20, viewBox=box, role="img"
    )
    return f"{picture}\n"
