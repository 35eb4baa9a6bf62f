"""What holds of every kit: its checks name rules, and a part to which hardly anything applies is not certified."""

from __future__ import annotations

import pytest

from holdfast.harness.engine.certification.kit_journal import floor_of, kit_journal
from holdfast.harness.engine.certification.subjects import parts_of, why_absent
from holdfast.harness.engine.site import registry
from holdfast.harness.model.journal import Status
from holdfast.harness.model.rule import Level
from holdfast.harness.model.title import Title
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.system import Part

OPTIONAL = {"state-backend": {"INC-08", "INC-09", "SBK-08", "SBK-11"}}
"""Rules that one may keep, and that have checks all the same."""


@pytest.mark.parametrize("name", registry.kits())
def test_each_check_names_a_rule_once(name: str) -> None:
    kit = registry.kit(name)
    subjects = {rule.id: rule.subjects for rule in registry.rules()}
    assert len({check.id for check in kit.checks}) == len(kit.checks)
    assert [check.id for check in kit.checks if kit.subject not in subjects[check.rule]] == []


@pytest.mark.parametrize("name", registry.kits())
def test_each_rule_that_it_must_keep_has_a_check(name: str) -> None:
    kit = registry.kit(name)
    must = {rule.id for rule in registry.rules() if kit.subject in rule.subjects and rule.level is Level.MUST}
    assert {check.rule for check in kit.checks} ^ must == OPTIONAL.get(name, frozenset())


CONTRACTS = ("checkpoint-storage", "file-system", "restart-strategy", "sink", "source", "state-backend")
PARTS = [each for each in parts_of(registry.system("reference")) if not why_absent(each)]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_each_kit_has_one_and_it_is_of_its_own_checks(contract: str) -> None:
    kit = registry.kit(contract)
    assert floor_of(kit)
    assert {name for group in floor_of(kit) for name in group} <= {each.id for each in kit.checks}


@pytest.mark.share(6)
@pytest.mark.parametrize(
    "part",
    # That the hash map meets it, test_command.py shows: otherwise its certificate would be inconclusive.
    [pytest.param(each, marks=[pytest.mark.nightly] * (each.contract == "state-backend")) for each in PARTS],
    ids=lambda each: f"{each.contract} {each.factory}",
)
def test_it_holds_of_every_part_of_ours(part: Part) -> None:
    kit = registry.kit(part.contract)
    floor = floor_of(kit)
    ids = {name for group in floor for name in group}
    checks = kit.certify(part.factory, ids, location=part.location, options=part.options)
    applied = {each.id for each in checks if each.status is not Status.NOT_APPLICABLE}
    assert all(group & applied for group in floor)


def test_a_group_of_which_nothing_applied_is_open_and_one_of_it_is_enough() -> None:
    def title(*statuses: Status) -> Title:
        checks = [
            KitCheck(f"E2E-0{number}/any", "It works.", f"E2E-0{number}", status, "" if status is Status.PASS else "no")
            for number, status in enumerate(statuses, 1)
        ]
        floor = (frozenset({"E2E-02/any", "E2E-03/any"}),)
        journal = kit_journal(checks, command="", factory="a:B", subject="SNK", started="", duration_s=0.0, floor=floor)
        found = {each.status for each in journal.cases}
        assert (Status.INCONCLUSIVE in found) is (journal.certificate.title is Title.INCONCLUSIVE)
        return journal.certificate.title

    passed, absent = Status.PASS, Status.NOT_APPLICABLE
    assert title(passed, absent, absent) is Title.INCONCLUSIVE
    assert title(passed, passed, absent) is not Title.INCONCLUSIVE
    assert title(passed, absent) is not Title.INCONCLUSIVE
