"""Stored checkpoints and configuration files, looked at: checkpoint, config."""

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


def config_check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE ...]", help="flink-conf.yaml, config.yaml, a FlinkDeployment, or spark-defaults.conf."
        ),
    ] = None,
    system: Annotated[
        str, typer.Option(help="Who reads it, such as spark; by default whom the file is for.", show_default=False)
    ] = "",
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", "--conf", "-D", metavar="KEY=VALUE", help="As program or command line do; repeatable."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every option with its value and origin, too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the configuration as JSON and nothing else.")] = False,
) -> int:
    """Print what a configuration of Flink or Spark comes to, and what is odd about it.

    Exit codes: 0 nothing is odd, 1 something is, 3 it is refused.
    """
    from holdfast.harness.commands.configuration import check_files

    return check_files(files or (), system, assignments or (), everything=everything, json=json)
