"""What commands print: help as a whole, commands to paste, text of others as it is, and with --json nothing else."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any, TextIO, cast

import msgspec
import pytest
from typer.core import TyperGroup
from typer.main import get_command

from holdfast.harness import cli
from holdfast.harness.cli.application import PARAMETERS, Alone, app
from holdfast.harness.commands import console as consoles
from holdfast.harness.commands import plans
from holdfast.harness.commands.standard_streams import LastingStream, reserve, restore, result_stream
from holdfast.harness.engine.artefacts.json_files import write_plan
from holdfast.harness.engine.cases import case_run
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.command_line import DISTRIBUTION, command_line, within, words_of
from holdfast.harness.model.finding import Command
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.certify.scaffolds.programs import LANGUAGES
from holdfast.suites.selfcheck.source_files import source_files

AWKWARD = ("a folder", "it's", 'a "quote"', "$HOME;true", "-x", "plain")
_COMMAND = re.compile(r"\bholdfast (?!trace )([a-z]+ )+(--[a-z-]+ )*$")
"""A trace hash is of no command."""


@pytest.mark.parametrize("name", AWKWARD)
def test_a_path_is_one_word_and_no_option(name: str) -> None:
    path = Path(name)
    shown = [f"./{name}" if name.startswith("-") else name]
    assert shlex.split(command_line("certify", "--resume", path)) == ["holdfast", "certify", "--resume", *shown]
    assert shlex.split(Command("replay", f"{name}/runs/x").line())[2:] == [f"{shown[0]}/runs/x"]
    assert shlex.split(within(name, "holdfast doctor"))[:3] == ["cd", *shown, "&&"]
    assert words_of(command_line("rerun", path))[2:] == shown
    assert words_of("holdfast 'half") == ()


def _written_by_hand() -> Iterator[str]:
    """Texts that name a command, and put a value behind it."""
    for path, source in source_files("harness"):
        for text in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr)):
            for before, behind in zip(text.values, text.values[1:], strict=False):
                named = isinstance(before, ast.Constant) and _COMMAND.search(str(before.value))
                if named and isinstance(behind, ast.FormattedValue):
                    yield f"{path}:{text.lineno}"


def test_no_text_of_ours_puts_a_value_behind_a_command() -> None:
    assert list(_written_by_hand()) == []


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


LOUD = """
import os, subprocess, sys, threading

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.systems.reference import ReferenceSystem


def shout(what):
    print("printed", what)
    sys.__stdout__.write(f"by the first stream {what}")
    sys.__stdout__.flush()
    os.write(1, f"from C {what}".encode())
    subprocess.run(["echo", "from a child process", what], check=True)


class Loud(ReferenceSystem):
    def __init__(self, variant=""):
        super().__init__(variant)
        shout("by the system")


class Backend(HashMapBackend):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        shout("by the backend")


shout("by the module")
"""
FLINK = "execution.checkpointing.interval: 1 s\n"


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["certify", "loud:Loud", "--tier", "sim", "--rule", "BAR-09", "--jobs", "1"], "certificate"),
        (["certify", "--state-backend", "loud:Backend", "--rule", "SBK-01"], "certificate"),
        (["config", "check", "flink-conf.yaml", "--system", "loud:Loud"], "settings"),
    ],
    ids=["system", "part", "configuration"],
)
@pytest.mark.share(2)
def test_nothing_but_json_is_printed(arguments: list[str], key: str, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    (tmp_path / "flink-conf.yaml").write_text(FLINK)
    command = [sys.executable, "-m", "holdfast.harness.cli", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=120)
    assert key in json.loads(done.stdout.decode("utf-8"))
    assert done.returncode == 0, done.stderr
    for written in ("printed by the module", "by the first stream", "from C", "from a child process"):
        assert written in done.stderr.decode()


def test_json_is_whole_utf_8_where_the_terminal_has_another_alphabet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-m", "holdfast.harness.cli", "config", "check", "flink-conf.yaml", "--json"]
    (tmp_path / "flink-conf.yaml").write_text("state.checkpoints.dir: file:///prüfstand\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=60)
    assert "file:///prüfstand" in {each["value"] for each in json.loads(done.stdout.decode("utf-8"))["settings"]}


def test_standard_output_is_as_before_afterwards(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    reserve()
    try:
        os.write(1, b"a part\n")
        sys.stdout.write("a part, too\n")
        result_stream().write("{}\n")
        result_stream().flush()
    finally:
        restore()
    assert sys.stdout is before
    os.write(1, b"someone else\n")
    out, error = capfd.readouterr()
    assert set(out.splitlines()) == {"{}", "someone else"}
    assert error.splitlines() == ["a part", "a part, too"]


def test_each_command_that_prints_json_reserves_standard_output() -> None:
    assert get_command(app)
    found = [each for each in COMMANDS.values() if any("--json" in parameter.opts for parameter in each.params)]
    assert len(found) >= 6
    for command in found:
        assert isinstance(command, Alone)
        assert any(parameter.name == "json" for parameter in command.params)


FOREIGN = "'/tmp/jobs[orders]/run' is not below [/opt/spark/x], [red] or :x:"


def test_a_foreign_text_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for console in (consoles.results(), consoles.results(soft_wrap=False), consoles.progress()):
        console.print(FOREIGN)
    said = capsys.readouterr()
    assert said.out == f"{FOREIGN}\n" * 2
    assert said.err == f"{FOREIGN}\n"


def test_a_stream_belongs_to_somebody_else_who_may_close_it_first() -> None:
    below = StringIO()
    LastingStream(cast("TextIO", below)).close()
    assert not below.closed
    lasting = LastingStream(cast("TextIO", below))
    below.close()
    lasting.close()  # As the interpreter does with what is collected.


def test_reasons_and_paths_of_a_rerun_keep_their_brackets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_plan(Path("plan.json"), msgspec.structs.replace(draw_plan(3), faults=()))
    assert cli.execute(["run", "plan.json", "--tier", "sim", "--out", "of[orders]"]) == 0
    stored = next(Path("of[orders]").iterdir())
    assert f"stored in {stored}; again: " in capsys.readouterr().out

    repeat = case_run.run_and_store

    def cut_off(*arguments: object) -> tuple[Run, Path]:
        run, place = repeat(*arguments)  # type: ignore[arg-type]
        return msgspec.structs.replace(run, outcome=Outcome.INCONCLUSIVE, reason=FOREIGN), place

    monkeypatch.setattr(plans, "run_and_store", cut_off)
    assert cli.execute(["rerun", str(stored), "--times", "1", "--out", "[/again]"]) == 2
    assert capsys.readouterr().err.startswith(f"1 of 1: inconclusive {FOREIGN} [/again]/")
