"""What kits found of parts, computed again from the results of their checks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from holdfast.harness.engine.certification.kit_journal import floor_of, kit_journal
from holdfast.harness.engine.certification.subjects import JudgedPart, parts_of, subject_reports
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.verification.chosen_parts import compare_choice_of_parts, rules_left_out
from holdfast.harness.engine.verification.sent import SentCertificate
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.model.journal import Journal, PartReport, Status, Title
from holdfast.harness.model.plural import plural
from holdfast.harness.model.title import Scope
from holdfast.harness.spi.kit import KitCheck, TriesUnderFaults
from holdfast.harness.spi.system import Part, System

_OF_THE_SENDER = ("command", "started", "duration_s", "versions", "seed", "usage")
"""Fields of a certificate that follow from no check."""


def compare_kit(name: str, kit: str, stated: Journal, checks: Sequence[KitCheck], statements: Statements) -> None:
    """The certificate of one part with what the results of its checks add up to.

    Args:
        name: of the part, as a sentence begins.
        kit: contract, factory and location of what was checked, as the results of checks name it.
        stated: the certificate.
        checks: from the results as they ended.
    """
    left_out = rules_left_out(stated)
    found = kit_journal(
        checks,
        command=stated.command,
        factory=stated.system,
        subject=stated.subject,
        started=stated.started,
        duration_s=stated.duration_s,
        seed=stated.seed,
        interrupted=stated.interrupted,
        left_out=left_out,
        floor=floor_of(registry.kit(kit.partition(" ")[0])),
    )
    found = msgspec.structs.replace(found, **{field: getattr(stated, field) for field in _OF_THE_SENDER})
    # What repeats a finding names options, and where the report was made: both are the sender's.
    bare = tuple(msgspec.structs.replace(each, next=None) for each in stated.findings)
    stated = msgspec.structs.replace(stated, findings=bare)
    agree = [
        _compare_part(name, kit, stated, statements),
        _compare_choice(name, kit, stated, checks, left_out, statements),
        statements.compare(f"the title of {name}", stated.certificate.heading, found.certificate.heading),
        *(
            statements.compare_all(f"{field} of {name}", getattr(stated, field), getattr(found, field))
            for field in stated.__struct_fields__
        ),
    ]
    if all(agree):
        statements.confirm(f"{name}: {found.certificate.heading} follows from {plural(len(checks), 'check')}")
    if untried := sum(each.status is Status.NOT_APPLICABLE for each in checks):
        statements.believe(
            f"that {untried} of {plural(len(checks), 'check')} of {name} do not apply to what it declares"
        )
    statements.believe(f"commands, versions, times and seed of {name}")


def _compare_part(name: str, kit: str, stated: Journal, statements: Statements) -> bool:
    """What was checked is what is certified."""
    contract, _, checked = kit.partition(" ")
    if checked != stated.system and not checked.startswith(f"{stated.system} "):
        return statements.compare(f"the part of {name}", stated.system, checked)
    return statements.compare(f"the subject of {name}", stated.subject, registry.kit(contract).subject)


def _compare_choice(
    name: str, kit: str, stated: Journal, checks: Sequence[KitCheck], left_out: frozenset[str], statements: Statements
) -> bool:
    """All checks are the kit's, and every one that decides a rule that was chosen is there, unless it ended early."""
    here = {each.id for each in checks}
    known = registry.kit(kit.partition(" ")[0])
    under_faults = known.checks_under_faults if isinstance(known, TriesUnderFaults) else ()
    strange = here - {each.id for each in (*known.checks, *under_faults)}
    if strange:
        return statements.compare(f"which checks of {name} its kit does not have", tuple(sorted(strange)), ())
    if stated.interrupted or here.isdisjoint(each.id for each in known.checks):
        return True
    missing = [each.id for each in known.checks if each.own_rule not in left_out and each.id not in here]
    return statements.compare(f"which checks of {name} are left out", (), tuple(missing))


def compare_parts(sent: SentCertificate, system: System | None, statements: Statements) -> None:
    """The titles of the parts of a system, and of all parts of a kind together.

    Args:
        sent: the certificate.
        system: None: it is not known here.
        statements: what is found.
    """
    journal = sent.journal
    parts = [part for subject in journal.subjects for part in subject.parts]
    if system is not None:
        _compare_listed(journal, parts, parts_of(system), statements)
    names = [f"{part.contract} {part.factory}" for part in parts]
    for kit in sent.checks:
        if not any(kit == name or kit.startswith(f"{name} ") for name in names):
            statements.contradict(f"{kit} was checked, and the certificate does not list it")
    judged = [_judged(part, sent, statements) for part in parts]
    compare_choice_of_parts(journal, judged, () if system is None else parts_of(system), statements)
    found = {each.subject: each for each in subject_reports(journal, judged)}
    statements.compare("which subjects are listed", tuple(each.subject for each in journal.subjects), tuple(found))
    for stated in (each for each in journal.subjects if each.subject in found):
        again = found[stated.subject]
        if statements.compare(f"the title of subject {stated.subject}", stated.heading, again.heading):
            statements.compare_all(f"subject {stated.subject}", stated, again)
    if judged:
        statements.believe("what the checks of kits found: certify the part to see it")


def _compare_listed(
    journal: Journal, listed: Sequence[PartReport], here: Sequence[Part], statements: Statements
) -> None:
    """No part is left out; of a narrowed certificate, none of a contract of which another one is listed."""
    if journal.certificate.scope is Scope.NARROWED:
        chosen = {each.contract for each in listed}
        here = [each for each in here if each.contract in chosen]
    stated = {f"{each.contract} {each.factory}" for each in listed}
    found = {f"{each.contract} {each.factory}" for each in here}
    statements.compare("which parts are left out", [], sorted(found - stated))
    statements.compare("which parts are listed that the system does not have", sorted(stated - found), [])


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
    kit = next((kit for kit in sent.checks if kit == name or kit.startswith(f"{name} ")), None)
    if kit is None:
        statements.leave_open(f"{name} was not recomputed: the results of its checks are not there")
    else:
        compare_kit(name, kit, journal, sent.checks[kit], statements)
    statements.compare(f"the title of {name}", part.heading, journal.certificate.heading)
    return JudgedPart(made_of, journal, report=str(Path(part.report)))
