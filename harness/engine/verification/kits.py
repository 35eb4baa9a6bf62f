"""What kits found of parts, computed again from the results of their checks; and what a certificate was narrowed to, as
far as what lies in it shows: a rule's cases and checks go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from holdfast.harness.engine.certification.kit_journal import (
    NOT_CHOSEN,
    JudgedPart,
    floor_of,
    kit_journal,
    parts_of,
    subject_reports,
)
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.verification.sent import SentCertificate
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.model.certificate import Scope
from holdfast.harness.model.journal import Journal, PartReport, RuleResult, Status, Title
from holdfast.harness.model.sentence import plural
from holdfast.harness.spi.kit import KitCheck, TriesUnderFaults
from holdfast.harness.spi.system import Part, System


def rules_left_out(stated: Journal) -> frozenset[str]:
    """The rules that were not chosen for the certificate of a part."""
    return frozenset(each.rule.id for each in stated.rules if _is_left_out(each))


def _is_left_out(rule: RuleResult) -> bool:
    """Whether none of its checks was chosen; one of another rule may refute it all the same."""
    return rule.reason == NOT_CHOSEN or (rule.status is Status.FAIL and not rule.cases)


def compare_choice_of_parts(
    journal: Journal, judged: Sequence[JudgedPart], known: Sequence[Part], statements: Statements
) -> None:
    """Check that the rules chosen of each kit are those chosen of the whole certificate.

    Args:
        journal: of the whole system.
        judged: its parts that are listed.
        known: the parts that it has; none where it is not known here.
        statements: what is found.
    """
    tried = _tried_rules(judged, statements)
    narrowed = journal.certificate.scope is Scope.NARROWED
    if not narrowed:
        for contract, rules in tried.items():
            if missing := sorted(_kit_rules(contract) - rules):
                statements.contradict(
                    f"{_listed(missing)} of kit {contract} is left out, and a certificate that is not narrowed leaves "
                    "no rule out"
                )
        return
    listed = {each.part.contract for each in judged}
    untried = {each.contract: frozenset[str]() for each in known if each.contract not in listed}
    _compare_cases(journal, {**tried, **untried}, statements)


def _tried_rules(judged: Sequence[JudgedPart], statements: Statements) -> dict[str, frozenset[str]]:
    """By contract, the rules of which the checks were chosen: the same ones for each part."""
    found: dict[str, frozenset[str]] = {}
    for part, journal in ((each.part, each.journal) for each in judged):
        if journal is None:
            continue
        rules = _kit_rules(part.contract) - rules_left_out(journal)
        if found.setdefault(part.contract, rules) != rules:
            different = _listed(sorted(found[part.contract] ^ rules))
            statements.contradict(f"{different} was chosen of one {part.contract} and not of {part.factory}")
    return found


def _compare_cases(journal: Journal, tried: Mapping[str, frozenset[str]], statements: Statements) -> None:
    deciding: dict[str, set[str]] = {}
    for case in registry.cases():
        for decision in case.decides:
            deciding.setdefault(decision.rule, set()).add(case.id)
    here = {each.case for each in journal.cases}
    whole = {rule for rule, cases in deciding.items() if cases <= here}
    for contract, rules in tried.items():
        if missing := sorted(rule for rule in rules & deciding.keys() if rule not in whole):
            statements.contradict(f"kit {contract} tried {_listed(missing)}, and not all cases of it are there")
    not_chosen = {rule: contract for contract, rules in tried.items() for rule in _kit_rules(contract) - rules}
    for case in registry.cases():
        decided = {each.rule for each in case.decides}
        if case.id in here and decided and not (decided & whole) - not_chosen.keys():
            for rule in sorted(decided & not_chosen.keys())[:1]:
                statements.contradict(
                    f"case {case.id} ran for {rule}, and what kit {not_chosen[rule]} says of that rule is left out"
                )


def _kit_rules(contract: str) -> frozenset[str]:
    try:
        return registry.kit(contract).rules
    except UsageError:
        return frozenset()


def _listed(rules: Sequence[str]) -> str:
    return f"rule {rules[0]}" if len(rules) == 1 else f"rule {rules[0]} and {len(rules) - 1} more"


_OF_THE_SENDER = ("command", "started", "duration_s", "versions", "seed", "usage")
"""Fields of a certificate that follow from no check."""


def compare_kit(name: str, kit: str, stated: Journal, checks: Sequence[KitCheck], statements: Statements) -> None:
    """Compare the certificate of one part with what the results of its checks add up to.

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
    """Check that the part that was checked is the one that is certified."""
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
    """Compare the titles of the parts of a system, and of all parts of a kind together.

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
    """Check that no part is left out; of a narrowed certificate, none of a contract of which another one is listed."""
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
