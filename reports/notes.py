"""What the oracles tell beside their anomalies: notes that refute nothing, and what an oracle could not decide; and who
reached in.

A note is shown once, however many runs have it: two notes of an oracle are alike if they differ in numbers alone up to
the first colon, behind which notes list what they found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from holdfast.harness.model.finding import in_words, oracle_in_words
from holdfast.harness.model.journal import CaseResult, Journal, RunResult, Status
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Outcome

CUT_SHORT = "interrupted by "
"""How the reason of a run begins that a signal ended."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Note:
    """What one oracle said.

    Attributes:
        undecided: it says what the oracle could not decide; otherwise something that is no failure.
        words: as the oracle put it in the first run.
        runs: ids of the kept runs with a note like this.
        title: of the oracle.
    """

    oracle: str
    undecided: bool
    words: str
    runs: tuple[str, ...]
    title: str = ""

    @property
    def label(self) -> str:
        """Who says it, and of which kind it is."""
        oracle = in_words(self.title, self.oracle)
        return f"{oracle} could not decide" if self.undecided else oracle

    @property
    def shown_in(self) -> str:
        """The first run in words, and how many more there are."""
        more = len(self.runs) - 1
        return f"run {self.runs[0]}{f' and {more} more' if more else ''}"


def of_run(run: RunResult, titles: Mapping[str, str]) -> tuple[Note, ...]:
    """The notes of one run, what was left undecided first, alike ones once, but for what its own reason says.

    Args:
        run: which.
        titles: of oracles, by their names.
    """
    alike: dict[tuple[str, bool, str], list[Note]] = {}
    for note in _said(run, titles):
        if f"{note.oracle}: {note.words}" != run.reason:
            alike.setdefault(_kind(note), []).append(note)
    merged = [_with_count(first, len(others)) for first, *others in alike.values()]
    return tuple(sorted((note for note in merged if not _is_said(note, merged)), key=lambda note: not note.undecided))


def _is_said(note: Note, others: Iterable[Note]) -> bool:
    """Whether an oracle could not decide for the reason that this note of it begins with."""
    return not note.undecided and any(
        other.undecided and other.oracle == note.oracle and note.words.startswith(other.words) for other in others
    )


def _with_count(note: Note, others: int) -> Note:
    more = f" ({others} more like it)" if others else ""
    return replace(note, words=f"{note.words}{more}")


def idle(run: RunResult, titles: Mapping[str, str]) -> tuple[str, ...]:
    """The oracles that had nothing to decide in a run, in words."""
    return tuple(
        oracle_in_words(titles, verdict.oracle)
        for verdict in run.verdicts
        if verdict.outcome is Outcome.INCONCLUSIVE and verdict.had_nothing_to_decide
    )


def notes(journal: Journal) -> tuple[Note, ...]:
    """The notes of all kept runs: what was left undecided first, and then of each oracle what most runs show, so that
    an oracle with many notes hides no other.

    Runs of findings are left out: their notes stand there, or are like those that do.
    Runs that were to be refuted are left out: what a wrong system did is nothing to notice. So are runs that did not
    come to their end: what is missing in them shows nothing.
    """
    passed = {(case.case, case.tier) for case in journal.cases if case.status is Status.PASS}
    left_out = {run for finding in journal.findings for run in (finding.run, *finding.runs)}
    still_open = {case for finding in journal.findings if finding.damage is None for case in finding.cases}
    noticed = (
        run
        for run in journal.runs
        if run.id not in left_out
        and not (run.outcome is Outcome.FAIL and (run.case, run.tier) in passed)
        and not (run.outcome is Outcome.INCONCLUSIVE and f"{run.case} on {run.tier}" in still_open)
        and not run.reason.startswith(CUT_SHORT)
    )
    return _merged(noticed, journal.oracle_titles)


def of_case(case: CaseResult, runs: Iterable[RunResult], titles: Mapping[str, str]) -> tuple[str, ...]:
    """The notes of the kept runs of one case, each as a line. Of a negative control there are none."""
    noticed = (run for run in runs if run.outcome is not Outcome.FAIL or case.status is not Status.PASS)
    return tuple(f"{note.label}: {note.words} ({note.shown_in})" for note in _merged(noticed, titles))


def _merged(runs: Iterable[RunResult], titles: Mapping[str, str]) -> tuple[Note, ...]:
    """The notes of these runs, those that are alike as one."""
    grouped: dict[tuple[str, bool, str], list[Note]] = {}
    for run in runs:
        for note in _said(run, titles):
            grouped.setdefault(_kind(note), []).append(note)
    merged = [replace(alike[0], runs=tuple(run for note in alike for run in note.runs)) for alike in grouped.values()]
    merged.sort(key=lambda note: (not note.undecided, -len(note.runs)))
    turn = Counter[tuple[str, bool]]()
    turns = {}
    for note in merged:
        turns[note] = turn[note.oracle, note.undecided]
        turn[note.oracle, note.undecided] += 1
    return tuple(sorted(merged, key=lambda note: (not note.undecided, turns[note])))


def _kind(note: Note) -> tuple[str, bool, str]:
    """What alike notes have in common."""
    return note.oracle, note.undecided, _NUMBER.sub("n", note.words.partition(":")[0])


def _said(run: RunResult, titles: Mapping[str, str]) -> Iterator[Note]:
    for verdict in run.verdicts:
        title = titles.get(verdict.oracle, "")
        if verdict.outcome is Outcome.INCONCLUSIVE and verdict.reason and not verdict.had_nothing_to_decide:
            yield Note(verdict.oracle, True, verdict.reason, (run.id,), title)
        for words in dict.fromkeys(verdict.information):
            yield Note(verdict.oracle, False, words, (run.id,), title)
    if run.refused_connections:
        words = f"{plural(run.refused_connections, 'connection')} from outside of the run: refused"
        yield Note("processes", False, words, (run.id,))
