"""`holdfast doctor`: what this machine can run, and what is missing for the rest."""

from __future__ import annotations

import typer

from holdfast.harness.engine import registry
from holdfast.harness.engine.machine import lacking
from holdfast.harness.model.case import Tier


def examine() -> int:
    """One line for each tier, and what is plugged in. Always 0: a missing tier is no error."""
    for tier in Tier:
        reason = lacking(tier)
        typer.echo(f"{tier:<11}{reason or 'ready'}")
    for group in registry.GROUPS:
        typer.echo(f"{group:<11}{', '.join(registry.names(group)) or 'none'}")
    return 0
