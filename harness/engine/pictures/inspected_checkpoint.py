"""The picture of an inspected checkpoint, as SVG: what each subtask has stored, and which key groups hold state."""

from __future__ import annotations

from html import escape

from holdfast.harness.model.inspection import InspectedCheckpoint, InspectedOperator, InspectedSubtask

WIDTH, LEFT, RIGHT, ROW, BAR = 980, 190, 220, 30, 18
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
"""By operator; distinguishable without seeing red or green."""


def picture_of(checkpoint: InspectedCheckpoint) -> str:
    rows: list[str] = []
    y = 64
    largest = max((part.length for each in checkpoint.operators for part in each.subtasks), default=0) or 1
    for number, operator in enumerate(checkpoint.operators):
        rows.append(_text(12, y + 14, operator.name, "700"))
        for part in operator.subtasks:
            rows += _row(checkpoint, operator, part, y, COLOURS[number % len(COLOURS)], largest)
            y += ROW
        y += 8
    kind = "savepoint" if checkpoint.savepoint else "checkpoint"
    title = f"{kind} {checkpoint.checkpoint}: {_size(_length(checkpoint))} in {len(checkpoint.operators)} operators"
    shared = f", {len(checkpoint.shared)} shared files" if checkpoint.shared else ""
    explains = (
        f"{checkpoint.max_parallelism} key groups from left to right; dark where a group holds state, the darker the "
        f"more{shared}."
    )
    height = y + 12
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" font-family="system-ui, sans-serif" font-size="13">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            _text(12, 24, title, "700", 16),
            _text(12, 44, explains, colour="#555555"),
            *rows,
            "</svg>",
            "",
        )
    )


def _row(
    checkpoint: InspectedCheckpoint,
    operator: InspectedOperator,
    part: InspectedSubtask,
    y: int,
    colour: str,
    largest: int,
) -> list[str]:
    width = WIDTH - LEFT - RIGHT
    label = "at the coordinator" if part.index < 0 else f"[{part.index}]"
    drawn = [_text(118, y + 14, label, colour="#555555")]
    groups, scale = checkpoint.max_parallelism or 1, width / (checkpoint.max_parallelism or 1)
    if part.end_key_group > part.first_key_group:
        x, span = LEFT + part.first_key_group * scale, (part.end_key_group - part.first_key_group) * scale
        drawn.append(_bar(x, y, span, colour, 0.15, f"{operator.name}: key groups of subtask {part.index}"))
        sizes: dict[int, int] = {}
        for file in part.files:
            for group, length in file.key_groups:
                sizes[group] = sizes.get(group, 0) + length
        most = max(sizes.values(), default=1) or 1
        for group, length in sizes.items():
            if group < groups:
                words = f"key group {group}: {_size(length)}"
                drawn.append(_bar(LEFT + group * scale, y, scale, colour, 0.35 + 0.65 * length / most, words))
    elif part.positions:
        words = ", ".join(f"partition {partition} at {offset}" for partition, offset in part.positions)
        drawn.append(_text(LEFT, y + 14, words))
    elif part.transactions:
        drawn.append(_text(LEFT, y + 14, f"{len(part.transactions)} pending transactions"))
    elif not part.files:
        drawn.append(_text(LEFT, y + 14, "finished" if part.finished else "no state", colour="#888888"))
    if part.files:
        words = f"{_size(part.length)} in {len(part.files)} {'file' if len(part.files) == 1 else 'files'}"
        missing = sum(not file.present for file in part.files)
        drawn.append(_bar(WIDTH - RIGHT + 12, y, 60 * part.length / largest, colour, 0.8, words))
        drawn.append(_text(WIDTH - RIGHT + 80, y + 14, words))
        if missing:
            drawn.append(_text(WIDTH - 30, y + 14, f"-{missing}", "700", colour="#cc0000"))
    return drawn


def _bar(x: float, y: int, width: float, colour: str, opacity: float, words: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{max(width, 1):.1f}" height="{BAR}" fill="{colour}" '
        f'fill-opacity="{opacity:.2f}"><title>{escape(words)}</title></rect>'
    )


def _text(x: int, y: int, words: str, weight: str = "400", size: int = 13, colour: str = "#222222") -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}" font-size="{size}" fill="{colour}">{escape(words)}</text>'


def _length(checkpoint: InspectedCheckpoint) -> int:
    return sum(part.length for operator in checkpoint.operators for part in operator.subtasks)


def _size(length: int) -> str:
    return f"{length} bytes" if length < 10_000 else f"{length / 1_000_000:.2f} MB"
