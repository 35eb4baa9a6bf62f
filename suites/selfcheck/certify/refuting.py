"""What every kit must say of a wrong part."""

from __future__ import annotations

from holdfast.harness.model.status import Status
from holdfast.suites.certify.check import CheckVerdict


def refuting(verdict: CheckVerdict, *rules: str) -> CheckVerdict:
    """A verdict that finds a part wrong, and says the rule of the check, or one of these, to be broken."""
    assert verdict.status is Status.FAIL, verdict.text
    assert verdict.rule in {verdict.check.rule, *rules}, verdict.text
    return verdict
