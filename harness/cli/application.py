"""All commands, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from holdfast.harness.cli import catalogue, certification, checkpoints, configuration, installation, jobs, runs


class Commands(TyperGroup):
    """A list of commands shows the first paragraph of each in full."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for command in self.commands.values():
            command.short_help = " ".join((command.help or "").split("\n\n")[0].split())
        super().format_commands(ctx, formatter)


ALONE = (
    certification.certify, certification.campaign, certification.nightly, certification.trend, certification.diff,
    runs.run, runs.compare, runs.replay, runs.rerun, runs.judge,
    catalogue.rules, catalogue.pictures, catalogue.mutants, catalogue.new, catalogue.schema,
    installation.doctor, installation.sweep,
)  # fmt: skip
"""Each is called as its function."""
GROUPS: dict[str, tuple[str, dict[str, Callable[..., int]]]] = {
    "images": (
        "Images of the services that the containers tier starts.",
        {"build": installation.build_images, "check": installation.check_images},
    ),
    "services": (
        "Broker and object store as plain processes, without Docker.",
        {"install": installation.install_services, "check": installation.check_services},
    ),
    "flink": ("Apache Flink, as a system under test.", {"install": installation.install_flink}),
    "config": ("Configuration files of a cluster.", {"check": configuration.config_check}),
    "job": (
        "Jobs of the reference runtime, in the background; arguments as those of Flink's command line.",
        {
            "run": jobs.job_run,
            "list": jobs.job_list,
            "savepoint": jobs.job_savepoint,
            "stop": jobs.job_stop,
            "cancel": jobs.job_cancel,
            "end-cluster": jobs.job_end_cluster,
        },
    ),
    "checkpoint": ("Stored checkpoints and savepoints.", {"inspect": checkpoints.checkpoint_inspect}),
}
"""By name: help, and the commands."""


def _group(name: str, words: str) -> typer.Typer:
    """A list of commands. Help is no rich markup: that takes what stands in brackets for a style."""
    return typer.Typer(
        name=name,
        help=words,
        cls=Commands,
        context_settings={"max_content_width": 120},
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def _application() -> typer.Typer:
    made = _group("holdfast", "Chaos and conformance testing for checkpointing stream processors.")
    for alone in ALONE:
        made.command()(alone)
    for name, (words, commands) in GROUPS.items():
        group = _group(name, words)
        for each, command in commands.items():
            group.command(each)(command)
        made.add_typer(group)
    return made


app = _application()
