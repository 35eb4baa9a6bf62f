"""Help: whatever a command or an option has to explain is shown, and all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from holdfast.harness import cli
from holdfast.suites.certify.scaffolds.languages import LANGUAGES


def commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    if isinstance(command, TyperGroup):
        for name, part in command.commands.items():
            yield from commands(part, (*words, name))


COMMANDS = dict(commands(get_command(cli.app), ()))


def packed(text: str) -> str:
    """Without what breaks lines."""
    return "".join(text.split())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_shows_every_word_brackets_included(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute([*words, "--help"]) == 0
    shown = packed(capsys.readouterr().out)
    command = COMMANDS[words]
    for parameter in command.params:
        assert packed(getattr(parameter, "help", None) or "") in shown
    assert packed(command.help) in shown
    if isinstance(command, TyperGroup):
        for part in command.commands.values():
            assert packed((part.help or "").split("\n\n")[0]) in shown


def test_a_group_without_a_command_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["job", "--help"]) == 0
    shown = capsys.readouterr().out
    assert cli.execute(["job"]) == cli.WRONG_USAGE
    assert capsys.readouterr().err == shown


def test_every_language_of_a_program_is_named() -> None:
    (option,) = (each for each in COMMANDS["new",].params if each.name == "lang")
    assert set(option.metavar.split("|")) == set(LANGUAGES)
