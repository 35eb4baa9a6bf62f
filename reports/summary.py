"""`summary.md`: what a CI server shows beside the build, in Markdown that GitHub and GitLab both render."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.status import STATUS_WORDS
from holdfast.harness.model.units import duration
from holdfast.reports import finding, notes, recovery, text, verdict, view
from holdfast.reports.files import write_file

MOST_BYTES = 1 << 20
"""GitHub refuses a job summary of 1 MiB or more as a whole."""
MOST_MISSING = 10
MOST_RECOVERIES = 10
MOST_NOTES = 10
_RESERVE = 400


class SummaryReporter:
    """Title, every failure with its replay line, for as long as there is room, and counts."""

    name = "summary"
    shows = Journal
    writes = "summary.md"

    def render(self, journal: Journal, folder: Path) -> Path:
        return write_file(folder / self.writes, summary(journal))


def summary(journal: Journal) -> str:
    """The summary as text, under MOST_BYTES in UTF-8."""
    head = [*_head(journal)]
    rest = [*_rest(journal), "\nThe whole report is `report.html`; every number is in `results.json`.\n"]
    left = MOST_BYTES - _RESERVE - sum(_size(part) for part in (*head, *rest))
    shown: list[str] = []
    for index, each in enumerate(journal.findings):
        part = _finding(each, journal)
        left -= _size(part)
        if left < 0:
            more = text.plural(len(journal.findings) - index, "more finding")
            shown.append(f"\n_{more} did not fit here; see `report.html`._\n")
            break
        shown.append(part)
    return "".join((*head, *shown, *rest))


def _head(journal: Journal) -> Iterator[str]:
    yield f"# {text.markdown(journal.heading)}: {text.markdown(journal.system)}\n\n{verdict.sentence(journal)}\n"
    if scope := verdict.scope_sentence(journal):
        yield f"\n{scope}\n"
    if usage := verdict.usage_sentence(journal):
        yield f"\n{usage}\n"
    if journal.interrupted:
        yield f"\n**Interrupted by {text.markdown(journal.interrupted)}**: this is what was found until then.\n"
    facts = (
        ("Claims", journal.claims),
        ("Profile", journal.profile),
        ("Runs", text.count(view.total_runs(journal))),
        ("Seed", str(journal.seed)),
        ("Started", text.moment(journal.started)),
        ("Took", duration(journal.duration_s * 1_000)),
    )
    yield "\n" + " · ".join(f"{name} **{text.markdown(value) or '–'}**" for name, value in facts) + "\n"
    if where := finding.paste(each.next.line_in_report() for each in journal.findings if each.next is not None):
        yield f"\n{where}\n"


def _rest(journal: Journal) -> Iterator[str]:
    certificate = journal.certificate
    yield "\n## What was tried\n\n"
    yield "".join(f"- {text.markdown(guarantee)}\n" for guarantee in certificate.guarantees[:20])
    if certificate.failure_bound is not None:
        bound = text.percent(certificate.failure_bound)
        yield f"- at most {bound} of drawn plans fail, with 95 % confidence (3/n, n = {certificate.drawn_plans:,})\n"
    if word := verdict.on_its_word(certificate):
        yield f"- {word}\n"
    for window in certificate.windows_missed[:20]:
        yield f"- window never hit: {text.markdown(window)}\n"
    counts = view.status_counts(result.status for result in view.rules(journal))
    yield "\n| Status | Rules | Meaning |\n| --- | ---: | --- |\n"
    for status, number in counts.items():
        name = f"{text.STATUS_MARKS[status]} {STATUS_WORDS[status]}"
        yield f"| {name} | {number:,} | {text.STATUS_MEANINGS[status]} |\n"
    if certificate.missing:
        yield "\n**What is missing**\n\n"
        yield "".join(f"- {text.markdown(sentence)}\n" for sentence in certificate.missing[:MOST_MISSING])
        if len(certificate.missing) > MOST_MISSING:
            yield f"- and {len(certificate.missing) - MOST_MISSING} more\n"
    yield from _subjects(journal)
    yield from _recoveries(journal)
    yield _notes(notes.notes(journal))


def _subjects(journal: Journal) -> Iterator[str]:
    if journal.subjects:
        yield "\n**Parts**, each tried by the kit of its contract\n\n"
    for each in journal.subjects:
        yield f"- **{each.heading}** {text.markdown(verdict.subject_sentence(each))}\n"
        for part in each.parts:
            yield f"  - {part.heading}: {text.markdown(text.short_name(part.factory))}\n"


def _recoveries(journal: Journal) -> Iterator[str]:
    rows = [row for group in recovery.groups(journal) for row in group]
    if rows:
        yield "\n**Recovery**, from a fault (from its heal, if it lasts) to new committed output\n\n"
        yield "| Fault | Tier | System | n | Median | p95 | Worst |\n"
        yield "| --- | --- | --- | ---: | ---: | ---: | ---: |\n"
    for row in rows[:MOST_RECOVERIES]:
        names = (row.attack, row.tier.value, row.system)
        figures = (duration(each) if each is not None else "–" for each in (row.median, row.p95, row.worst))
        yield f"| {' | '.join([*map(text.markdown, names), text.count(len(row.samples)), *figures])} |\n"
    if len(rows) > MOST_RECOVERIES:
        yield f"\nand {len(rows) - MOST_RECOVERIES} more\n"


def _notes(listed: tuple[notes.Note, ...]) -> str:
    if not listed:
        return ""
    lines = [
        f"- **{text.markdown(note.label)}** {text.markdown(note.words)} _({text.markdown(note.shown_in)})_"
        for note in listed[:MOST_NOTES]
    ]
    if len(listed) > MOST_NOTES:
        lines.append(f"- and {len(listed) - MOST_NOTES} more")
    return "\n".join(("\n**Noted**, and no failure\n", *lines, ""))


def _finding(found: Finding, journal: Journal) -> str:
    head = f"{text.STATUS_MARKS[found.status]} {STATUS_WORDS[found.status]}: {text.markdown(found.what)}"
    lines = [f"\n## {head}\n"]
    lines += [f"- **{name}** {text.markdown(words)}" for name, words in finding.lines(found)[1:3]]
    if reach := finding.scope(found, journal):
        lines.append(f"- **seen** in {text.markdown(reach)}")
    if found.rules:
        verb = "keeps open" if found.status in view.UNDECIDED else "refutes"
        lines.append(f"- **{verb}** {text.markdown(', '.join(found.rules))}")
    lines.append("")
    if found.cause is not None and found.cause.witness:
        lines.append(fence("\n".join(found.cause.witness)))
    if found.consequences:
        lines.append("What follows from it:\n")
        lines += [f"- {text.markdown(finding.violation_words(each))}" for each in found.consequences]
        lines.append("")
    for run in journal.runs:
        if run.id == found.run and found.damage is not None:
            lines += [
                f"_{text.markdown(each.label)}_: {text.markdown(each.words)}\n"
                for each in notes.of_run(run, journal.oracle_titles)
            ]
    if found.next is not None:
        lines.append("Next:\n")
        lines.append(fence(found.next.line_in_report()))
    return "\n".join(lines)


def fence(words: str) -> str:
    """Text as it stands, in a fence longer than any run of backticks in it."""
    longest = max((len(found) for found in re.findall("`+", words)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}text\n{text.clean(words)}\n{ticks}\n"


def _size(part: str) -> int:
    return len(part.encode("utf-8", "backslashreplace"))
