"""What is registered for the scheme of a URI."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any


def registered(noun: str, group: str, uri: str) -> Any:
    """What an entry point stands for.

    Args:
        noun: what it is, such as `checkpoint storage`.
        group: of the entry points, which are named by scheme.
        uri: of the place.

    Raises:
        ValueError: the URI has no scheme, or nobody has registered it, or what it needs is not installed.
    """
    scheme, separator, _ = uri.partition("://")
    found = {entry.name: entry for entry in entry_points(group=group)}
    if not separator or scheme not in found:
        known = ", ".join(f"{name}://" for name in sorted(found)) or "none is installed"
        raise ValueError(f"{noun} {uri!r} has no known scheme; known: {known}.")
    try:
        return found[scheme].load()
    except ImportError as error:
        raise ValueError(f"{noun} {uri!r} needs a package that is not installed: {error}.") from error
