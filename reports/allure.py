"""`allure-results/`: titles, rules, and the cases on each tier, in the Allure 2 format, ready for `allure generate`.

Written directly: the format is small and public, and going through the pytest adapter would tie the files to a clock
and to random names. Every name here is derived from the journal.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from holdfast.harness.model.certificate import Standing
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult, RunResult, Status
from holdfast.harness.model.rule import Level
from holdfast.harness.model.status import STATUS_WORDS
from holdfast.harness.model.verdict import Outcome
from holdfast.reports import exchange, text, timeline, view
from holdfast.reports.exchange import ListedTest, Shown
from holdfast.reports.files import replace_folder

STATUSES = {
    Shown.PASSED: "passed",
    Shown.FAILED: "failed",
    Shown.UNDECIDED: "broken",
    Shown.SKIPPED: "skipped",
}
STEP_STATUSES = {Outcome.PASS: "passed", Outcome.INCONCLUSIVE: "broken", Outcome.FAIL: "failed"}
CATEGORIES = (
    {"name": "Refuted", "matchedStatuses": ["failed"]},
    {"name": "Inconclusive", "matchedStatuses": ["broken"], "messageRegex": "(?s)INCONCLUSIVE.*"},
    {"name": "Harness errors", "matchedStatuses": ["broken"], "messageRegex": "(?s)ERROR.*"},
    {"name": "Shown by another test", "matchedStatuses": ["skipped"], "messageRegex": "(?s).*: same cause as .*"},
)
MOST_STEPS = 40
"""Runs shown as steps of one case, those in trouble first."""
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "holdfast:allure")


class AllureReporter:
    """The titles, the rules by area, and the cases by tier with their runs as steps and their witnesses attached."""

    name = "allure"
    shows = Journal
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
    for test in exchange.tests(journal):
        # The history follows a test of one system over many invocations; the result belongs to this one.
        identity = f"{journal.system}/{test.id}"
        unique = str(uuid.uuid5(_NAMESPACE, f"{identity}#{journal.started}#{journal.plans_digest}"))
        start = text.epoch_milliseconds(journal.started)
        attached: dict[str, str] = {}
        result: dict[str, Any] = {
            "uuid": unique,
            "historyId": hashlib.md5(_encode(identity), usedforsecurity=False).hexdigest(),
            "testCaseId": hashlib.md5(_encode(test.id), usedforsecurity=False).hexdigest(),
            "fullName": text.clean(test.id),
            "name": text.clean(test.name),
            "status": STATUSES[test.outcome],
            "statusDetails": _details(test),
            "stage": "finished",
            "steps": [],
            "attachments": [],
            "parameters": [
                {"name": "system", "value": text.clean(journal.system)},
                {"name": "profile", "value": text.clean(journal.profile)},
                # Of no weight for the history: every night draws from another seed.
                {"name": "seed", "value": str(journal.seed), "excluded": True},
            ],
            "links": [],
            "start": start,
            "stop": start + text.whole_number(test.wall_ms),
        }
        if isinstance(test.result, RuleResult):
            result |= _of_rule(journal, test, test.result)
        elif isinstance(test.result, Standing):
            result |= _of_title(journal, test, test.result)
        else:
            runs = listed.get((test.result.case, test.result.tier), [])
            result |= _of_case(journal, test, test.result, rules)
            result["parameters"].append({"name": "tier", "value": str(test.result.tier)})
            result["steps"] = _steps(test.result, runs, start, attached, unique, journal)
            result["stop"] = max([start, *(step["stop"] for step in result["steps"])])
        contents[f"{unique}-result.json"] = _json(result)
        contents.update(attached)
    return contents


def _of_title(journal: Journal, test: ListedTest, standing: Standing) -> dict[str, Any]:
    labels = [
        ("feature", "titles"),
        ("story", standing.name),
        ("parentSuite", "titles"),
        ("suite", "titles"),
        ("severity", "critical"),
        ("tag", standing.subject),
    ]
    return {
        "titlePath": ["holdfast", "titles"],
        "description": "\n\n".join(map(text.markdown, (standing.heading, *test.details))),
        "labels": _labels(journal, labels, ()),
    }


def _of_rule(journal: Journal, test: ListedTest, result: RuleResult) -> dict[str, Any]:
    area = f"{result.rule.area} {result.rule.title}"
    labels = [
        ("feature", area),
        ("story", result.rule.id),
        ("parentSuite", "rules"),
        ("suite", area),
        ("severity", "critical" if result.rule.level is Level.MUST else "normal"),
        ("tag", result.rule.id),
    ]
    return {
        "titlePath": ["holdfast", "rules", text.clean(area)],
        "description": "\n\n".join(map(text.markdown, (result.rule.text, *test.noted))),
        "labels": _labels(journal, labels, [result]),
    }


def _of_case(journal: Journal, test: ListedTest, case: CaseResult, rules: Mapping[str, RuleResult]) -> dict[str, Any]:
    area, _, what = case.case.partition("/")
    decided = [rules[name] for name in case.rules if name in rules]
    must = any(result.rule.level is Level.MUST for result in decided)
    labels = [
        ("feature", area),
        ("story", what or area),
        ("parentSuite", str(case.tier)),
        ("suite", area),
        ("severity", "critical" if must else "normal"),
        ("layer", str(case.tier)),
        *(("tag", rule) for rule in case.rules),
    ]
    return {
        "titlePath": ["holdfast", str(case.tier), text.clean(area)],
        "description": _description(test, case),
        "labels": _labels(journal, labels, decided),
    }


def _labels(journal: Journal, labels: Iterable[tuple[str, str]], decided: Iterable[RuleResult]) -> list[dict[str, str]]:
    ours = [("epic", journal.system), ("framework", "holdfast"), ("language", "python")]
    believed = [("tag", f"{result.rule.id} on its word") for result in decided if result.on_its_word]
    return [{"name": name, "value": text.clean(value)} for name, value in (*ours, *labels, *believed)]


def _description(test: ListedTest, case: CaseResult) -> str:
    counts = (
        f"{text.count(case.runs_passed)} passed, {text.count(case.runs_failed)} failed, "
        f"{text.count(case.runs_inconclusive)} inconclusive, of {text.plural(case.runs_demanded, 'run')} demanded."
    )
    decided = ", ".join(f"{rule} {STATUS_WORDS[status]}" for rule, status in case.rules.items())
    decided = text.markdown(decided)
    parts = (("Purpose", case.purpose), ("Method", case.method), ("Passes if", case.passes))
    lines = [f"**{name}.** {text.markdown(words)}" for name, words in parts]
    noted = [f"**Noted.** {text.markdown(line)}" for line in test.noted]
    return "\n\n".join([*lines, f"**Runs.** {counts}", f"**Decides.** {decided or 'no rule'}.", *noted])


def _details(test: ListedTest) -> dict[str, str]:
    if test.outcome is Shown.PASSED:
        return {}
    shown = {"message": text.clean(f"{test.result.status}: {test.message}")}
    trouble = test.outcome in (Shown.FAILED, Shown.UNDECIDED)
    return {**shown, "trace": text.clean("\n".join(test.details))} if trouble else shown


def _steps(
    case: CaseResult, runs: list[RunResult], start: int, attached: dict[str, str], prefix: str, journal: Journal
) -> list[dict[str, Any]]:
    rank = {Outcome.FAIL: 0, Outcome.INCONCLUSIVE: 1, Outcome.PASS: 2}
    steps: list[dict[str, Any]] = []
    for run in sorted(runs, key=lambda run: rank[run.outcome])[:MOST_STEPS]:
        steps.append(_step(case, run, start, attached, f"{prefix}-{len(steps)}", journal))
        start = steps[-1]["stop"]
    return steps


def _step(
    case: CaseResult, run: RunResult, start: int, attached: dict[str, str], prefix: str, journal: Journal
) -> dict[str, Any]:
    attachments = []
    # A case that passes although a run was refuted is a negative control: there, a refutation is the success.
    as_expected = run.outcome is Outcome.FAIL and case.status is Status.PASS
    if run.outcome is not Outcome.PASS:
        name = f"{prefix}-attachment.txt"
        attached[name] = text.clean("\n".join(exchange.of_run(run, journal))) + "\n"
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
        "stop": start + text.whole_number(run.wall_ms),
    }


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
