"""What the system under test sees of the environment: a short list, and what the user passes on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.surroundings import PASSED_ON, passed

_KEYS = ("HOLDFAST_S3_ACCESS_KEY", "HOLDFAST_S3_SECRET_KEY")
_OURS = frozenset({"s3", "oss"})
"""Schemes of object stores that ship with Holdfast."""
_handed: dict[str, str] = {}
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def passed_on() -> tuple[str, ...]:
    return tuple(filter(None, os.environ.get(PASSED_ON, "").split(",")))  # noqa: TID251 - the edge


def part_surroundings(factory: str) -> dict[str, str]:
    """The environment of a part that a kit tries.

    Args:
        factory: what the user named it by. If that is the URI of an object store, the part ships with Holdfast, and
            finds its keys there. A part of somebody else finds none that the user did not name.
    """
    environment = os.environ  # noqa: TID251 - the edge
    keys = store_keys() if factory.partition("://")[0] in _OURS else {}
    return passed(environment) | dict(keys)


def store_keys() -> Mapping[str, str]:
    """With which the harness itself looks into an object store, by the names of their variables."""
    return _handed or {name: os.environ[name] for name in _KEYS if name in os.environ}  # noqa: TID251 - the edge


def take_store_keys(keys: Mapping[str, str]) -> None:
    """Take the keys from the process that started this one, not from the environment, where a part could see them."""
    _handed.update(keys)


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
