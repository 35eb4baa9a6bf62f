"""`holdfast rules`: the catalogue, with the statuses of the last certification."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.folders import LATEST, RESULTS
from holdfast.harness.engine import registry
from holdfast.harness.engine.artefacts import read_journal
from holdfast.harness.engine.certificate import rule_results
from holdfast.harness.model.journal import Journal, RuleResult
from holdfast.harness.model.rule import Subject


def show_rules(name: str, root: Path) -> int:
    """One rule in full, or all by area."""
    journal = _last_certified(root)
    results = journal.rules if journal else rule_results(registry.rules(), registry.cases(), (), {}, Subject.RUNTIME)
    console = consoles.results()
    if not name:
        console.print(_header(journal, root))
        _list(console, results)
        return 0
    found = next((result for result in results if result.rule.id == name), None)
    if found is None:
        raise registry.unknown("rule", name, (result.rule.id for result in results))
    console.print(_header(journal, root))
    _show(console, found)
    return 0


def _last_certified(root: Path) -> Journal | None:
    stored = root / LATEST / RESULTS
    return read_journal(stored) if stored.is_file() else None


def _header(journal: Journal | None, root: Path) -> Text:
    """One line: where the statuses come from."""
    if journal is None:
        return Text(f"statuses: nothing was certified below {root} yet", "dim")
    return Text(f"statuses: {journal.system}, started {journal.started}, by {journal.command}", "dim")


def _list(console: Console, results: tuple[RuleResult, ...]) -> None:
    """One line for each rule, by area."""
    area = ""
    for result in results:
        rule = result.rule
        if rule.area != area:
            area = rule.area
            console.print(Text(f"{rule.area}  {rule.title}", "bold"))
        cases = f"  {', '.join(result.cases)}" if result.cases else ""
        mutants = f"  (mutants {', '.join(result.mutants)})" if result.mutants else ""
        console.print(Text(f"  {rule.id}  {rule.level:<6}  {result.status:<14}{cases}{mutants}"))


def _show(console: Console, result: RuleResult) -> None:
    rule = result.rule
    lines = {
        "status": f"{result.status}{f': {result.reason}' if result.reason else ''}",
        "level": f"{rule.level} for {', '.join(rule.subjects)}",
        "text": rule.text,
        "decided by": ", ".join(result.oracles) or "nothing yet",
        "as it says": rule.oracle,
        "cases": ", ".join(result.cases) or "none",
        "mutants": ", ".join(result.mutants) or "none",
        "sources": "; ".join(rule.sources),
        "refuted in": ", ".join(result.failed_runs),
    }
    console.print(Text(f"{rule.id} {rule.title}", "bold"))
    for name, value in lines.items():
        if value:
            console.print(Text(f"{name:>10}  {value}"))
