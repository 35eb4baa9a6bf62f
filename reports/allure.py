"""`allure-results/`: one result for each case on each tier, in the Allure 2 format, ready for `allure generate`.

Written directly: the format is small and public, and going through the pytest adapter would tie the files to a clock
and to random names. Every name here is derived from the journal.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.model.appearance import STATUS_WORDS
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult, RunResult, Status
from holdfast.harness.model.oracle_title import clause_in_words
from holdfast.harness.model.rule import Level
from holdfast.harness.model.verdict import Outcome
from holdfast.reports import finding, notes, text, timeline, view
from holdfast.reports.files import replace_folder

STATUSES = {
    Status.PASS: "passed",
    Status.FAIL: "failed",
    Status.ERROR: "broken",
    Status.INCONCLUSIVE: "broken",
    Status.WAIVED: "skipped",
    Status.UNTESTED: "skipped",
    Status.UNOBSERVED: "skipped",
    Status.NOT_APPLICABLE: "skipped",
}
STEP_STATUSES = {Outcome.PASS: "passed", Outcome.INCONCLUSIVE: "broken", Outcome.FAIL: "failed"}
CATEGORIES = (
    {"name": "Refuted", "matchedStatuses": ["failed"]},
    {"name": "Inconclusive", "matchedStatuses": ["broken"], "messageRegex": "(?s)INCONCLUSIVE.*"},
    {"name": "Harness errors", "matchedStatuses": ["broken"], "messageRegex": "(?s)ERROR.*"},
)
MOST_STEPS = 40
"""Runs shown as steps of one case, those in trouble first."""
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "holdfast:allure")


class AllureReporter:
    """The cases by area, with their runs as steps and their witnesses attached."""

    name = "allure"
    writes = "allure-results"

    def render(self, journal: Journal, folder: Path) -> Path:
        """Replace `allure-results/` as a whole: a result of an earlier invocation must not count for this one."""
        return replace_folder(folder / self.writes, _contents(journal))


def _contents(journal: Journal) -> dict[str, str]:
    listed = view.listed_runs(journal)
    rules = {result.rule.id: result for result in journal.rules}
    contents = {
        "categories.json": _json(CATEGORIES),
        "environment.properties": _properties(journal),
        "executor.json": _json({"name": "holdfast", "type": "holdfast", "reportName": f"Holdfast: {journal.system}"}),
    }
    for case in journal.cases:
        attached: dict[str, str] = {}
        result = _result(journal, case, listed.get((case.case, case.tier), []), rules, attached)
        contents[f"{result['uuid']}-result.json"] = _json(result)
        contents.update(attached)
    return contents


def _result(
    journal: Journal,
    case: CaseResult,
    runs: list[RunResult],
    rules: dict[str, RuleResult],
    attached: dict[str, str],
) -> dict[str, Any]:
    # The history follows a case of one system over many invocations; the result belongs to this one.
    identity = f"{journal.system}/{case.case}@{case.tier}"
    unique = str(uuid.uuid5(_NAMESPACE, f"{identity}#{journal.started}#{journal.plans_digest}"))
    rank = {Outcome.FAIL: 0, Outcome.INCONCLUSIVE: 1, Outcome.PASS: 2}
    start = text.epoch_milliseconds(journal.started)
    steps: list[dict[str, Any]] = []
    clock = start
    for run in sorted(runs, key=lambda run: rank[run.outcome])[:MOST_STEPS]:
        steps.append(_step(case, run, clock, attached, f"{unique}-{len(steps)}", journal.oracle_titles))
        clock = steps[-1]["stop"]
    return {
        "uuid": unique,
        "historyId": hashlib.md5(_encode(identity), usedforsecurity=False).hexdigest(),
        "testCaseId": hashlib.md5(_encode(case.case), usedforsecurity=False).hexdigest(),
        "fullName": text.clean(f"{case.case}@{case.tier}"),
        "name": text.clean(case.case),
        "titlePath": ["holdfast", str(case.tier), text.clean(case.case.partition("/")[0])],
        "status": STATUSES[case.status],
        "statusDetails": _details(case, runs, journal.oracle_titles),
        "stage": "finished",
        "description": _description(case, runs, journal.oracle_titles),
        "steps": steps,
        "attachments": [],
        "parameters": [
            {"name": "tier", "value": str(case.tier)},
            {"name": "system", "value": text.clean(journal.system)},
            {"name": "profile", "value": text.clean(journal.profile)},
            # Of no weight for the history: every night draws from another seed.
            {"name": "seed", "value": str(journal.seed), "excluded": True},
        ],
        "labels": list(_labels(journal, case, rules)),
        "links": [],
        "start": start,
        "stop": clock,
    }


def _labels(journal: Journal, case: CaseResult, rules: dict[str, RuleResult]) -> Iterator[dict[str, str]]:
    area, _, what = case.case.partition("/")
    decided = [rules[name] for name in case.rules if name in rules]
    must = any(result.rule.level is Level.MUST for result in decided)
    for name, value in (
        ("epic", journal.system),
        ("feature", area),
        ("story", what or area),
        ("parentSuite", str(case.tier)),
        ("suite", area),
        ("severity", "critical" if must else "normal"),
        ("layer", str(case.tier)),
        ("framework", "holdfast"),
        ("language", "python"),
        *(("tag", rule) for rule in case.rules),
        *(("tag", f"{result.rule.id} on its word") for result in decided if result.on_its_word),
    ):
        yield {"name": name, "value": text.clean(value)}


def _description(case: CaseResult, runs: list[RunResult], titles: Mapping[str, str]) -> str:
    counts = (
        f"{text.count(case.runs_passed)} passed, {text.count(case.runs_failed)} failed, "
        f"{text.count(case.runs_inconclusive)} inconclusive, of {text.plural(case.runs_demanded, 'run')} demanded."
    )
    decided = ", ".join(f"{rule} {STATUS_WORDS[status]}" for rule, status in case.rules.items())
    decided = text.markdown(decided)
    parts = (("Purpose", case.purpose), ("Method", case.method), ("Passes if", case.passes))
    lines = [f"**{name}.** {text.markdown(words)}" for name, words in parts]
    noted = [f"**Noted.** {text.markdown(line)}" for line in notes.of_case(case, runs, titles)]
    return "\n\n".join([*lines, f"**Runs.** {counts}", f"**Decides.** {decided or 'no rule'}.", *noted])


def _details(case: CaseResult, runs: list[RunResult], titles: Mapping[str, str]) -> dict[str, str]:
    if case.status is Status.PASS:
        return {}
    shown = [
        _witness(run, titles)
        for run in runs
        if case.status in view.TROUBLE and (run.reason or any(view.anomalies(run)))
    ]  # fmt: skip
    reason = case.reason or text.STATUS_MEANINGS[case.status]
    return {"message": text.clean(f"{case.status}: {reason}"), "trace": "\n\n".join(shown[:5])}


def _step(
    case: CaseResult,
    run: RunResult,
    start: int,
    attached: dict[str, str],
    prefix: str,
    titles: Mapping[str, str],
) -> dict[str, Any]:
    attachments = []
    # A case that passes although a run was refuted is a negative control: there, a refutation is the success.
    as_expected = run.outcome is Outcome.FAIL and case.status is Status.PASS
    if run.outcome is not Outcome.PASS:
        name = f"{prefix}-attachment.txt"
        attached[name] = _witness(run, titles) + "\n"
        attachments.append({"name": "witness and replay line", "source": name, "type": "text/plain"})
    if run.timeline is not None:
        name = f"{prefix}-attachment.svg"
        attached[name] = timeline.standalone(
            run.timeline,
            f"Timeline of run {run.id}",
            broken_ms=run.finding.at_ms if run.finding is not None else None,
        )
        attachments.append({"name": "timeline", "source": name, "type": "image/svg+xml"})
    return {
        "name": text.clean(run.id) + (" (refuted, as expected)" if as_expected else ""),
        "status": "passed" if as_expected else STEP_STATUSES[run.outcome],
        "statusDetails": {"message": text.clean(run.reason)} if run.reason else {},
        "stage": "finished",
        "steps": [],
        "attachments": attachments,
        "parameters": [
            {"name": "plan", "value": text.clean(run.plan_text)},
            {"name": "seed", "value": str(run.run_seed)},
            {"name": "replay", "value": text.clean(run.replay)},
        ],
        "start": start,
        "stop": start + text.whole(run.wall_ms),
    }


def _witness(run: RunResult, titles: Mapping[str, str]) -> str:
    lines = [f"Run {run.id}: {run.plan_text}"]
    if run.finding is not None:
        lines += ["", *finding.in_text(run.finding)]
        return text.clean("\n".join(lines))
    if run.reason:
        lines.append(run.reason)
    for verdict, anomaly in view.anomalies(run):
        lines += ["", f"{clause_in_words(titles, verdict.oracle, anomaly.clause)}: {anomaly.message}"]
        lines += [f"  {number}. {line}" for number, line in enumerate(anomaly.witness, start=1)]
    return text.clean("\n".join([*lines, "", f"Replay: {run.replay}"]))


def _properties(journal: Journal) -> str:
    """In the escapes of Java's properties: `:`, `=` and blanks end a key, and a line break would forge another."""
    values = {
        "system": journal.system,
        "title": journal.heading,
        "claims": journal.claims,
        "profile": journal.profile,
        "seed": str(journal.seed),
        **journal.versions,
    }
    keys = {
        name: "".join(f"\\{each}" if each in "\\:= #!" else each for each in text.one_line(name)) for name in values
    }
    return "".join(
        f"{keys[name]}={text.one_line(value).replace(chr(92), chr(92) * 2)}\n" for name, value in values.items()
    )


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def _encode(identity: str) -> bytes:
    return identity.encode("utf-8", "backslashreplace")
