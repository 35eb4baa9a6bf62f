"""What a certificate was narrowed to, as far as what lies in it shows: a rule's cases and checks go together.

The rules that were chosen are not stored: a command is the sender's word. But a case is there because a rule was chosen
that it decides, and so are the checks of every kit that decide that rule. Where no choice of rules explains what is
there and what is not, something was taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.harness.engine.certification.kit_journal import NOT_CHOSEN
from holdfast.harness.engine.certification.subjects import JudgedPart
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.model.journal import Journal, RuleResult, Status
from holdfast.harness.model.title import Scope
from holdfast.harness.spi.system import Part


def rules_left_out(stated: Journal) -> frozenset[str]:
    """Of the certificate of a part, the rules that were not chosen."""
    return frozenset(each.rule.id for each in stated.rules if _is_left_out(each))


def _is_left_out(rule: RuleResult) -> bool:
    """Whether none of its checks was chosen; one of another rule may refute it all the same."""
    return rule.reason == NOT_CHOSEN or (rule.status is Status.FAIL and not rule.cases)


def compare_choice_of_parts(
    journal: Journal, judged: Sequence[JudgedPart], known: Sequence[Part], statements: Statements
) -> None:
    """Of each kit, the rules that were chosen are those that were chosen of the whole.

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
