"""What the command line prints when it is done: plain, within 80 columns, readable without colour."""

from __future__ import annotations

import textwrap

from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from holdfast.harness.model.appearance import STATUS_STYLES, STATUS_WORDS
from holdfast.harness.model.journal import Journal, RuleResult, Status, Title
from holdfast.reports import notes, recovery, text, view

TITLE_STYLES = {Title.CERTIFIED: "bold green", Title.PARTIAL: "bold yellow", Title.REFUSED: "bold red"}
HEADINGS = {
    Status.PASS: "pass",
    Status.NOT_APPLICABLE: "n/a",
    Status.WAIVED: "waived",
    Status.UNTESTED: "untested",
    Status.UNOBSERVED: "unseen",
    Status.INCONCLUSIVE: "unclear",
    Status.ERROR: "error",
    Status.FAIL: "FAIL",
}
SHOWN_WITNESS, SHOWN_MISSING, SHOWN_RULES, SHOWN_RECOVERIES, SHOWN_NOTES = 3, 4, 4, 6, 4


ASCII_MARKS = {
    Status.PASS: "+",
    Status.NOT_APPLICABLE: "-",
    Status.WAIVED: "~",
    Status.UNTESTED: ".",
    Status.UNOBSERVED: "o",
    Status.INCONCLUSIVE: "?",
    Status.ERROR: "!",
    Status.FAIL: "x",
}


def render_summary(journal: Journal, console: Console, verbose: bool = False, report: str = "") -> None:
    """Print the result: areas, decided rules, trouble with its replay lines, and last the title.

    The title comes last because that is where a terminal leaves the reader.

    Args:
        journal: what happened.
        console: where to print; its width is kept to.
        verbose: list every rule with its text, those that nothing decided too, and everything that is missing.
        report: path of the report to point to, if one was written.
    """
    console.print(_areas(journal, console))
    console.print()
    if verbose:
        console.print(_every_rule(journal, console))
    else:
        _print_decided(journal, console)
    blocks = view.blocks(journal)
    for block in blocks:
        console.print()
        _print_block(block, console, verbose)
    _print_notes(notes.notes(journal, [block.run.id for block in blocks if block.run]), console, verbose)
    console.print()
    _print_end(journal, console, verbose, report)


def _marks(console: Console) -> dict[Status, str]:
    return text.STATUS_MARKS if console.encoding.lower().startswith("utf") else ASCII_MARKS


def _sayable(console: Console, words: str, limit: int = 0) -> str:
    """One line that the console's encoding can carry: a report must not die of a letter."""
    line = text.one_line(words, limit)
    if not console.encoding.lower().startswith("utf"):
        line = line.replace("…", ".")
    return line.encode(console.encoding, "replace").decode(console.encoding)


def _areas(journal: Journal, console: Console) -> Table:
    """One line for each area; only statuses that occur get a column."""
    areas = view.areas(journal)
    totals = view.status_counts(result.status for result in journal.rules)
    present = [status for status in Status if status in totals]
    headings = [HEADINGS[status] for status in present]
    # Rich shrinks every column alike when a table is too wide; here only the title may give way.
    room = max(console.width - sum(len(heading) + 2 for heading in headings) - 14, 10)
    table = Table(
        Column("Area", width=4),
        Column("Title", width=min(room, max((len(area.title) for area in areas), default=5)), no_wrap=True),
        Column("Rules", width=5, justify="right"),
        *(
            Column(heading, width=len(heading), justify="right", header_style=STATUS_STYLES[status])
            for heading, status in zip(headings, present, strict=True)
        ),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    for area in areas:
        cells = [Text(str(area.counts.get(status, "")), STATUS_STYLES[status]) for status in present]
        title = Text(_sayable(console, area.title, room))
        table.add_row(text.one_line(area.code), title, str(len(area.rules)), *cells)
    table.add_section()
    table.add_row("", "all", str(len(journal.rules)), *(str(totals[status]) for status in present), style="bold")
    return table


def _is_decided(result: RuleResult) -> bool:
    return bool(result.cases) or result.status not in (Status.UNTESTED, Status.NOT_APPLICABLE)


def _print_decided(journal: Journal, console: Console) -> None:
    """A line for each area: its decided rules by number, each behind the mark of its status."""
    marks = _marks(console)
    for area in view.areas(journal):
        decided = [result for result in area.rules if _is_decided(result)]
        if all(result.status in (Status.UNTESTED, Status.NOT_APPLICABLE) for result in decided):
            continue  # Nothing of it ran, as the table says.
        line = Text()
        for result in decided:
            mark = f"{marks[result.status]}{result.rule.id.rpartition('-')[2]}"
            line.append(mark, STATUS_STYLES[result.status]).append("  ")
        for index, part in enumerate(line.wrap(console, max(console.width - 6, 20))):
            part.rstrip()
            console.print(Text(f"{text.one_line(area.code) if index == 0 else '':4}  ").append_text(part))
    met = {result.status for result in journal.rules if _is_decided(result)}
    if met:
        key = "  ".join(f"{marks[status]} {STATUS_WORDS[status]}" for status in Status if status in met)
        console.print(Text(f"      ({key})", "dim"))


def _every_rule(journal: Journal, console: Console) -> Table:
    room = max(console.width - 6 - 16 - 6 - 7, 20)
    table = Table(
        Column("Rule", width=6),
        Column("Status", width=16),
        Column("Level", width=6),
        Column("What is owed", width=room, no_wrap=True),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    marks = _marks(console)
    for result in journal.rules:
        status = Text(f"{marks[result.status]} {STATUS_WORDS[result.status]}", STATUS_STYLES[result.status])
        owed = Text(_sayable(console, result.rule.text, room))
        table.add_row(result.rule.id, status, result.rule.level.value, owed)
    return table


def _print_block(block: view.Block, console: Console, verbose: bool) -> None:
    head = Text(f"{_marks(console)[block.status]} {STATUS_WORDS[block.status].upper()}", STATUS_STYLES[block.status])
    names = ", ".join(finding.name for finding in block.findings)
    console.print(head.append(f"  {_sayable(console, names)}", "default"), soft_wrap=True)
    for finding in block.findings if verbose else block.findings[:SHOWN_RULES]:
        _print_wrapped(console, text.one_line(view.owed(finding), 0 if verbose else 220))
    for reason in block.reasons:
        _print_wrapped(console, reason)
    if block.exhibit is not None:
        anomaly = block.exhibit.anomaly
        _print_wrapped(console, f"{block.exhibit.oracle}/{anomaly.clause}: {anomaly.message}", "bold")
        witness = anomaly.witness if verbose else anomaly.witness[:SHOWN_WITNESS]
        for number, line in enumerate(witness, start=1):
            _print_wrapped(console, f"{number}. {text.one_line(line)}", indent=4, hang=3)
        if len(anomaly.witness) > len(witness):
            _print_wrapped(console, f"and {text.plural(len(anomaly.witness) - len(witness), 'more line')}", indent=4)
    elif block.run is not None and block.run.reason:
        _print_wrapped(console, f"run {block.run.id}: {block.run.reason}")
    if block.run is not None:
        for note in notes.of_run(block.run):
            _print_wrapped(console, f"{note.label}: {note.words}", "dim", hang=2)
    if block.run is not None and block.run.replay:
        # Never wrapped by us: a line that is to be pasted must stay one line.
        console.print(Text(f"  {_sayable(console, block.run.replay)}", "cyan"), soft_wrap=True)


def _print_notes(told: tuple[notes.Note, ...], console: Console, verbose: bool) -> None:
    """What refutes nothing, each with a run that shows it."""
    if not told:
        return
    console.print(Text("\nNOTED, and no failure"))
    for note in told if verbose else told[:SHOWN_NOTES]:
        _print_wrapped(console, f"{note.label}: {note.words} ({note.shown_in})", hang=2)
    if len(told) > SHOWN_NOTES and not verbose:
        _print_wrapped(console, f"and {text.plural(len(told) - SHOWN_NOTES, 'more note')}")


def _print_wrapped(console: Console, words: str, style: str = "", indent: int = 2, hang: int = 0) -> None:
    """Wrapped by hand, because rich fills lines with blanks, which logs keep."""
    margin = " " * indent
    width = max(console.width, 30)
    for line in textwrap.wrap(
        _sayable(console, words),
        width,
        initial_indent=margin,
        subsequent_indent=margin + " " * hang,
        break_on_hyphens=False,
    ):
        console.print(Text(line, style), soft_wrap=True)


def _print_end(journal: Journal, console: Console, verbose: bool, report: str) -> None:
    certificate = journal.certificate
    for guarantee in certificate.guarantees:
        _print_wrapped(console, guarantee)
    if certificate.failure_bound is not None:
        bound = f"at most {text.percent(certificate.failure_bound)} of drawn plans fail, with 95 % confidence"
        _print_wrapped(console, f"{bound} (3/n, n = {certificate.drawn_plans:,})")
    recoveries = recovery.groups(journal)
    for group in recoveries if verbose else recoveries[:SHOWN_RECOVERIES]:
        each = "; ".join(f"{row.system} {row.in_words}" for row in group)
        _print_wrapped(console, f"recovery from {group[0].attack} on tier {group[0].tier}: {each}")
    if len(recoveries) > SHOWN_RECOVERIES and not verbose:
        _print_wrapped(console, f"and from {text.plural(len(recoveries) - SHOWN_RECOVERIES, 'more fault')}")
    for tier in journal.tiers:
        if not tier.ran:
            _print_wrapped(console, f"{tier.tier} did not run: {tier.reason}")
    if journal.interrupted:
        _print_wrapped(console, f"interrupted by {journal.interrupted}", "bold yellow")
    console.print()
    runs = text.plural(view.total_runs(journal), "run")
    title = Text(certificate.title.value, TITLE_STYLES[certificate.title])
    title.append(f"  {_sayable(console, journal.system)}, {runs}, seed {journal.seed}", "not bold default")
    console.print(title, soft_wrap=True)
    shown = certificate.missing if verbose else certificate.missing[:SHOWN_MISSING]
    for sentence in shown:
        _print_wrapped(console, f"- {sentence if verbose else text.beginning(sentence)}", hang=2)
    if len(certificate.missing) > len(shown):
        _print_wrapped(console, f"- and {len(certificate.missing) - len(shown)} more")
    if report:
        console.print(Text(f"Report: {_sayable(console, report)}"), soft_wrap=True)
