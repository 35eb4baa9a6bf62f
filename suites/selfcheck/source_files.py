"""The source files of the project, for tests of what may stand in which of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

ROOT = Path(str(files("holdfast.harness"))).parent


def source_files(*places: str, below: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Path and text of each Python file.

    Args:
        places: folders and files; without any, all that lies below.
        below: what places and paths are relative to; by default what holds the top-level folders.
    """
    for place in map(below.joinpath, places or ("",)):
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            yield path.relative_to(below).as_posix(), path.read_text(encoding="utf-8")


def files_with(condition: Callable[[str], object], *places: str, but_for: tuple[str, ...] = ()) -> set[str]:
    """The files whose text meets a condition.

    Args:
        condition: of the text of a file.
        places: as of `source_files`.
        but_for: how the paths begin that are passed over.
    """
    return {path for path, text in source_files(*places) if not path.startswith(but_for) and condition(text)}
