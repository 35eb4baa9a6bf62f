"""What is registered for the scheme of a URI."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, entry_points
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
        extra = _extra(found[scheme], error.name or "")
        remedy = f"; pip install '{extra}' brings it" if extra else ""
        raise ValueError(f"{noun} {uri!r} needs a package that is not installed: {error}{remedy}.") from error


def _extra(entry: EntryPoint, module: str) -> str:
    """The distribution of an entry point with the extra that brings a module; empty if none is named alike."""
    wanted = module.partition(".")[0].replace("_", "-").lower()
    for requirement in (entry.dist.requires if entry.dist else None) or ():
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*[\"']([\w.-]+)[\"']", requirement)
        if entry.dist and name and extra and name[0].replace("_", "-").lower() == wanted:
            return f"{entry.dist.name}[{extra[1]}]"
    return ""
