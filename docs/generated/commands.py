"""Every command with its arguments and options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.core import TyperGroup, TyperOption
from typer.main import get_command

from holdfast.harness.cli.application import app


def pages() -> dict[str, str]:
    """`commands.md`: in the groups and in the order of `holdfast --help`."""
    group: Any = get_command(app)
    commands = group.commands
    panels = dict.fromkeys(command.rich_help_panel for command in commands.values())
    lines = ["# Commands"]
    for panel in panels:
        lines.append(f"\n## {panel}")
        for name, command in commands.items():
            if command.rich_help_panel == panel:
                lines += _commands(command, f"holdfast {name}")
    return {"commands.md": "\n".join(lines)}


def _commands(command: Any, name: str) -> Iterator[str]:
    if isinstance(command, TyperGroup):
        for each, part in command.commands.items():
            yield from _commands(part, f"{name} {each}")
        return
    yield f"\n### {name}\n"
    yield " ".join((command.help or "").split("\n\n")[0].split())
    if parameters := [each for each in command.params if each.name != "help"]:
        yield "\n| argument | default | meaning |\n|---|---|---|"
        yield from map(_parameter, parameters)


def _parameter(parameter: Any) -> str:
    named = isinstance(parameter, TyperOption)
    spelling = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts)) if named else ""
    meaning = str(getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    given = parameter.default not in (None, "", (), []) and not callable(parameter.default)
    default = f"`{parameter.default}`" if given and parameter.default is not False else ""
    return f"| {spelling or f'`{str(parameter.name).upper()}`'} | {default} | {meaning} |"
