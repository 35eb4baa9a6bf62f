"""CONFIG: in force for a job is what its program, its cluster and its profile say (RULES CFG, RST-07, E2E-01)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from holdfast.harness.model.capability import guarantee_name
from holdfast.harness.model.configuration import NoteKind
from holdfast.harness.model.events import Event, JobConfigured
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.configuration.configuration_model import (
    ConfigurationModel,
    expected_max_parallelism,
    keepable,
)
from holdfast.harness.oracles.findings import Findings


class ConfigOracle:
    """Compares what the system under test reports with its own table of options."""

    name = "CONFIG"
    title = "effective options"
    invariant = "Code, file and profile set the options, in this order; what is overridden or cannot act is reported."
    clauses: Mapping[str, str] = {
        "value-wrong": "an option has another value than code, file and profile give it",
        "origin-wrong": "the reported origin of an option is wrong",
        "warning-wrong": "something is overridden without a warning, or a warning has no ground",
        "lint-wrong": "something that cannot act is not pointed out, or what can act is",
        "max-parallelism-wrong": "a job has other key groups than its plan says, or than the default formula",
        "claimed-too-much": "more is claimed than sources, state and sinks can keep together",
    }
    evidence: tuple[type[Event], ...] = (JobConfigured,)

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        reported = history.of(JobConfigured)
        if not reported:
            return findings.verdict(history)
        _judge_claims(history, reported[0], findings)
        try:
            model = ConfigurationModel(history.plan)
        except ValueError:  # It should have been refused, and LOUD says so.
            return findings.verdict(history)
        for event in reported:
            _judge_settings(event, model, findings)
            _judge_notes(event, model, NoteKind.WARNING, "warning-wrong", findings)
            _judge_notes(event, model, NoteKind.LINT, "lint-wrong", findings)
            _judge_max_parallelism(event, history, findings)
        return findings.verdict(history)


def _judge_settings(event: JobConfigured, model: ConfigurationModel, findings: Findings) -> None:
    reported = {setting.key: setting for setting in event.configuration.settings}
    right = []
    findings.check("value-wrong")
    for key, expected in model.settings.items():
        setting = reported.get(key)
        if setting is None or setting.value != expected.value:
            found = f"is {_shown(setting.value)}" if setting else "is not reported"
            findings.violated("value-wrong", f"{key} {found}, it must be {_shown(expected.value)}", event)
        else:
            right.append((setting, expected))
    if right:
        findings.check("origin-wrong")
    for setting, expected in right:
        if setting.origin is not expected.origin:
            origin = f"reported as of {setting.origin}, it is of {expected.origin}"
            findings.violated("origin-wrong", f"{setting.key} = {_shown(setting.value)} is {origin}", event)


def _shown(value: object) -> str:
    """A value as a user writes it."""
    return repr(value.value if isinstance(value, Enum) else value)


def _judge_notes(
    event: JobConfigured, model: ConfigurationModel, kind: NoteKind, clause: str, findings: Findings
) -> None:
    reported = {note.name for note in event.configuration.notes if note.kind is kind}
    expected = {name for each, name in model.notes if each is kind}
    findings.check(clause)
    for name in sorted(expected - reported):
        findings.violated(clause, f"no {kind} reports {name}", event)
    for name in sorted(reported - expected):
        findings.violated(clause, f"a {kind} reports {name}, which is wrong", event)


def _judge_max_parallelism(event: JobConfigured, history: History, findings: Findings) -> None:
    """Compare the max parallelism that is reported when the first job is accepted; 0: the system reports none."""
    found = event.configuration.max_parallelism
    if history.plan.expected_end is not ExpectedEnd.ACCEPTED or not found:
        return
    findings.check("max-parallelism-wrong")
    expected = expected_max_parallelism(history.plan.topology)
    if found != expected:
        findings.violated("max-parallelism-wrong", f"the max parallelism is {found}, it must be {expected}", event)


def _judge_claims(history: History, configured: JobConfigured, findings: Findings) -> None:
    """A claim is there from when the job is: whatever it does not keep breaks later."""
    most = keepable(history.plan)
    findings.check("claimed-too-much")
    for what, claimed, kept in (
        ("state", history.claims.state, most.state),
        ("output", history.claims.output, most.output),
    ):
        if not claimed <= kept:
            message = f"{guarantee_name(claimed)} is claimed for {what}, at most {guarantee_name(kept)} can be kept"
            findings.violated("claimed-too-much", message, seen=configured)
