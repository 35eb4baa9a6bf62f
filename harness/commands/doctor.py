"""`holdfast doctor`: what this machine can run, and what is missing for the rest."""

from __future__ import annotations

import shutil
import textwrap

import typer

from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.engine.site.service_parts import missing_parts
from holdfast.harness.model.case import Tier

_NAMES = 11
"""Columns of the names."""


def examine() -> int:
    """One line for each tier, and what is plugged in. Always 0: a missing tier is no error."""
    for tier in Tier:
        typer.echo(_wrapped(tier, lacking(tier) or "ready"))
    absent = missing_parts()
    services = f"lack {absent}: holdfast services install" if absent else "are ready"
    typer.echo(_wrapped("no Docker", f"services as plain processes {services}"))
    for group in registry.GROUPS:
        typer.echo(_wrapped(group, ", ".join(registry.names(group)) or "none"))
    return 0


def _wrapped(name: str, words: str) -> str:
    """A name and what is said of it, in a column of its own."""
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        words,
        width,
        initial_indent=f"{name:<{_NAMES}}",
        subsequent_indent=" " * _NAMES,
        break_on_hyphens=False,
        break_long_words=False,
    )
