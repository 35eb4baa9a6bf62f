"""Where a connector is tried."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple
from urllib.parse import urlsplit

_numbers = count(1)


class Connected(NamedTuple):
    """The system that a sink writes to, or a source reads.

    Attributes:
        location: URI below which each check has a place of its own, which must be empty; empty: a folder of the kit's.
        options: of everything that the factory makes.
    """

    location: str = ""
    options: Mapping[str, str] = {}

    def place(self, folder: str) -> str:
        """The URI of a place that no check has used.

        Args:
            folder: of the kit's own, if there is no location.
        """
        return f"{self.location}/{next(_numbers)}" if self.location else f"file://{folder}"


HERE = Connected()
"""A folder of the kit's own, and no options."""


def require_place(location: str) -> None:
    """A URI can say where what is certified is tried.

    Args:
        location: as of Connected.

    Raises:
        ValueError: the temporary folder of this machine has a name that no two readers of a URI take for the same.
    """
    folder = gettempdir()
    if not location and (odd := sorted(set(folder) & set("%#?"))):
        raise ValueError(f"the temporary folder {folder!r} has {' '.join(odd)} in its name: set TMPDIR to another one.")


def folder_of(uri: str) -> Path:
    """The folder of a URI `file://FOLDER`.

    Raises:
        ValueError: it is another one, so that nobody but its author's code can look at it.
    """
    scheme, _, path, *_ = urlsplit(uri)
    if scheme != "file":
        raise ValueError(f"place {uri!r} is no folder, so that its format cannot be one that the kit knows.")
    return Path(path)
