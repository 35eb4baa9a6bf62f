"""`report.html`: the whole story in one file that needs no network, no server and no script to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, meta
from markupsafe import Markup

from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.case import MEANINGS, Tier
from holdfast.harness.model.finding import Finding, oracles_in_words
from holdfast.harness.model.journal import CaseResult, Journal, RunResult, Status
from holdfast.harness.model.picture import FailurePicture, Film
from holdfast.harness.model.rule import Level
from holdfast.harness.model.run_details import DETAILS_VERSION, RunDetails
from holdfast.harness.model.status import ON_ITS_WORD, STATUS_WORDS
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.outside_files import read_outside
from holdfast.reports import checkpoints, finding, notes, pages, recovery, strip, text, timeline, verdict, view
from holdfast.reports.files import write_file
from holdfast.reports.pictures import drawing, film
from holdfast.reports.svg import colour, element, group

STYLE_SHEETS = (
    *("report.css", "subjects.css", "timeline.css", "recovery.css", "checkpoints.css"),
    *("pictures.css", "failure.css"),
)
MOST_TIMELINES = 60
MOST_CHECKPOINT_HISTORIES = 20
MOST_FAILURES = 12
"""Pictures of the run around a violation, with the first findings: each has some tens of kB."""
MOST_IN_BRIEF = 3
"""Findings that are listed before the first one is shown: it must not be pushed off the first screen."""
MOST_RUNS_OF_A_CASE = 60
"""Enough to see a pattern; the rest is in `results.json`, and the page says how many it left out."""


class HtmlReporter:
    """One page for the morning after: what failed comes first, everything else can be found."""

    name = "html"
    shows = Journal
    writes = "report.html"

    def __init__(self) -> None:
        _environment()

    def render(self, journal: Journal, folder: Path) -> Path:
        return write_file(folder / self.writes, page(journal, read_details(folder, _drawn(journal))))


def page(journal: Journal, details: Mapping[str, RunDetails] | None = None) -> str:
    """The page as text.

    Args:
        journal: what happened.
        details: by run, what lies beside it.
    """
    details = details or {}
    style = Markup("\n" + "".join(map(pages.asset, STYLE_SHEETS)))
    script = Markup(f"\n{pages.asset('report.js')}")
    timelines = _timelines(journal)
    numbered = list(enumerate(journal.findings, start=1))
    recoveries = recovery.groups(journal)
    scale = strip.scale_of([row for group in recoveries for row in group])
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            journal=journal,
            certificate=journal.certificate,
            style=style,
            script=script,
            style_hash=pages.hash_of(style),
            script_hash=pages.hash_of(script),
            counts=view.status_counts(result.status for result in view.rules(journal)),
            areas=view.areas(journal),
            other_areas=view.other_areas(journal),
            other_count=len(view.other_rules(journal)),
            on_its_word=verdict.on_its_word(journal.certificate),
            shadowed=sum(bool(each.failed_cases) for each in view.rules(journal)),
            rule_count=len(view.rules(journal)),
            levels=view.levels(journal),
            refuted=[each for each in numbered if each[1].status is Status.FAIL],
            undecided=[each for each in numbered if each[1].status in view.UNDECIDED],
            most_in_brief=MOST_IN_BRIEF,
            waived=[each for each in numbered if each[1].status is Status.WAIVED],
            cases=view.cases_by_id(journal),
            groups=_groups(journal),
            runs={run.id: run for run in journal.runs},
            total_runs=view.total_runs(journal),
            pictures=timelines,
            details=details,
            reported=_with_checkpoints(details, timelines),
            with_failures=_with_failures(details, timelines),
            drawn_at=_drawn_at(numbered, timelines),
            finding_of={rule: number for number, each in reversed(numbered) for rule in each.rules},
            paste=finding.paste(each.next.line_in_report() for each in journal.findings if each.next is not None),
            nothing_stored=finding.NOTHING_STORED,
            evidence=_by_evidence(journal.evidence),
            sentence=verdict.sentence(journal),
            scope_sentence=verdict.scope_sentence(journal),
            title_meaning=verdict.TITLE_MEANINGS[journal.title],
            title_meanings=verdict.TITLE_MEANINGS,
            # Numbered: two odd ids can look alike once a link can name them.
            anchor_of={run.id: f"run-{index}-{text.slug(run.id)}" for index, run in enumerate(journal.runs)},
            guarantees=_guarantees(journal),
            noted=notes.notes(journal),
            recoveries=recoveries,
            refuted_recoveries=recovery.refuted(journal),
            scale=scale,
        )
    )


def _load(made: Environment, name: str) -> None:
    """Compile a template and those that it refers to: that takes as long as rendering them."""
    made.get_template(name)
    for each in meta.find_referenced_templates(made.parse(pages.asset(name))):
        assert each is not None, f"{name} computes the name of a template"
        _load(made, each)


def _oracles(clauses: Iterable[str], titles: Mapping[str, str]) -> tuple[str, ...]:
    """The oracles of names or of `ORACLE/clause`, each once, in words."""
    return oracles_in_words(titles, clauses)


@cache
def _environment() -> Environment:
    environment = pages.environment()
    environment.filters.update(
        percent=text.percent,
        slug=text.slug,
        subject=text.subject_words,
        short_name=text.short_name,
        beginning=text.beginning,
        colour=colour,
        faults_in_words=timeline.faults_in_words,
        in_words=timeline.in_words,
        aborts=timeline.aborts_in_words,
        strip=strip.strip,
        grid=strip.grid,
        axis=strip.axis,
        size=text.size,
        checkpoints_in_words=checkpoints.in_words,
        checkpoint_figures=checkpoints.figures,
        checkpoint_plot=checkpoints.plot,
        checkpoint_rows=checkpoints.rows,
        latest_checkpoints=checkpoints.latest,
        checkpoint_class=checkpoints.status_class,
        checkpoint_mark=checkpoints.status_mark,
        acknowledged=checkpoints.acknowledged,
        phase_strip=checkpoints.strip,
        notes=notes.of_run,
        idle=notes.idle,
        oracles=_oracles,
        rules_of=finding.rules_of,
        seen=finding.seen,
        shared=finding.shared,
        window_title=_window_title,
        scope=finding.scope,
        inline_picture=drawing.inline,
        scene=film.scene,
    )
    environment.tests["failure"] = lambda picture: isinstance(picture, FailurePicture)
    environment.tests["film"] = lambda picture: isinstance(picture, Film)
    environment.globals.update(
        on_reports_alone=ON_ITS_WORD,
        words=STATUS_WORDS,
        marks=text.STATUS_MARKS,
        meanings=text.STATUS_MEANINGS,
        decidability=text.DECIDABILITY_WORDS,
        level_meanings=text.LEVEL_MEANINGS,
        Status=Status,
        Outcome=Outcome,
        Level=Level,
        Tier=Tier,
        bar=_bar,
        phase_names=checkpoints.PHASES,
        film_legend=film.legend,
    )
    _load(environment, "report.html.j2")
    return environment


def _window_title(window: str) -> Markup:
    """The attribute that says when a run hits a window that has a name of its own."""
    meaning = {each.value: words for each, words in MEANINGS.items()}.get(window)
    return Markup(' title="{}"').format(meaning) if meaning else Markup("")


def _bar(counts: Mapping[Status, int], label: str) -> Markup:
    """Shares of statuses as one bar, best first: drawn as SVG because the page's policy forbids style attributes."""
    total = sum(counts.values()) or 1
    drawn: list[Markup] = []
    left = 0.0
    for status in Status:
        if counts.get(status):
            share = counts[status] / total * 100
            title = element("title", f"{counts[status]:,} {STATUS_WORDS[status]}")
            shape = {"x": f"{left:.4g}%", "width": f"{share:.4g}%", "height": "100%"}
            drawn.append(element("rect", title, class_=f"fill-{status.value.lower()}", **shape))
            left += share
    words = text.statuses_in_words(counts)
    return element("svg", group(drawn), class_="bar", role="img", aria_label=f"{label}: {words or 'none'}")


def _drawn(journal: Journal) -> list[RunResult]:
    """The runs that get a timeline: those of the findings, then failed runs before others."""
    explained = {each.run: number for number, each in enumerate(journal.findings)}
    rank = {Outcome.FAIL: 0, Outcome.INCONCLUSIVE: 1, Outcome.PASS: 2}
    held = [run for run in journal.runs if run.timeline is not None and run.timeline.lanes]
    held.sort(key=lambda run: (explained.get(run.id, len(explained)), rank[run.outcome]))
    return held[:MOST_TIMELINES]


def _timelines(journal: Journal) -> dict[str, Markup]:
    """Timelines by run, each with a mark where the first clause was broken."""
    return {
        run.id: timeline.draw(
            run.timeline,
            f"Timeline of run {run.id}",
            broken_ms=run.finding.at_ms if run.finding is not None else None,
        )
        for run in _drawn(journal)
        if run.timeline is not None
    }


def _with_checkpoints(details: Mapping[str, RunDetails], timelines: Mapping[str, Markup]) -> frozenset[str]:
    """Runs below whose timeline stand the checkpoints as the system reports them."""
    reported = {name for name, each in details.items() if each.checkpoint_history is not None}
    return frozenset([name for name in timelines if name in reported][:MOST_CHECKPOINT_HISTORIES])


def _with_failures(details: Mapping[str, RunDetails], timelines: Mapping[str, Markup]) -> frozenset[str]:
    """Runs that are shown around their violation."""
    drawn = {
        name for name, each in details.items() if any(isinstance(picture, FailurePicture) for picture in each.pictures)
    }
    return frozenset([name for name in timelines if name in drawn][:MOST_FAILURES])


def _drawn_at(numbered: Iterable[tuple[int, Finding]], timelines: Mapping[str, Markup]) -> dict[str, int]:
    """Where each timeline stands: with the first finding that it explains, once; the others link to it."""
    places: dict[str, int] = {}
    for number, each in numbered:
        if each.run in timelines:
            places.setdefault(each.run, number)
    return places


def _groups(journal: Journal) -> list[dict[str, Any]]:
    """The cases with the runs that are listed for them, those in trouble first."""
    listed = view.listed_runs(journal)
    rank = {Outcome.FAIL: 0, Outcome.INCONCLUSIVE: 1, Outcome.PASS: 2}
    known = {(case.case, case.tier) for case in journal.cases}
    groups: list[dict[str, Any]] = []
    for case in sorted(journal.cases, key=lambda case: case.status not in view.TROUBLE):
        held = sorted(listed.get((case.case, case.tier), []), key=lambda run: rank[run.outcome])
        groups.append(_group(case, case.case, case.tier, held))
    # A journal may keep a run whose case it does not list (a replay, say); it is shown all the same.
    for (name, tier), held in listed.items():
        if (name, tier) not in known:
            groups.append(_group(None, name, tier, held))
    return groups


def _group(case: CaseResult | None, name: str, tier: Tier, held: list[RunResult]) -> dict[str, Any]:
    return {
        "case": case,
        "name": name,
        "tier": tier,
        "total": view.runs_of(case) if case else len(held),
        "runs": held[:MOST_RUNS_OF_A_CASE],
        "left_out": max(len(held) - MOST_RUNS_OF_A_CASE, 0),
    }


def _guarantees(journal: Journal) -> list[tuple[str, str, str]]:
    """Each guarantee as (how it stands, words, run): a run that is named at the end of the sentence gets a link."""
    known = {run.id for run in journal.runs}
    shown = []
    for sentence in journal.certificate.guarantees:
        stands = "upheld" if "not refuted" in sentence else "broken" if "refuted" in sentence else "open"
        words, _, last = sentence.rpartition(" ")
        shown.append((stands, f"{words} ", last) if last in known else (stands, sentence, ""))
    return shown


def _by_evidence(evidence: Mapping[str, str]) -> dict[str, list[str]]:
    """Event kinds by how the system under test supplies them, strongest first."""
    order = {each.value: rank for rank, each in enumerate(Evidence)}
    grouped: dict[str, list[str]] = {}
    for kind, how in sorted(evidence.items(), key=lambda item: (order.get(item[1], len(order)), item)):
        grouped.setdefault(how, []).append(kind)
    return grouped


def read_details(folder: Path, runs: Iterable[RunResult]) -> dict[str, RunDetails]:
    """The details of runs, by id. Of a file that is not there, or cannot be read, a report shows nothing.

    Args:
        folder: of the report.
        runs: those that are shown.
    """
    found = {}
    for run in runs:
        path = folder / run.details
        # Only what lies below the report belongs to it.
        if run.details and path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            with suppress(OSError, ValueError, msgspec.MsgspecError, RecursionError):
                details = msgspec.json.decode(read_outside(path), type=RunDetails)
                if details.version <= DETAILS_VERSION:
                    found[run.id] = details
    return found
