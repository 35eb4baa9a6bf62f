"""Runs one command line: its exit code, and one sentence for whatever is wrong."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, suppress
from errno import ELOOP, ENAMETOOLONG
from functools import cache
from pathlib import Path
from traceback import print_exc
from typing import Any

import typer
from typer.main import get_command

from holdfast.harness.cli.application import BEGINNING, WHOLE_LINES, WORDS, app
from holdfast.harness.cli.options import OUTPUT
from holdfast.harness.engine.errors import (
    HARNESS_ERROR,
    INTERRUPTED,
    WRONG_USAGE,
    ForeignError,
    NotApplicable,
    UsageError,
)
from holdfast.harness.engine.site.foreign import NotHere, foreign, only_what_ships
from holdfast.harness.engine.site.interruption import OwnSignals
from holdfast.harness.engine.site.room import in_one_sentence
from holdfast.harness.spi.errors import UnusableSystem
from holdfast.harness.spi.words import text_of

PROGRAM = "holdfast"
_OF_NAMES = (ENAMETOOLONG, ELOOP)
"""What no machine takes for the name of a file."""


def run_process(signals: OwnSignals) -> None:
    """Run the command line of this process, and end it.

    Args:
        signals: the handler of signals where no command handles them.
    """
    from holdfast.harness.commands.standard_streams import lost_for_room, steady_streams
    from holdfast.harness.engine.site.interruption import hanging_calls
    from holdfast.harness.engine.site.room import lacking_memory

    # What stands in the current folder can be named, as in `certify --sink my_sink:Sink`; what is installed goes first.
    with suppress(OSError):  # It may be gone.
        sys.path.append(str(Path.cwd()))
    streams = steady_streams()
    lacking = lacking_memory()
    code = INTERRUPTED
    with signals.breaking():
        code = _give_up(lacking) if lacking else run_once(sys.argv[1:])
    code = signals.exit_code or code
    for stream in streams:
        stream.flush()
    if streams[0].full or lost_for_room():
        typer.echo(
            "holdfast: there is no room where standard output goes, and not all was written: make some.", err=True
        )
        code = code or HARNESS_ERROR
    if hanging_calls():
        os._exit(code)  # An ordinary end waits for every thread.
    raise SystemExit(code)


def execute(arguments: list[str]) -> int:
    """Run one command line, in a process that goes on afterwards; its exit code."""
    from holdfast.harness.commands.standard_streams import restore

    try:
        return run_once(arguments)
    finally:
        restore()


def run_once(arguments: list[str]) -> int:
    """Run one command line, in a process that ends behind it. The only place that catches what users and plug-ins do
    wrong."""
    from holdfast.harness.commands import own_process

    if not arguments:
        typer.echo(f"holdfast: {WORDS}\n\n{BEGINNING.removeprefix(WHOLE_LINES)}", err=True)
        return WRONG_USAGE
    for each in arguments:
        if text_of(each) != each:
            return _refuse(f"{each!r} is no text in UTF-8, and no report could name it: give it another name.")
    try:
        with (
            own_process.command(arguments),
            foreign("the system under test or a plug-in"),
            own_process.blaming_third_party_code(),
        ):
            return _run(arguments)
    except (UsageError, NotApplicable, UnusableSystem) as error:
        return _refuse(str(error))
    except ForeignError as error:
        return _blame(str(error)) if own_process.is_apart() else _give_up(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except MemoryError:
        return _give_up("there is not enough memory; allow more, or do less at a time with --jobs 1.")
    except OSError as error:  # Of the machine: no room, no permission, no more files. A bug of ours is none of these.
        return (_refuse if error.errno in _OF_NAMES else _give_up)(in_one_sentence(error))
    except Exception as error:
        # The command line library's own complaint, whose exit code would be 2; it may be vendored, so go by its method.
        complaint = getattr(error, "format_message", None)
        if complaint is not None and type(error).__name__ == "NoArgsIsHelpError":  # It is the help.
            typer.echo(complaint(), err=True)
            return WRONG_USAGE
        if complaint is not None:
            return _refuse(_of_the_command_line(complaint(), getattr(error, "ctx", None)))
        print_exc()
        return HARNESS_ERROR
    finally:
        _close_services()


@cache
def _command() -> Any:
    """All commands. Typer would look at the types of all their parameters for each command line."""
    return get_command(app)


def _run(arguments: list[str]) -> int:
    """Run it here, or apart: in the process that was begun for it, what does not ship with Holdfast may run."""
    from holdfast.harness.commands import own_process

    with ExitStack() as stack:
        if not own_process.is_apart():
            stack.enter_context(only_what_ships())
        try:
            return int(_command()(arguments, prog_name=PROGRAM, standalone_mode=False) or 0)
        except NotHere as stopped:  # The command has not checked that by itself, which would only be sooner.
            names = stopped.names
    from holdfast.harness.commands.apart import run_apart

    return run_apart(names, OUTPUT)


def _close_services() -> None:
    """Whatever a command opened; one that opened none has not imported any of this."""
    site = sys.modules.get("holdfast.harness.engine.site.services")
    if site is not None:
        site.close_services()


def _of_the_command_line(complaint: str, context: Any) -> str:
    """The library's complaint as a sentence, and where the help of the command is."""
    sentence = complaint.replace("Value error, ", "").rstrip(".?")
    ending = "?" if "Did you mean" in sentence else "."
    return f"{sentence}{ending} See {context.command_path if context is not None else PROGRAM} --help."


def _refuse(sentence: str) -> int:
    typer.echo(f"holdfast: {sentence}", err=True)
    return WRONG_USAGE


def _give_up(sentence: str) -> int:
    typer.echo(f"holdfast: {sentence}", err=True)
    return HARNESS_ERROR


def _blame(sentence: str) -> int:
    """What does not ship with Holdfast failed."""
    from holdfast.harness.commands.apart import say
    from holdfast.harness.model.verdict import Outcome

    return say(Outcome.FAIL, sentence.rstrip("."))
