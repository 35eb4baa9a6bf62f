"""All commands, grouped by what one wants to do, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from holdfast.harness.cli import catalogue, certification, installation, jobs, runs


def _write_panels(formatter: Any, rows: list[tuple[str, tuple[str, str]]], untitled: str) -> None:
    """Rows below the titles of their panels; those without one below `untitled`."""
    for panel in dict.fromkeys(panel for panel, _ in rows):
        with formatter.section(panel or untitled):
            formatter.write_dl([row for each, row in rows if each == panel])


PARAMETERS = {
    "A part instead of a system, judged by its kit (suites/certify/README.md)": (
        ("state_backend", "checkpoint_storage", "file_system", "restart_strategy", "sink", "source"),
        ("location", "option"),
    ),
    "What runs": (("thorough", "tier", "area", "rule"), ("budget", "runs", "seed", "jobs", "require_tier")),
    "What comes of it": (("out", "verbose", "json", "require", "waivers"), ("keep", "resume")),
    "Services and variables that exist": (
        ("kafka_bootstrap", "s3_endpoint", "spark_master", "image"),
        ("allow_faults_on", "env"),
    ),
}
"""Options of a command that has many, by panel, in the order in which help lists them."""
MANY = 15
"""From so many on."""


def _write_parameters(command: Any, ctx: Any, formatter: Any) -> None:
    """Arguments, then options, many of them by panels. (Typer itself shows panels with rich markup alone.)"""
    found: dict[str, list[tuple[str, tuple[str, str]]]] = {"argument": [], "option": []}
    parameters = command.get_params(ctx)
    panels = {name: panel for panel, groups in PARAMETERS.items() for group in groups for name in group}
    if len(parameters) < MANY:
        panels = {}
    order = list(panels)
    for each in sorted(parameters, key=lambda it: order.index(it.name) if it.name in panels else len(order)):
        if (row := each.get_help_record(ctx)) is not None:
            found[each.param_type_name].append((panels.get(each.name, ""), row))
    _write_panels(formatter, found["argument"], "Arguments")
    _write_panels(formatter, found["option"], "Options")


class Alone(TyperCommand):
    """One command. With --json its result alone reaches standard output, whatever the system under test prints."""

    def invoke(self, ctx: Any) -> Any:
        if ctx.params.get("json"):
            from holdfast.harness.commands.standard_streams import reserve

            reserve()
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_parameters(self, ctx, formatter)


class Commands(TyperGroup):
    """A list of commands: the first paragraph of each in full, below the title of its panel."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.format_commands(ctx, formatter)
        _write_parameters(self, ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands), default=0)
        rows = [
            (
                getattr(command, "rich_help_panel", None) or "",
                (f"{name:<{width}}", " ".join((command.help or "").split("\n\n")[0].split())),
            )
            for name, command in self.commands.items()
        ]
        _write_panels(formatter, rows, "Commands")


JUDGE, LOOK, LATER, KNOW, BEGIN, MACHINE, CLUSTER = (
    "Find out what a system guarantees",
    "Look into one run",
    "Compare results over time",
    "Look something up",
    "Start something of your own",
    "Prepare this machine",
    "Run jobs on the reference runtime",
)
"""Panels."""
ALONE: dict[str, tuple[Callable[..., int], ...]] = {
    JUDGE: (
        certification.certify,
        certification.report,
        certification.verify,
        certification.nightly,
        certification.campaign,
        runs.compare,
        catalogue.mutants,
    ),
    LOOK: (runs.run, runs.replay, runs.rerun, runs.keep, runs.judge, catalogue.pictures),
    LATER: (certification.diff, certification.trend, certification.matrix),
    KNOW: (catalogue.rules, catalogue.schema),
    BEGIN: (catalogue.new,),
    MACHINE: (installation.doctor, installation.sweep),
}
"""By panel: each is called as its function."""
GROUPS: dict[str, tuple[str, str, dict[str, Callable[..., int]]]] = {
    "checkpoint": (
        LOOK,
        "Show what a stored checkpoint or savepoint holds.",
        {"inspect": catalogue.checkpoint_inspect},
    ),
    "config": (KNOW, "Check configuration files of Flink and Spark.", {"check": catalogue.config_check}),
    "services": (
        MACHINE,
        "Install a broker and an object store that run as plain processes, without Docker.",
        {"install": installation.install_services, "check": installation.check_services},
    ),
    "images": (
        MACHINE,
        "Build the Docker images of the services that tier containers starts.",
        {"build": installation.build_images, "check": installation.check_images},
    ),
    "flink": (MACHINE, "Install Apache Flink as a system under test.", {"install": installation.install_flink}),
    "job": (
        CLUSTER,
        "Run, list, stop and cancel jobs in the background; arguments as those of Flink's command line.",
        {
            "run": jobs.job_run,
            "list": jobs.job_list,
            "savepoint": jobs.job_savepoint,
            "stop": jobs.job_stop,
            "cancel": jobs.job_cancel,
            "end-cluster": jobs.job_end_cluster,
        },
    ),
}
"""By name: panel, help, and the commands."""
WORDS = "Chaos and conformance testing for checkpointing stream processors."
"""What the program is, in a line."""
WHOLE_LINES = "\b\n"
"""In front of a paragraph of help it keeps its lines apart."""
BEGINNING = f"""{WHOLE_LINES}Begin with:
  holdfast doctor                       what this machine can run
  holdfast certify reference            judge the small stream processor that ships with Holdfast
  holdfast certify reference+H7         the same with a known defect, which is found
  holdfast new pipeline orders          a Spark pipeline to start from; also sink, source, system, ...

All commands: holdfast --help. One of them: holdfast COMMAND --help."""
"""Stands below the help, and is all that `holdfast` alone shows."""


def _group(name: str, words: str) -> typer.Typer:
    """A list of commands. Help is no rich markup: that takes what stands in brackets for a style."""
    return typer.Typer(
        name=name,
        help=words,
        cls=Commands,
        context_settings={"max_content_width": 120, "help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def _show_version(wanted: bool) -> None:
    if wanted:
        from holdfast.harness.engine.site.machine import versions

        typer.echo(f"holdfast {versions()['holdfast']}")
        raise typer.Exit


def _application() -> typer.Typer:
    made = _group("holdfast", WORDS)

    @made.callback(epilog=BEGINNING)
    def holdfast(
        version: Annotated[
            bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
        ] = False,
        limits: Annotated[
            int,
            typer.Option(
                metavar="FACTOR", help="Read files of others that are so many times as large as is else allowed.", min=1
            ),
        ] = 1,
    ) -> None:
        from holdfast.harness.spi.outside_files import raise_limits

        raise_limits(limits)

    for panel in (JUDGE, LOOK, LATER, KNOW, BEGIN, MACHINE, CLUSTER):
        for alone in ALONE.get(panel, ()):
            made.command(cls=Alone, rich_help_panel=panel)(alone)
        for name, (of_panel, words, commands) in GROUPS.items():
            if of_panel == panel:
                group = _group(name, words)
                for each, command in commands.items():
                    group.command(each, cls=Alone)(command)
                made.add_typer(group, rich_help_panel=panel)
    return made


app = _application()
