"""Files that checkpoints share: files as rows, checkpoints as columns, who refers to what, and when it is deleted."""

from __future__ import annotations

from markupsafe import Markup

from holdfast.harness.model.picture import SharedPicture, SharedRow
from holdfast.reports.svg import Value, element, group, number, text_at

LEFT, COLUMN, ROW, TOP = 150.0, 96.0, 34.0, 64.0
RADIUS, NAME_LENGTH = 7.0, 16


def sheet(picture: SharedPicture) -> tuple[list[Markup], float, float]:
    """What to draw, and its width and height."""
    columns = {checkpoint: LEFT + COLUMN * (index + 0.5) for index, (checkpoint, _) in enumerate(picture.checkpoints)}
    floor = TOP + ROW * len(picture.rows)
    width = LEFT + COLUMN * len(columns) + 24
    drawn = [text_at(LEFT - 16, TOP - 18, "file", "lane-label", "end")]
    for checkpoint, dropped in picture.checkpoints:
        x = columns[checkpoint]
        drawn.append(text_at(x, TOP - 34, f"CP{checkpoint}", "name", "middle"))
        drawn.append(text_at(x, TOP - 18, f"until CP{dropped}" if dropped else "retained", "small", "middle"))
        drawn.append(element("path", class_="grid", d=f"M{number(x)} {number(TOP - 8)}V{number(floor)}"))
    for index, row in enumerate(picture.rows):
        drawn += _row(row, columns, TOP + ROW * (index + 0.5))
    drawn.append(element("path", class_="floor", d=f"M{number(LEFT - 16)} {number(floor)}H{number(width - 12)}"))
    return drawn, width, floor + 12


def _row(row: SharedRow, columns: dict[int, float], y: float) -> list[Markup]:
    first = columns[row.brought]
    end = columns[row.deleted] + COLUMN * 0.4 if row.deleted in columns else max(columns.values()) + COLUMN * 0.4
    name = row.name if len(row.name) <= NAME_LENGTH else f"…{row.name[-NAME_LENGTH:]}"
    drawn = [
        text_at(LEFT - 16, y + 4, name, "holds", "end"),
        element("path", class_="lane", d=f"M{number(first)} {number(y)}H{number(end)}"),
    ]
    for (checkpoint, x), uses in zip(columns.items(), row.uses, strict=True):
        if checkpoint in row.users:
            drawn.append(_dot(row, checkpoint, x, y))
        if uses:
            drawn.append(text_at(x + RADIUS + 6, y - 5, str(uses), "small", "start"))
    if row.deleted in columns:
        cross = f"M{number(end - 5)} {number(y - 5)}l10 10m0 -10l-10 10"
        words = f"{row.name} is deleted behind CP{row.deleted}"
        drawn.append(group([element("title", words), element("path", class_="failure", d=cross)]))
    return drawn


def _dot(row: SharedRow, checkpoint: int, x: float, y: float) -> Markup:
    new = checkpoint == row.brought
    words = f"CP{checkpoint} {'stores' if new else 'refers again to'} {row.name}"
    shape: dict[str, Value] = {"cx": x, "cy": y, "r": RADIUS}
    return group([element("title", words), element("circle", class_="snapshot" if new else "box focus", **shape)])
