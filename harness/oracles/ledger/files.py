"""A file of the storage, by its path."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.area import Area


def _path_of(_history: History, kind: type[events.Event]) -> Callable[[Any], str]:
    return attrgetter("file.path" if kind is events.FileWritten else "path")


by_path = Area(
    _path_of,
    {
        events.FileWritten: "all",
        events.FileDeleted: "first",
    },
)
