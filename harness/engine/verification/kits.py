"""What kits found of parts, computed again from the results of their checks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.harness.engine.certification.kit_journal import kit_journal
from holdfast.harness.engine.certification.subjects import JudgedPart, subject_reports
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.verification.sent import SentCertificate
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.model.journal import Journal, PartReport, Title
from holdfast.harness.model.plural import plural
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.system import Part

_NOT_CHOSEN = "none of its checks was chosen"


def compare_kit(name: str, stated: Journal, checks: Sequence[KitCheck], statements: Statements) -> None:
    """The certificate of one part with what the results of its checks add up to.

    Args:
        name: of the part, as a sentence begins.
        stated: the certificate.
        checks: from the results as they ended.
    """
    found = kit_journal(
        checks,
        command=stated.command,
        factory=stated.system,
        subject=stated.subject,
        started=stated.started,
        duration_s=stated.duration_s,
        seed=stated.seed,
        interrupted=stated.interrupted,
        left_out=frozenset(each.rule.id for each in stated.rules if each.reason == _NOT_CHOSEN),
    )
    agree = [
        statements.compare(f"the title of {name}", stated.certificate.heading, found.certificate.heading),
        statements.compare(f"what is missing of {name}", stated.certificate.missing, found.certificate.missing),
        statements.compare(f"the digest of {name}", stated.history_digest, found.history_digest),
        statements.compare(
            f"the statuses of checks of {name}",
            {each.case: each.status for each in stated.cases},
            {each.case: each.status for each in found.cases},
        ),
        statements.compare(
            f"the statuses of rules of {name}",
            {each.rule.id: each.status for each in stated.rules},
            {each.rule.id: each.status for each in found.rules},
        ),
    ]
    if all(agree):
        statements.confirm(f"{name}: {found.certificate.heading} follows from {plural(len(checks), 'check')}")


def compare_parts(sent: SentCertificate, statements: Statements) -> None:
    """The titles of the parts of a system, and of all parts of a kind together."""
    journal = sent.journal
    judged = [_judged(part, sent, statements) for subject in journal.subjects for part in subject.parts]
    if not judged:
        return
    for stated, found in zip(journal.subjects, subject_reports(journal, judged), strict=False):
        statements.compare(f"the title of subject {stated.subject}", stated.heading, found.heading)
        statements.compare(f"what is missing of subject {stated.subject}", stated.missing, found.missing)
    statements.believe("what the checks of kits found: certify the part to see it")


def _judged(part: PartReport, sent: SentCertificate, statements: Statements) -> JudgedPart:
    made_of = Part(part.contract, part.factory)
    if not part.report:
        reason = part.missing[0].rstrip(".") if part.missing else ""
        return JudgedPart(made_of, None, reason, broken=part.title is Title.INCONCLUSIVE and not part.checks)
    name = f"{part.contract} {part.factory}"
    try:
        journal = sent.part(part.report)
    except UsageError as error:
        statements.contradict(str(error).rstrip("."))
        return JudgedPart(made_of, None, str(error))
    checks = next((found for kit, found in sent.checks.items() if kit == name or kit.startswith(f"{name} ")), None)
    if checks is None:
        statements.leave_open(f"{name} was not recomputed: the results of its checks are not there")
    else:
        compare_kit(name, journal, checks, statements)
    statements.compare(f"the title of {name}", part.heading, journal.certificate.heading)
    return JudgedPart(made_of, journal, report=str(Path(part.report)))
