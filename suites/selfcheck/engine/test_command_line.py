"""Whatever a command names, it can be pasted: it is quoted in one place."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.harness.model.command_line import command_line, within, words_of
from holdfast.harness.model.finding import Command
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
