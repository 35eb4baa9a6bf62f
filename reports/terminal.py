"""What the command line prints when it is done: plain, within 80 columns, readable without colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from holdfast.harness.model.case import MEANINGS
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import Journal, Status, SubjectReport, Title
from holdfast.harness.model.status import STATUS_STYLES, STATUS_WORDS
from holdfast.harness.spi.reporter import OnTerminal
from holdfast.reports import finding, notes, recovery, text, verdict, view

TITLE_STYLES = {
    Title.CERTIFIED: "bold green",
    Title.PARTIAL: "bold yellow",
    Title.INCONCLUSIVE: "bold yellow",
    Title.REFUSED: "bold red",
}
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
SHOWN_WITNESS, SHOWN_MISSING, SHOWN_RULES, SHOWN_WINDOWS = 3, 3, 5, 3
SHOWN_FINDINGS, LISTED_FINDINGS = 3, 10
"""Findings that are shown whole, and of the others, those that have a line each."""
MOST_OF_A_SENTENCE = 140
"""Characters of a sentence that lists what is missing."""
_NOT_RUN = {Status.UNTESTED, Status.NOT_APPLICABLE}

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


class TerminalReporter:
    """The result where the command was typed."""

    name = "terminal"
    shows = OnTerminal
    writes = ""

    def render(self, shown: OnTerminal, folder: Path) -> Path:
        render_summary(*shown)
        return folder


def render_summary(journal: Journal, console: Console, verbose: bool = False, report: str = "") -> None:
    """Print the result: the verdict, what broke, what was not tried, and where the report is.

    Args:
        journal: what happened.
        console: where to print; its width is kept to.
        verbose: print everything that the report holds in words: also every rule, every consequence, windows, notes.
        report: path of the report to point to, if one was written.
    """
    _print_verdict(journal, console, verbose)
    _print_findings(journal, console, verbose, _folder(report))
    if verbose:
        _print_details(journal, console)
    _print_untried(journal, console, verbose)
    console.print()
    if not verbose:
        _print_wrapped(console, f"{_rest(journal)}: in the report, or with --verbose", indent=0)
    if report:
        console.print(Text(f"Report: {_sayable(console, report)}"), soft_wrap=True)


def _print_verdict(journal: Journal, console: Console, verbose: bool) -> None:
    """The title, what it means here and what keeps it from being better, and what follows from the runs."""
    certificate = journal.certificate
    runs = text.plural(view.total_runs(journal), "run")
    title = Text(_sayable(console, journal.heading), TITLE_STYLES[journal.title])
    what = f"{_sayable(console, journal.system)}, {runs}, seed {journal.seed}"
    apart = "  " if len(title) + len(what) + 2 <= console.width else "\n"
    title.append(f"{apart}{what}", "not bold default")
    console.print(title, soft_wrap=True)
    _print_wrapped(console, verdict.sentence(journal))
    if verbose or certificate.title is not Title.REFUSED:  # The findings say it.
        _print_missing(certificate.missing, console, verbose)
    for subject in journal.subjects:
        _print_subject(subject, console, verbose)
    if certificate.guarantees:
        _print_wrapped(console, "; ".join(certificate.guarantees))
    if certificate.failure_bound is not None:
        bound = f"at most {text.percent(certificate.failure_bound)} of drawn plans fail, with 95 % confidence"
        _print_wrapped(console, f"{bound} (3/n, n = {certificate.drawn_plans:,})")
    for sentence in filter(None, (verdict.on_its_word(certificate), verdict.usage_sentence(journal))):
        _print_wrapped(console, sentence)


def _print_missing(missing: Sequence[str], console: Console, verbose: bool) -> None:
    """What keeps a title from being CERTIFIED."""
    shown = missing if verbose else missing[:SHOWN_MISSING]
    for sentence in shown:
        _print_wrapped(console, f"- {sentence if verbose else text.one_line(sentence, MOST_OF_A_SENTENCE)}", hang=2)
    if len(missing) > len(shown):
        _print_wrapped(console, f"- and {len(missing) - len(shown)} more")


def _print_findings(journal: Journal, console: Console, verbose: bool, folder: str) -> None:
    """The worst whole, the others in a line each."""
    whole = journal.findings if verbose else journal.findings[:SHOWN_FINDINGS]
    for found in whole:
        console.print()
        _print_finding(found, journal, console, verbose, folder)
    others = journal.findings[len(whole) :]
    if others:
        console.print()
    for found in others[:LISTED_FINDINGS]:
        head = Text(
            f"{_marks(console)[found.status]} {STATUS_WORDS[found.status].upper()}", STATUS_STYLES[found.status]
        )
        named = ", ".join((found.rules or found.cases)[:1])
        words = _sayable(console, f"{named}: {found.what}", max(console.width - len(head) - 2, 20))
        console.print(head.append(f"  {words}", "default"), soft_wrap=True)
    if len(others) > LISTED_FINDINGS:
        _print_wrapped(console, f"and {text.plural(len(others) - LISTED_FINDINGS, 'more finding')}", indent=0)


def _print_untried(journal: Journal, console: Console, verbose: bool) -> None:
    """What this certificate says nothing about."""
    not_chosen = [tier.tier for tier in journal.tiers if not tier.ran and tier.reason.endswith("was not chosen")]
    sentences = [verdict.scope_sentence(journal)]
    for tier in journal.tiers:
        if not tier.ran and tier.tier not in not_chosen:
            named = tier.reason.startswith(f"tier {tier.tier}")
            sentences.append(tier.reason if named else f"tier {tier.tier} did not run: {tier.reason}")
    if not_chosen:
        were = "tiers that were" if len(not_chosen) > 1 else "a tier that was"
        sentences.append(f"{', '.join(not_chosen)}: {were} not chosen")
    sentences += [view.not_applicable(journal), _windows_missed(journal, 0 if verbose else SHOWN_WINDOWS)]
    listed = list(filter(None, sentences))
    if listed:
        console.print("\nNot tried")
    for sentence in listed:
        _print_wrapped(console, f"- {sentence}", hang=2)


def _rest(journal: Journal) -> str:
    """What the report holds beside."""
    counted = (
        (len(view.rules(journal)), "rule"),
        (len(journal.certificate.windows_hit), "window"),
        (len(recovery.groups(journal)), "recovery time"),
        (len(notes.notes(journal)), "note"),
    )
    return ", ".join(text.plural(number, noun) for number, noun in counted if number) or "all of it"


def _print_details(journal: Journal, console: Console) -> None:
    """What the report holds beside, in words."""
    console.print()
    console.print(_areas(journal, console))
    if any(each.failed_cases for each in view.rules(journal)):
        _print_wrapped(console, "* of some that passed a case failed by what decides another rule", "dim")
    console.print()
    console.print(_every_rule(journal, console))
    _print_notes(notes.notes(journal), console)
    console.print()
    if sentence := _windows_hit(journal):
        _print_wrapped(console, sentence)
    for group in recovery.groups(journal):
        each = "; ".join(f"{row.system} {row.in_words}" for row in group)
        _print_wrapped(console, f"recovery from {group[0].attack} on tier {group[0].tier}: {each}")
    for sentence in journal.certificate.versions:
        _print_wrapped(console, sentence)


def _marks(console: Console) -> dict[Status, str]:
    return text.STATUS_MARKS if console.encoding.lower().startswith("utf") else ASCII_MARKS


def _sayable(console: Console, words: str, limit: int = 0) -> str:
    """One line that the console's encoding can carry: a report must not die of a letter."""
    line = text.one_line(words, limit)
    if not console.encoding.lower().startswith("utf"):
        line = line.replace("…", ".")
    return line.encode(console.encoding, "replace").decode(console.encoding)


def _areas(journal: Journal, console: Console) -> Table:
    """One line for each area of which something ran; only statuses that occur get a column."""
    areas = [area for area in view.areas(journal) if not set(area.counts) <= _NOT_RUN]
    totals = view.status_counts(result.status for result in view.rules(journal))
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
        cells = [Text(_number(area, status), STATUS_STYLES[status]) for status in present]
        title = Text(_sayable(console, area.title, room))
        table.add_row(text.one_line(area.code), title, str(len(area.rules)), *cells)
    table.add_section()
    table.add_row("", "all", str(len(view.rules(journal))), *(str(totals[status]) for status in present), style="bold")
    return table


def _number(area: view.Area, status: Status) -> str:
    """How many; a star says that a case of some that passed failed otherwise."""
    number = area.counts.get(status, 0)
    star = "*" if status is Status.PASS and area.passed < number else ""
    return f"{number or ''}{star}"


def _every_rule(journal: Journal, console: Console) -> Table:
    room = max(console.width - 6 - 16 - 6 - 7, 20)
    table = Table(
        Column("Rule", width=6),
        Column("Status", width=16),
        Column("Level", width=6),
        Column("Requirement", width=room, no_wrap=True),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    marks = _marks(console)
    for result in view.rules(journal):
        status = Text(f"{marks[result.status]} {STATUS_WORDS[result.status]}", STATUS_STYLES[result.status])
        requirement = Text(_sayable(console, result.rule.text, room))
        table.add_row(result.rule.id, status, result.rule.level.value, requirement)
    return table


def _folder(report: str) -> str:
    """The folder that holds the folder of the report, as a command names it."""
    return str(PurePath(report).parent.parent) if report else ""


def _print_finding(found: Finding, journal: Journal, console: Console, verbose: bool, folder: str) -> None:
    """Four lines, and below them what they leave out."""
    head = Text(f"{_marks(console)[found.status]} {STATUS_WORDS[found.status].upper()}", STATUS_STYLES[found.status])
    names = ", ".join((*found.rules[:SHOWN_RULES], *_more(found.rules)) if found.rules else found.cases[:1])
    console.print(head.append(f"  {_sayable(console, names)}", "default"), soft_wrap=True)
    *words, (following, command) = finding.lines(found, folder)
    for name, sentence in words:
        _print_wrapped(console, sentence, "bold" if name == "what" else "", lead=f"{name:<6}")
    # Never wrapped by us: a line that is to be pasted must stay one line.
    console.print(Text(f"  {following:<5} ").append(_sayable(console, command), "cyan"), soft_wrap=True)
    if found.cause is not None:
        witness = found.cause.witness if verbose else found.cause.witness[:SHOWN_WITNESS]
        for number, line in enumerate(witness, start=1):
            _print_wrapped(console, f"{number}. {text.one_line(line)}", "dim", indent=8, hang=3)
        if len(found.cause.witness) > len(witness):
            left = text.plural(len(found.cause.witness) - len(witness), "more line")
            _print_wrapped(console, f"and {left}", "dim", indent=8)
    if found.consequences and verbose:
        for each in found.consequences:
            _print_wrapped(console, finding.violation_words(each), lead="then  ")
    elif found.consequences:
        clauses = ", ".join(each.label for each in found.consequences)
        _print_wrapped(console, clauses, "dim", lead="then  ")
    if reach := finding.scope(found, journal):
        _print_wrapped(console, reach, "dim", lead="seen  ")
    for run in journal.runs:
        if run.id == found.run and found.damage is not None:
            for note in notes.of_run(run, journal.oracle_titles):
                _print_wrapped(console, f"{note.label}: {note.words}", "dim", lead="note  ")


def _more(names: tuple[str, ...]) -> tuple[str, ...]:
    return (text.plural(len(names) - SHOWN_RULES, "more rule"),) if len(names) > SHOWN_RULES else ()


def _print_notes(listed: tuple[notes.Note, ...], console: Console) -> None:
    """What refutes nothing, each with a run that shows it."""
    if not listed:
        return
    console.print(Text("\nNOTED, and no failure"))
    for note in listed:
        _print_wrapped(console, f"{note.label}: {note.words} ({note.shown_in})", hang=2)


def _print_wrapped(
    console: Console, words: str, style: str = "", *, indent: int = 2, hang: int = 0, lead: str = ""
) -> None:
    """Wrapped by hand, because rich fills lines with blanks, which logs keep; `lead` stands before the first line."""
    margin, hang = " " * indent, hang or len(lead)
    width = max(console.width, 30)
    for line in textwrap.wrap(
        _sayable(console, words),
        width,
        initial_indent=margin + lead,
        subsequent_indent=margin + " " * hang,
        break_on_hyphens=False,
    ):
        console.print(Text(line, style), soft_wrap=True)


def _print_subject(subject: SubjectReport, console: Console, verbose: bool) -> None:
    """The title of what parts there are of one kind."""
    title = Text(subject.heading, TITLE_STYLES[subject.title])
    first, *others = textwrap.wrap(
        _sayable(console, verdict.subject_sentence(subject)), max(console.width - len(subject.heading) - 2, 10)
    )
    console.print(title.append(f"  {first}", "not bold default"), soft_wrap=True)
    for line in others:
        _print_wrapped(console, line)
    if verbose or subject.title is not Title.CERTIFIED:
        _print_missing(subject.missing, console, verbose)


def _windows_missed(journal: Journal, most: int) -> str:
    """Which windows no run hit, and at most so many of them by name; 0: all."""
    names = _in_order(journal.certificate.windows_missed)
    shown = names[:most] if most else names
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"windows that no run hit: {', '.join(shown)}{more}" if names else ""


def _in_order(windows: Iterable[str]) -> list[str]:
    """Those of the system itself come before those that a fault aimed at: cases demand only these."""
    named = {window.value for window in MEANINGS}
    return sorted(windows, key=lambda window: (window not in named, window))


def _windows_hit(journal: Journal) -> str:
    """How many runs hit which; empty if none hit one."""
    found = journal.certificate.windows_hit
    named = {window.value for window in MEANINGS}
    ordered = sorted(found, key=lambda window: (window not in named, -found[window], window))
    if not ordered:
        return ""
    first, *others = ordered
    more = "".join(f", {name} in {text.count(found[name])}" for name in others)
    return f"windows hit: {first} in {text.plural(found[first], 'run')}{more}"
