"""A finding in words: four lines first, then what they leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.harness.model.finding import Finding, Violation
from holdfast.harness.model.journal import Journal, RuleResult
from holdfast.harness.model.status import Status
from holdfast.reports.text import beginning, count, one_line, plural
from holdfast.reports.view import runs_of

SHOWN_CASES = 3
MOST_LINES = 4
"""Of the evidence, beside when it was: a reader takes in no more before asking why."""
LONG_LINE = 200
"""Characters beyond which a line of the evidence is shown in part first."""

NOTHING_STORED = "no run of it was stored; run the same command again"
PASTE_HERE = "Paste commands in the folder of this file."
PASTE_BESIDE_CODE = (
    "Paste commands where the code of the system is, with the path of this folder in front of that of the run."
)
_TRUST = "--trust"
"""In a command that runs code of somebody's own, which is found from where it is."""


def paste(commands: Iterable[str]) -> str:
    """Where the commands of a file in the folder of the report are pasted; empty: there are none."""
    given = list(commands)
    if not given:
        return ""
    return PASTE_BESIDE_CODE if any(_TRUST in each.split() for each in given) else PASTE_HERE


def lines(finding: Finding, folder: str | None = None) -> tuple[tuple[str, str], ...]:
    """What, when, why and next, each with its words.

    Args:
        finding: which.
        folder: as `Command.line` takes it; None: the command stands in a file of the report.
    """
    following = NOTHING_STORED
    if finding.next is not None:
        following = finding.next.line_in_report() if folder is None else finding.next.line(folder)
    return ("what", finding.what), ("when", finding.when), ("why", finding.why), ("next", following)


@dataclass(frozen=True, slots=True)
class Seen:
    """The evidence of a finding that is shown before anything is opened.

    Attributes:
        lines: of the witness, each with its number; the last ones lead to the wrong step.
        left_out: how many lines are between the first one and the others.
        cut: sentences of which only the beginning is shown, in full.
        more: whether something of it, or of the cause, is not shown.
        instead: where there is no line, where the finding was seen.
    """

    lines: tuple[tuple[int, str], ...]
    left_out: int
    cut: tuple[str, ...]
    more: bool
    instead: str


def seen(finding: Finding) -> Seen:
    """The evidence in some lines: all of it, or the first line and the last ones."""
    cause = finding.cause
    numbered = list(enumerate(cause.witness, start=1)) if cause is not None else []
    shown = numbered if len(numbered) <= MOST_LINES else [numbered[0], *numbered[2 - MOST_LINES :]]
    lines = tuple((number, one_line(words, LONG_LINE)) for number, words in shown)
    left_out = len(numbered) - len(shown)
    cut = tuple(words for words in (finding.what, finding.why) if beginning(words) != one_line(words))
    is_long = any(len(one_line(words)) > LONG_LINE for _, words in shown)
    unnamed = cause is not None and (bool(cause.more) or cause.name not in finding.why)
    more = bool(left_out or cut or is_long or unnamed)
    return Seen(lines, left_out, cut, more, "" if lines else _place(finding))


def _place(finding: Finding) -> str:
    """Where a finding was seen that no event shows."""
    shown, others = finding.cases[:MOST_LINES], len(finding.cases) - MOST_LINES
    where = ", ".join((*shown, *([plural(others, "more case")] if others > 0 else [])))
    return f"at the end of {where or finding.run or 'the run'}; no single event shows it"


def in_text(finding: Finding) -> list[str]:
    """The whole finding as lines of text, for formats that know nothing else."""
    shown = [f"{name:<5} {words}" for name, words in lines(finding)]
    if finding.setting:
        shown.append(f"ran   {finding.setting}")
    if finding.cause is not None:
        shown += [f"      {number}. {line}" for number, line in enumerate(finding.cause.witness, start=1)]
    shown += [f"then  {violation_words(each)}" for each in finding.consequences]
    return shown


def violation_words(violation: Violation) -> str:
    """The clause and the message, with how often."""
    times = f" (and {violation.times - 1} more)" if violation.times > 1 else ""
    return f"{violation.label}: {violation.message}{times}"


def scope(finding: Finding, journal: Journal) -> str:
    """How far it reaches: runs of the first cases, and further runs that were kept."""
    known = {f"{case.case} on {case.tier}": case for case in journal.cases}
    parts = []
    for name in finding.cases[:SHOWN_CASES]:
        case = known.get(name)
        if case is None or finding.status is not Status.FAIL:
            parts.append(name)
        else:
            parts.append(f"{count(case.runs_failed)} of {plural(runs_of(case), 'run')} of {name}")
    if len(finding.cases) > SHOWN_CASES:
        parts.append(plural(len(finding.cases) - SHOWN_CASES, "more case"))
    return "; ".join(parts)


def shared(numbered: Sequence[tuple[int, Finding]]) -> Iterator[str]:
    """What several findings have in common, so that they may be one defect: faults that they need, or the cause."""
    common: dict[str, list[int]] = {}
    for number, each in numbered:
        causes = [f"broke {each.cause.label} first"] if each.cause is not None else []
        for words in dict.fromkeys([*(f"need {need}" for need in each.needs), *causes]):
            common.setdefault(words, []).append(number)
    alike: dict[tuple[int, ...], list[str]] = {}
    for words, numbers in common.items():
        if len(numbers) > 1:
            alike.setdefault(tuple(numbers), []).append(words)
    for which, found in alike.items():
        *first, last = map(str, which)
        who = "all" if len(which) == len(numbered) else f"{', '.join(first)} and {last}"
        yield f"May be one defect: {who} {' and '.join(found)}."


def rules_of(finding: Finding, rules: Iterable[RuleResult]) -> Iterator[RuleResult]:
    """The rules that a finding refutes or keeps open."""
    return (each for each in rules if each.rule.id in finding.rules)
