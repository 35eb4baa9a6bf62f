"""What there is to look up and to start from: rules, pictures, mutants, new, schema, checkpoint, config."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.harness.cli.options import OUTPUT, Out, Trust, stored_run
from holdfast.harness.model.journal import Status


def rules(
    name: Annotated[
        str, typer.Argument(metavar="[ID]", help="One rule in full, with the lines of code that it leads to.")
    ] = "",
    area: Annotated[list[str] | None, typer.Option(metavar="A", help="Only rules such as BAR; repeatable.")] = None,
    status: Annotated[list[Status] | None, typer.Option(case_sensitive=False, help="Only these; repeatable.")] = None,
    out: Out = OUTPUT,
) -> int:
    """List the rules, with the status of each in the last certificate; or one rule in full."""
    from holdfast.harness.commands.rules import show_rules

    return show_rules(name, out, area or (), status or ())


def pictures(
    stored: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="Folder of a stored run.", callback=stored_run)
    ] = None,
    system: Annotated[str, typer.Option(metavar="SYSTEM", help="Without a run: whose.")] = "reference",
    trust: Trust = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the files go.")] = OUTPUT / "pictures",
) -> int:
    """Draw a stored run; without one, how a system takes checkpoints and recovers."""
    from holdfast.harness.commands.pictures import draw_run, draw_system

    return draw_run(stored, out, trust=trust) if stored is not None else draw_system(system, out)


def mutants(
    names: Annotated[list[str] | None, typer.Argument(metavar="[ID ...]", help="Only these; of a table, rows.")] = None,
    table: Annotated[
        bool, typer.Option("--table", help="Print each step of the protocol and each way to take it wrongly.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="With --table: print JSON and nothing else.")] = False,
) -> int:
    """Test the judge: each known-bad variant must be found by the oracle that is there for it.

    Exit code 0 only if each is.
    """
    if table:
        from holdfast.harness.commands.mutants import show_table

        return show_table(names or [], json=json)
    from holdfast.harness.commands.mutants import try_mutants

    return try_mutants(names or [])


def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="A part, by its option of certify, such as state-backend or sink. Or program, over JSON lines; "
            "pipeline, on Spark; system, an engine that runs as processes.",
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the module that is written.")],
    lang: Annotated[str, typer.Option(metavar="python|node|go|java|rust", help="Of a program; else Python.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder; else NAME, here.", show_default=False)
    ] = None,
) -> int:
    """Write a small folder that runs: a right implementation, a wrong twin, tests and a CI file."""
    from holdfast.harness.commands.new import write_new

    return write_new(kind, name, lang, out)


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="plan, results (results.json), history (a line of history/NODE.jsonl), "
            "or adapter (a message between harness and a program over JSON lines).",
        ),
    ],
) -> int:
    """Print the JSON Schema of a format."""
    from holdfast.harness.commands.new import show_schema

    return show_schema(name)


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
