"""Reporters: each shows one kind of value, in one file or folder, or where the command was typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.harness.model.journal import Journal

Shown = TypeVar("Shown")


class Reporter(Protocol[Shown]):
    """Registered under `holdfast.reporters` as a class, which is made without arguments. It computes no verdict.

    Attributes:
        name: such as `html`.
        shows: the class of what it is handed: `Journal` of one certification, `OnTerminal` for the same where the
            command was typed, `LatestNight` and `AllNights`, `ComparedSystems`, `Matrix`, or `Gallery`.
        writes: the file or folder that it writes, relative to the output folder; empty: none.
    """

    name: str
    shows: type[Shown]
    writes: str

    def render(self, shown: Shown, folder: Path, /) -> Path:
        """Write the report into an existing folder, atomically, and return its path.

        Args:
            shown: the value.
            folder: of a night, also the one that holds its certificates; of all nights, the one that holds them.
        """


AnyReporter = Reporter[Any]


class OnTerminal(NamedTuple):
    """A journal for whoever waits at the terminal.

    Attributes:
        journal: what happened.
        console: where to print; its width is kept to.
        verbose: print everything that the report holds in words.
        report: path of the report to point to; empty: none was written.
    """

    journal: Journal
    console: Console
    verbose: bool = False
    report: str = ""
