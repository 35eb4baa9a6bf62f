"""Configuration files of a cluster: config."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def config_check(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="flink-conf.yaml, config.yaml, or a FlinkDeployment."),
    ],
    system: Annotated[str, typer.Option(help="Who reads it.")] = "reference",
    assignments: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="As the job's program does; repeatable.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every option with its value and origin, too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the configuration as JSON and nothing else.")] = False,
) -> int:
    """Print what a configuration comes to, and what is odd about it.

    Exit codes: 0 nothing is odd, 1 something is, 3 it is refused.
    """
    from holdfast.harness.commands.configuration import check_file

    return check_file(file, system, assignments or (), everything=everything, json=json)
