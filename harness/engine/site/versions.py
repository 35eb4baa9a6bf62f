"""Which versions are installed here, so that a report says what its results were got with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

_LIBRARIES = ("msgspec", "numpy", "pyarrow")


def versions() -> dict[str, str]:
    """By name, of the program, of Python, of the libraries that a verdict rests on, and of the platform."""
    return {
        "holdfast": _version("holdfast"),
        "python": platform.python_version(),
        **{name: _version(name) for name in _LIBRARIES},
        "platform": platform.platform(),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
