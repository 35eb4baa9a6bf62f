"""`holdfast checkpoint inspect`: what a checkpoint or savepoint holds, as text, JSON or a picture."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import msgspec
from rich.table import Table

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.pictures.inspected_checkpoint import picture_of
from holdfast.harness.engine.site import registry
from holdfast.harness.model.inspection import InspectedCheckpoint, InspectedSubtask
from holdfast.harness.spi.system import InspectsCheckpoints


def inspect_checkpoint(path: Path, system: str, picture: Path | None, *, json: bool) -> int:
    """Show what is at a path.

    Args:
        path: of the folder, or of the metadata file in it.
        system: that wrote it.
        picture: where to write an SVG picture; None: nowhere.
        json: print JSON and nothing else.
    """
    wrote = registry.system(system)
    if not hasattr(wrote, "inspect"):
        raise UsageError(f"system {system!r} does not show its checkpoints: choose another one with --system.")
    try:
        found = cast("InspectsCheckpoints", wrote).inspect(path)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if picture is not None:
        picture.write_text(picture_of(found), encoding="utf-8")
    if json:
        consoles.print_json(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        _print(found)
    return 0


def _print(found: InspectedCheckpoint) -> None:
    kind = "Savepoint" if found.savepoint else "Checkpoint"
    console = consoles.results()
    console.print(f"{kind} {found.checkpoint}, {found.max_parallelism} key groups, {found.path}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column in ("operator", "subtask", "key groups", "state", "format", "files", "bytes", "positions"):
        table.add_column(column, justify="right" if column in ("files", "bytes") else "left")
    for operator in found.operators:
        for part in operator.subtasks:
            table.add_row(operator.name, *_cells(part))
    console.print(table)
    missing = [
        file.path
        for operator in found.operators
        for part in operator.subtasks
        for file in part.files
        if not file.present
    ]
    if found.shared:
        console.print(f"{len(found.shared)} shared files: {', '.join(found.shared)}", soft_wrap=True)
    if missing:
        console.print(f"{len(missing)} files are missing or of another length: {', '.join(missing)}", soft_wrap=True)


def _cells(part: InspectedSubtask) -> tuple[str, ...]:
    keyed = part.end_key_group > part.first_key_group
    return (
        "coordinator" if part.index < 0 else str(part.index),
        f"{part.first_key_group} to {part.end_key_group - 1}" if keyed else "",
        ", ".join(part.states),
        ", ".join(part.formats),
        str(len(part.files)) if part.files else "",
        str(part.length) if part.files else "",
        ", ".join(f"{partition}:{offset}" for partition, offset in part.positions),
    )
