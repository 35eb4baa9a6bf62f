"""SAMPLES: what samples of the source documents come to, and the defaults of both profiles (CFG-04, CFG-09)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.configuration import Call, ConfigurationFile, Origin, Setting
from holdfast.harness.model.events import Event, JobConfigured
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.suites.conformance.samples import Sample, defaults, samples

PROFILE, FLINK_1_14, FLINK_2 = "holdfast.profile", "flink-1.14", "flink-2.x"
_OF: Mapping[tuple[tuple[Call, ...], ConfigurationFile | None], Sample] = {
    (sample.program, sample.cluster): sample for sample in samples()
}


class SampleOracle:
    """Compares the effective configuration with golden figures."""

    name = "SAMPLES"
    title = "samples of the source documents"
    invariant = "Every sample of the source documents gives its golden figures, and every default is the listed one."
    clauses: Mapping[str, str] = {
        "default-differs": "the default of an option is not that of the list",
        "sample-differs": "an option of a sample is not what its golden figures say",
        "sample-notes-differ": "a sample is linted or warned of otherwise than its golden figures say",
    }
    evidence: tuple[type[Event], ...] = (JobConfigured,)

    def applies(self, history: History) -> bool:
        return history.plan.options.keys() <= {PROFILE} and _subject(history.plan) is not None

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        subject = _subject(history.plan)
        for event in history.of(JobConfigured):
            reported = {setting.key: setting for setting in event.configuration.settings}
            if isinstance(subject, Sample):
                _judge_sample(reported, subject, event, findings)
            elif subject is not None:
                _judge_defaults(reported, subject, event, findings)
        return findings.verdict(history)


def _subject(plan: Plan) -> Sample | Mapping[str, str] | None:
    """The sample that a plan submits, or the list of defaults that it asks for."""
    profile = plan.options.get(PROFILE, FLINK_2)
    if not plan.calls and plan.configuration_file is None:
        return defaults(profile)
    return _OF.get((plan.calls, plan.configuration_file)) if profile == FLINK_1_14 else None


def _judge_defaults(
    reported: Mapping[str, Setting], listed: Mapping[str, str], event: JobConfigured, findings: Findings
) -> None:
    for key, value in listed.items():
        findings.check("default-differs")
        if key not in reported or reported[key].value != value:
            found = reported[key].value if key in reported else "not reported"
            findings.violated("default-differs", f"{key} is {found}, the list has {value}", event)


def _judge_sample(reported: Mapping[str, Setting], sample: Sample, event: JobConfigured, findings: Findings) -> None:
    given = {key: each.value for key, each in reported.items() if each.origin is not Origin.DEFAULT and key != PROFILE}
    findings.check("sample-differs")
    for key in sorted(given.keys() | sample.settings.keys()):
        found, golden = given.get(key, "the default"), sample.settings.get(key, "the default")
        if found != golden:
            findings.violated("sample-differs", f"{sample.name}: {key} is {found}, golden is {golden}", event)
    findings.check("sample-notes-differ")
    said = sorted(f"{note.kind} {note.name}" for note in event.configuration.notes)
    if said != sorted(sample.notes):
        message = (
            f"{sample.name}: {', '.join(said) or 'nothing'} is noted, golden is {', '.join(sample.notes) or 'nothing'}"
        )
        findings.violated("sample-notes-differ", message, event)


ORACLES = (SampleOracle(),)
"""Registered under `holdfast.oracles`."""
