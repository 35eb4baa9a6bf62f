"""`holdfast rules`: the catalogue with its cases and mutants, and the statuses of the last certification.

One rule in full leads to its code: the case, the clause, the wrong variant and the place in the reference.

On a wide screen a rule is a row of a table; on a narrow one its cases and mutants stand below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.reports import LATEST, RESULTS
from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.certification.certificate import rule_results
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.places import Found, places_of
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.command_line import command_line
from holdfast.harness.model.finding import oracle_in_words
from holdfast.harness.model.journal import Journal, RuleResult, Status
from holdfast.harness.model.rule import Part, Source, Subject
from holdfast.harness.model.status import STATUS_STYLES, STATUS_WORDS
from holdfast.harness.spi.oracle import titles_of

REFERENCE = "reference"
"""What to certify where nothing was certified."""
WIDE = 120
"""Columns from which a table has room."""


def show_rules(name: str, root: Path, areas: Sequence[str] = (), statuses: Sequence[Status] = ()) -> int:
    """One rule in full, or those of some areas and statuses with a summary.

    Args:
        name: id of one rule; empty for a list.
        root: the output folder of certifications, whose last one the statuses are of.
        areas, statuses: what to list; everything if there are none.

    Raises:
        UsageError: there is no such rule or area.
    """
    stored = root / LATEST / RESULTS
    journal = read_journal(stored) if stored.is_file() else None
    cases = registry.cases()
    results = _results(cases, journal)
    console = consoles.results(soft_wrap=False)
    if name:
        found = next((result for result in results if result.rule.id == name), None)
        if found is None:
            raise entry_points.unknown("rule", name, (result.rule.id for result in results))
        console.print(_header(journal, root), soft_wrap=True)
        _show(console, found, cases, _status_in_words(found) if journal else _how_to_certify(found))
        return 0
    known = list(dict.fromkeys(result.rule.area for result in results))
    for area in areas:
        if area not in known:
            raise entry_points.unknown("area", area, known)
    listed = [
        result
        for result in results
        if (not areas or result.rule.area in areas) and (not statuses or result.status in statuses)
    ]
    console.print(_header(journal, root), soft_wrap=True)
    console.print(_table(listed, console) if console.width >= WIDE else _stack(listed, console))
    console.print(_summary(listed))
    return 0


def _results(cases: Sequence[Case], journal: Journal | None) -> tuple[RuleResult, ...]:
    """The catalogue as it is now, with the statuses of a certification."""
    present = rule_results(registry.rules(), cases, (), {}, journal.subject if journal else Subject.RUNTIME)
    last = {result.rule.id: result for result in journal.rules} if journal else {}
    return tuple(
        msgspec.structs.replace(last[each.rule.id], cases=each.cases, mutants=each.mutants, oracles=each.oracles)
        if each.rule.id in last
        else each
        for each in present
    )


def _header(journal: Journal | None, root: Path) -> Text:
    """One line: where the statuses come from."""
    if journal is None:
        return Text(f"statuses: nothing was certified below {root} yet", "dim")
    return Text(f"statuses: {journal.system}, started {journal.started}, by {journal.command}", "dim")


def _by_area(results: Iterable[RuleResult]) -> dict[str, list[RuleResult]]:
    areas: dict[str, list[RuleResult]] = {}
    for result in results:
        areas.setdefault(result.rule.area, []).append(result)
    return areas


# --- the list ---


def _table(results: Iterable[RuleResult], console: Console) -> Table:
    """One row for each rule, by area."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("rule", no_wrap=True)
    table.add_column("level", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("cases", max_width=(console.width - 30) // 3)
    table.add_column("mutants", max_width=(console.width - 30) // 4)
    table.add_column("requirement", ratio=1)
    table.expand = True
    for area, rules in _by_area(results).items():
        table.add_row(Text(area, "bold"), "", "", Text(rules[0].rule.title, "bold"))
        for result in rules:
            table.add_row(
                result.rule.id,
                result.rule.level,
                _status(result.status),
                Text("\n".join(result.cases) or "none", "" if result.cases else "dim"),
                Text("\n".join(result.mutants) or "none", "" if result.mutants else "dim"),
                Text(_first_sentence(result.rule.text), "dim"),
            )
        table.add_row()
    return table


def _stack(results: Iterable[RuleResult], console: Console) -> Table:
    """A line for each rule, and below it the requirement, its cases and its mutants."""
    table = Table.grid()
    for area, rules in _by_area(results).items():
        table.add_row(Text(f"{area}  {rules[0].rule.title}", "bold"))
        for result in rules:
            rule = result.rule
            table.add_row(Text(f"  {rule.id}  {rule.level:<6}  ") + _status(result.status))
            requirement = Text(_first_sentence(rule.text), "dim", overflow="ellipsis", no_wrap=True)
            requirement.truncate(console.width - 10)
            table.add_row(Padding(requirement, (0, 0, 0, 10)))
            for label, names in (("cases", result.cases), ("mutants", result.mutants)):
                if names:
                    lines = Table.grid(padding=(0, 1, 0, 0))
                    lines.add_column(width=7)
                    lines.add_row(Text(label, "dim"), ", ".join(names))
                    table.add_row(Padding(lines, (0, 0, 0, 10)))
        table.add_row("")
    return table


def _summary(results: Sequence[RuleResult]) -> Table:
    """How many rules of each area have which status, and how many have a case."""
    shown = [status for status in Status if any(result.status is status for result in results)]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("area")
    table.add_column("", overflow="ellipsis", no_wrap=True)
    for column in ("rules", "with a case", *(STATUS_WORDS[status] for status in shown)):
        table.add_column(column, justify="right")

    def add(area: str, title: str, rules: Sequence[RuleResult], style: str = "") -> None:
        counts = Counter(result.status for result in rules)
        decided = sum(bool(result.cases) for result in rules)
        cells = (
            Text(str(counts[status] or "·"), STATUS_STYLES[status] if counts[status] else "dim") for status in shown
        )
        table.add_row(area, title, str(len(rules)), str(decided), *cells, style=style)

    for area, rules in _by_area(results).items():
        add(area, rules[0].rule.title, rules)
    add("all", "", results, "bold")
    return table


def _number(count: int, status: Status) -> Text:
    return Text(str(count), STATUS_STYLES[status]) if count else Text("·", "dim")


def _status(status: Status) -> Text:
    return Text(STATUS_WORDS[status], STATUS_STYLES[status])


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".") + "."


# --- one rule ---


def _status_in_words(result: RuleResult) -> str:
    return f"{STATUS_WORDS[result.status]}{f': {result.reason}' if result.reason else ''}"


def _how_to_certify(result: RuleResult) -> str:
    """The status of a rule where there is no certificate: the command that makes one which decides it."""
    if result.cases:
        words: tuple[str, ...] = (REFERENCE,)
    elif kits := registry.kits_deciding(result.rule.id):
        words = (f"--{kits[0]}", "module:factory")
    else:
        return _status_in_words(result)
    return f"not certified yet: run `{command_line('certify', *words)}`"


def _show(console: Console, result: RuleResult, cases: Iterable[Case], status: str) -> None:
    rule, titles = result.rule, titles_of(registry.toolbox().oracles)
    kits = registry.kits_deciding(rule.id)
    lines = {
        "status": status,
        "level": f"{rule.level} for {', '.join(rule.subjects)}",
        "text": rule.text,
        "why": rule.why,
        "decided by": _decided_by(result.oracles, titles) or ("" if kits else "nothing yet"),
        "kit": "; ".join(command_line("certify", f"--{kit}", "module:factory", "--rule", rule.id) for kit in kits),
        "how": rule.oracle,
        "refuted in": ", ".join(result.failed_runs),
    }
    console.print(Text(f"{rule.id}  {rule.title}", "bold"))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="dim", no_wrap=True)
    for name, value in lines.items():
        if value:
            table.add_row(name, Text(value, STATUS_STYLES[result.status] if name == "status" else ""))
    console.print(table)
    _show_sources(console, rule.sources)
    for case in cases:
        decisions = [decision for decision in case.decides if decision.rule == rule.id]
        if decisions:
            _show_case(console, case, decisions, titles)
    _show_places(console, places_of(rule.id, cases))


def _show_sources(console: Console, sources: Iterable[Source]) -> None:
    """Print the sources of a rule; an address is never broken, so that it can be opened."""
    label = "sources"
    for each in sources:
        address = Text(f"  {each.address}" if each.address else "", "dim")
        console.print(Text(f"{label:>10}  ", "dim") + Text(each.words) + address, soft_wrap=True)
        label = ""


def _show_places(console: Console, places: Sequence[Found]) -> None:
    """Print the place of each part as an editor opens it: `path:line`, never broken."""
    console.print()
    lines = [(each.place.part, f"{_path(each)}:{each.place.line}", each.place.name) for each in places]
    width = max((len(where) for _, where, _ in lines), default=0)
    for part in Part:
        label: str = part
        for _, where, name in [line for line in lines if line[0] is part] or [(part, "none", "")]:
            where = where.ljust(width) if name else where
            console.print(
                Text(f"{label:>13}  ", "dim") + Text(where) + Text(f"  {name}" if name else "", "dim"), soft_wrap=True
            )
            label = ""


def _path(found: Found) -> str:
    """Relative to where the user is, if the file lies below."""
    here = Path.cwd()
    return str(found.file.relative_to(here) if found.file.is_relative_to(here) else found.file)


def _decided_by(clauses: Iterable[str], titles: Mapping[str, str]) -> str:
    """The clauses of `ORACLE/clause` by oracle, each named by its title."""
    grouped: dict[str, list[str]] = {}
    for name in clauses:
        oracle, _, clause = name.partition("/")
        grouped.setdefault(oracle, []).append(clause)
    return "; ".join(f"{oracle_in_words(titles, oracle)}: {', '.join(found)}" for oracle, found in grouped.items())


def _show_case(console: Console, case: Case, decisions: Sequence[Decision], titles: Mapping[str, str]) -> None:
    console.print()
    console.print(Text(f"{'case':>10}  {case.id}", "bold") + Text(f"  on {', '.join(case.tiers)}", "dim"))
    for words in (case.purpose, case.method, case.passes):
        console.print(Padding(Text(words), (0, 0, 0, 12)))
    for decision in decisions:
        clauses = Text(f"{oracle_in_words(titles, decision.oracle)}: {', '.join(decision.clauses)}")
        console.print(Padding(clauses + Text(f", shown able to fail by {decision.mutant}", "dim"), (0, 0, 0, 12)))
