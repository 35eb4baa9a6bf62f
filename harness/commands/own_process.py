"""What this process knows of the command that it runs: its arguments, and whether it was begun for what does not ship
with Holdfast (see `apart`). This module imports next to nothing, for every command line goes through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from holdfast.harness.engine.certification.last_call import note_last_call
from holdfast.harness.engine.errors import ForeignError, NotApplicable, UsageError
from holdfast.harness.engine.site.foreign import raised_by
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
    """Restart the time limit: a run of the command is over."""
    if here.reports is not None:
        here.reports.send_bytes(b"")


def note_parent(descriptor: int, stack: Path, names: str) -> Connection:
    """This process is apart.

    Args:
        descriptor: of the pipe.
        stack: file for the stack at its end.
        names: of what does not ship with Holdfast, with commas between them.
    """
    note_last_call(stack)
    here.reports, here.names = Connection(descriptor), tuple(filter(None, names.split(",")))
    return here.reports


def is_apart() -> bool:
    """Whether this process was begun to run what does not ship with Holdfast."""
    return here.reports is not None


@contextmanager
def blaming_third_party_code() -> Iterator[None]:
    """Within, what does not ship with Holdfast is blamed for what it raises, if it runs here.

    Raises:
        ForeignError: it raised something.
    """
    try:
        yield
    except (UsageError, NotApplicable, UnusableSystem):
        raise
    except Exception as error:
        if is_apart() and (sentence := raised_by(here.names, error)):
            raise ForeignError(sentence) from error
        raise
