"""Help: whatever a command or an option has to explain is shown, and all of it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from holdfast.harness import cli
from holdfast.harness.cli.application import PARAMETERS, app
from holdfast.harness.model.distribution import DISTRIBUTION
from holdfast.suites.certify.scaffolds.languages import LANGUAGES


def commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    if isinstance(command, TyperGroup):
        for name, part in command.commands.items():
            yield from commands(part, (*words, name))


COMMANDS = dict(commands(get_command(app), ()))


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


def test_the_program_alone_says_what_to_begin_with(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute([]) == cli.WRONG_USAGE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "holdfast certify reference " in shown.err
    assert "All commands: holdfast --help" in shown.err
    assert len(shown.err.splitlines()) < 12


def test_certify_alone_names_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["certify"]) == cli.WRONG_USAGE
    shown = capsys.readouterr().err
    assert shown.startswith("holdfast: name what to certify:\n")
    options = {each for parameter in COMMANDS["certify",].params for each in parameter.opts}
    parts = {word.strip(",") for word in shown.split() if word.startswith("--")} - {"--help"}
    assert {"--state-backend", "--sink", "--source", "--restart-strategy"} < parts <= options
    assert len(shown.splitlines()) < 8


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.share(5)
def test_help_has_a_short_option(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute([*words, "--help"]) == 0
    shown = capsys.readouterr().out
    assert cli.execute([*words, "-h"]) == 0
    assert capsys.readouterr().out == shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["--version"]) == 0
    assert capsys.readouterr().out == f"holdfast {version(DISTRIBUTION)}\n"


def test_every_command_is_listed_once_below_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["--help"]) == 0
    titles, listed = [], []
    for line in capsys.readouterr().out.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            titles.append(line)
        elif line.startswith("  ") and line[2:3].isalpha() and titles[-1:] != ["Options:"]:
            listed.append(line.split()[0])
    commands = get_command(app)
    assert isinstance(commands, TyperGroup)
    assert sorted(each for each in listed if each in commands.commands) == sorted(commands.commands)
    assert "Commands:" not in titles
    assert len(titles) > 5


def test_the_options_of_certify_are_grouped(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["certify", "--help"]) == 0
    titles = [line for line in capsys.readouterr().out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Arguments:", *(f"{panel}:" for panel in PARAMETERS), "Options:"]
    known = {parameter.name for parameter in COMMANDS["certify",].params}
    listed = [name for groups in PARAMETERS.values() for group in groups for name in group]
    assert len(listed) == len(set(listed))
    assert len(known & set(listed)) > 20


@pytest.mark.parametrize("name", [words[0] for words in COMMANDS if len(words) == 1])
def test_a_command_is_described_in_two_lines(name: str) -> None:
    words = " ".join((COMMANDS[name,].help or "").split("\n\n")[0].split())
    assert len(words) <= 2 * 64


def test_every_language_of_a_program_is_named() -> None:
    (option,) = (each for each in COMMANDS["new",].params if each.name == "lang")
    assert set(option.metavar.split("|")) == set(LANGUAGES)
