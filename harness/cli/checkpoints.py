"""Stored checkpoints and savepoints: checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def checkpoint_inspect(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Its folder, or its metadata file.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture (SVG).")] = None,
    system: Annotated[str, typer.Option("--system", metavar="SYSTEM", help="That wrote it.")] = "reference",
) -> int:
    """Show what a checkpoint or savepoint holds: operators, subtasks, key groups, files and sizes."""
    from holdfast.harness.commands.inspection import inspect_checkpoint

    return inspect_checkpoint(path, system, picture, json=json)
