"""The `holdfast` command: options and arguments. What a command does is in `commands`, imported when it runs.

Exit codes: 0 certified or partial, 1 refuted, 2 inconclusive, 3 wrong usage, 4 harness error, 128 + n after signal n.

This module imports next to nothing, so that a process hears signals before it imports the rest.
"""

from __future__ import annotations

from holdfast.harness.engine.errors import HARNESS_ERROR as HARNESS_ERROR
from holdfast.harness.engine.errors import WRONG_USAGE as WRONG_USAGE
from holdfast.harness.engine.site.interruption import heard_from_now_on


def main() -> None:
    """The entry point of a process. A signal that comes before, while Python itself starts, is Python's."""
    heard = heard_from_now_on()
    from holdfast.harness.cli.execution import run_process

    run_process(heard)


def execute(arguments: list[str]) -> int:
    """Run one command line, in a process that goes on afterwards; its exit code."""
    from holdfast.harness.cli.execution import execute as run

    return run(arguments)
