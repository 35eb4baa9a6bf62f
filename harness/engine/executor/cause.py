"""Reasons of runs, which are often alike but for their numbers: so they are counted as one."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d+")
"""One that is no part of a name: s3 stays."""


def cause_of(reason: str) -> str:
    """A reason, with a letter for each of its numbers."""
    return _NUMBER.sub("n", reason)
