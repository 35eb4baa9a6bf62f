"""Commands that users paste into a shell: those of `holdfast`, and the one that installs an extra."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path


def command_line(*words: str | Path) -> str:
    """A command of `holdfast` that can be pasted, whatever its words hold.

    Args:
        words: behind `holdfast`. A path that begins as an option does is named from here on.
    """
    return shlex.join(["holdfast", *(_path(each) if isinstance(each, Path) else each for each in words)])


def words_of(line: str) -> Sequence[str]:
    """The words of such a command; none where the line is none."""
    try:
        return shlex.split(line)
    except ValueError:
        return ()


def within(folder: str, command: str) -> str:
    """A command that is pasted elsewhere, and runs in a folder; empty: it runs where it is pasted."""
    return f"cd {shlex.quote(_path(Path(folder)))} && {command}" if folder else command


def _path(path: Path) -> str:
    return f"./{path}" if str(path).startswith("-") else str(path)


DISTRIBUTION = "holdfast-chaos"
"""PyPI has a package `holdfast` of somebody else."""


def install_command(*extras: str) -> str:
    """The command that adds extras to an installed Holdfast; pip needs no release of it on an index for that.

    Args:
        extras: of pyproject.toml.
    """
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"
