"""What the system under test sees of the environment: a short list, and what the user passes on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.surroundings import PASSED_ON, passed

_KEYS = ("HOLDFAST_S3_ACCESS_KEY", "HOLDFAST_S3_SECRET_KEY")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def passed_on() -> tuple[str, ...]:
    """Their names."""
    return tuple(filter(None, os.environ.get(PASSED_ON, "").split(",")))  # noqa: TID251 - the edge


def part_surroundings(*places: str) -> dict[str, str]:
    """The environment of a part that a kit tries.

    Args:
        places: what the user named it by, and where it is let store. If one is a URI, its keys come along: our own
            storages find them there, and so does the kit, which looks from outside.
    """
    environment = os.environ  # noqa: TID251 - the edge
    keys = (
        {name: value for name, value in environment.items() if name in _KEYS}
        if any("://" in place for place in places)
        else {}
    )
    return passed(environment) | keys


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
