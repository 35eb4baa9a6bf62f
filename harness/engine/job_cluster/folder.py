"""What lies in the folder of a cluster, its token among it: who knows that may ask its endpoint."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

from holdfast.harness.engine.artefacts.files import read_content
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.outside_files import WRITTEN_BYTES

ENDPOINT = "endpoint.json"
"""The address of its endpoint, while it runs."""
SETTINGS = "settings.json"
"""What it was started with."""
RUN = "run"
"""Folder of its deployment: input, output, checkpoints and events."""
LOG = "cluster.log"
"""Its error text when it cannot run."""


VARIABLE = "HOLDFAST_TOKEN"
"""Environment variable with the token."""
TOKEN = "token"
"""File of a cluster's folder, which its owner alone can read."""
_WELL_FORMED = re.compile(r"[\x21-\x7e]{16,256}")
_RANDOM_BYTES = 32


def make_token() -> str:
    """A token for a new cluster."""
    return secrets.token_hex(_RANDOM_BYTES)


def write_token(folder: Path, token: str) -> None:
    """Keep it in the folder of its cluster, for the owner alone."""
    path = folder / TOKEN
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(token + "\n")


def given_token(file: Path | None) -> str:
    """The token that a user names: that of the file, else that of the environment; empty: none.

    Raises:
        UsageError: others can read the file, or it holds no token.
    """
    if file is None:
        token = os.environ.get(VARIABLE, "")
        return _checked(token, VARIABLE) if token else ""
    return read_token(file)


def read_token(file: Path) -> str:
    """The token in a file.

    Raises:
        UsageError: others can read the file, or it holds no token.
    """
    content = read_content(file, WRITTEN_BYTES)
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise UsageError(f"{file}: others can read it; allowed is a token that you alone can read: chmod 600 it.")
    return _checked(content.decode("ascii", errors="replace").strip(), str(file))


def _checked(token: str, source: str) -> str:
    if not _WELL_FORMED.fullmatch(token):
        raise UsageError(
            f"{source}: holds no token; allowed are 16 to 256 letters, digits and signs of ASCII without spaces: "
            "write such a one."
        )
    return token
