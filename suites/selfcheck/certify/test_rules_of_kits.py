"""Every check of a kit has an id of its own, and names a rule of what the kit judges."""

from __future__ import annotations

import pytest

from holdfast.harness.engine.site import registry
from holdfast.harness.model.rule import Level

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
