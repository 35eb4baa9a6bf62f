"""`holdfast diff`: what changed from one night, or one certificate, to another."""

from __future__ import annotations

from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.nights.comparison import Comparison, SystemComparison, compare
from holdfast.harness.engine.nights.night_folder import read_comparable

WORSE = 1


def show_difference(old: Path, new: Path, *, json: bool) -> int:
    """Print it; 1 if something is newly refuted, else 0."""
    comparison = compare(read_comparable(old), read_comparable(new))
    if not comparison.systems:
        raise UsageError(
            f"{old} and {new} have no system in common: {', '.join(comparison.only_before) or 'none'} and "
            f"{', '.join(comparison.only_after) or 'none'}; name two nights of the same systems."
        )
    if json:
        content = {"worse": comparison.worse, **msgspec.to_builtins(comparison)}
        consoles.print_json(msgspec.json.format(msgspec.json.encode(content)).decode())
    else:
        _show(comparison, consoles.results())
    return WORSE if comparison.worse else 0


def _show(comparison: Comparison, console: Console) -> None:
    for each in comparison.systems:
        _show_system(each, console)
    for name in comparison.only_before:
        console.print(f"{name}: only in the older one")
    for name in comparison.only_after:
        console.print(f"{name}: only in the newer one")


def _show_system(system: SystemComparison, console: Console) -> None:
    renamed = f", compared with {system.before_system}" if system.before_system != system.system else ""
    verdict = Text("worse", "bold red") if system.newly_refuted else Text("nothing newly refuted", "green")
    console.print(Text(f"{system.system}{renamed}: ") + verdict)
    for title, labels in (
        ("newly refuted", system.newly_refuted),
        ("new findings", system.new),
        ("gone", system.gone),
        ("not covered", system.not_covered),
        ("still there", system.still),
        ("rules no longer decided", system.rules_lost),
        ("windows no longer hit", system.windows_lost),
        ("faults that no longer took effect", system.faults_lost),
    ):
        for label in labels:
            console.print(Text(f"  {title:<34}{label}"))
    for rule in system.rules:
        console.print(Text(f"  {'status changed':<34}{rule.rule}: {rule.before} -> {rule.after}"))
    for part in system.parts:
        console.print(Text(f"  {'status of a part changed':<34}{part.part}: {part.before} -> {part.after}"))
    if system.title[0] is not system.title[1]:
        console.print(Text(f"  {'title changed':<34}{system.title[0]} -> {system.title[1]}"))
    before, now = system.inconclusive
    console.print(Text(f"  {'inconclusive runs':<34}{before:.1%} -> {now:.1%}"))
