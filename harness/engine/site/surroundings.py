"""What the user passes on to the system under test, which sees no other variable of the environment unless its adapter
names it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.surroundings import PASSED_ON

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def passed_on() -> tuple[str, ...]:
    """Their names."""
    return tuple(filter(None, os.environ.get(PASSED_ON, "").split(",")))  # noqa: TID251 - the edge


def pass_on(names: Iterable[str]) -> None:
    """Let the system under test have these variables, too; for this process and those that it starts.

    Raises:
        UsageError: one is none, or not set.
    """
    wanted = dict.fromkeys(passed_on())
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(f"--env is {name!r}; allowed is the name of a variable: its value is not typed.")
        if name not in os.environ:  # noqa: TID251
            raise UsageError(f"--env is {name!r}, but no such variable is set: export it.")
        wanted[name] = None
    if wanted:
        os.environ[PASSED_ON] = ",".join(wanted)  # noqa: TID251
