"""What this process knows of the command that it runs: its arguments, and whether it was begun for what does not ship
with Holdfast (see `apart`). This module imports next to nothing, for every command line goes through it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from traceback import extract_tb

from holdfast.harness.engine.certification.last_call import note_last_call
from holdfast.harness.engine.errors import ForeignError, NotApplicable, UsageError
from holdfast.harness.engine.site.foreign import in_words
from holdfast.harness.spi.errors import UnusableSystem


class Here:
    """What holds of this process.

    Attributes:
        arguments: of the command that runs.
        reports: to the process that waits; None: this one is not apart.
        names: of what does not ship with Holdfast, where this process runs it.
    """

    def __init__(self) -> None:
        self.arguments: Sequence[str] = ()
        self.reports: Connection | None = None
        self.names: tuple[str, ...] = ()


here = Here()


@contextmanager
def command(arguments: Sequence[str]) -> Iterator[None]:
    """Within, these are the arguments of the command that runs."""
    before, here.arguments = here.arguments, arguments
    try:
        yield
    finally:
        here.arguments = before


def run_ended() -> None:
    """A run of the command is over: the limit begins anew."""
    if here.reports is not None:
        here.reports.send(None)


def note_parent(descriptor: int, stack: Path) -> Connection:
    """This process is apart.

    Args:
        descriptor: of the pipe.
        stack: file for the stack at its end.
    """
    note_last_call(stack)
    here.reports = Connection(descriptor)
    return here.reports


def is_apart() -> bool:
    """Whether this process was begun to run what does not ship with Holdfast."""
    return here.reports is not None


@contextmanager
def blaming() -> Iterator[None]:
    """Within, what does not ship with Holdfast is blamed for what it raises, if it runs here.

    Raises:
        ForeignError: it raised something.
    """
    try:
        yield
    except (UsageError, NotApplicable, UnusableSystem):
        raise
    except Exception as error:
        names = here.names if is_apart() else ()
        for frame in reversed(extract_tb(error.__traceback__)):
            if theirs := [name for name in names if _file_of(name) == frame.filename]:
                raise ForeignError(f"{', '.join(theirs)} raised {in_words(error)} in {frame.name}") from error
        raise


def _file_of(name: str) -> str:
    module = sys.modules.get(name.partition(":")[0])
    return (module.__file__ or "") if module is not None else ""
