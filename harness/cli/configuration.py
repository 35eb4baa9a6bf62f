"""Configuration files of a cluster: config."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def config_check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A flink-conf.yaml, or a config.yaml of Flink 2.x.")],
    system: Annotated[str, typer.Option(help="Who reads it.")] = "reference",
    assignments: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="As the job's program does; repeatable.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the configuration as JSON and nothing else.")] = False,
) -> int:
    """Print what is in force, where each value comes from, and what is odd about it."""
    from holdfast.harness.commands.configuration import check_file

    return check_file(file, system, assignments or (), json=json)
