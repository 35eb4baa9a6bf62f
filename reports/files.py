"""How a report reaches the disk: whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def write_file(path: Path, content: str) -> Path:
    """Put `content` at `path` in one step, so that a reader sees the old report or the new one, never a half."""
    with _beside(path) as scratch:
        fresh = scratch / "fresh"
        fresh.write_bytes(_encode(content))
        fresh.replace(path)
    return path


def replace_folder(path: Path, contents: Mapping[str, str]) -> Path:
    """Put a folder with these files, and no others, at `path`.

    A folder cannot be swapped in one step everywhere, so for a moment there is none; there is never a mixture of two.
    """
    with _beside(path) as scratch:
        fresh, retired = scratch / "fresh", scratch / "retired"
        fresh.mkdir()
        for name, content in contents.items():
            (fresh / name).write_bytes(_encode(content))
        if path.exists():
            path.replace(retired)
        try:
            fresh.replace(path)
        except OSError:
            if retired.exists():
                retired.replace(path)
            raise
    return path


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A folder on the same file system, because a rename across two is a copy and can be seen half done."""
    scratch = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _encode(content: str) -> bytes:
    # Lone surrogates come from file names that are not UTF-8; they must not cost us the report.
    return content.encode("utf-8", "backslashreplace")
