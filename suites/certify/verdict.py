"""What a kit reports of one check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.harness.model.status import Status
from holdfast.suites.certify.check import Check

WITNESS_STEPS = 12
"""How many of the last steps a witness shows; a check repeats all of them whenever it is run."""


class CheckVerdict(NamedTuple):
    """What one check says.

    Attributes:
        check: which.
        status: PASS, FAIL, INCONCLUSIVE, NOT_APPLICABLE, or ERROR where the kit itself broke.
        rule: that is broken, or that the check decides.
        reason: one sentence where it is not PASS.
        witness: of a failure, the steps that lead to it.
        figures: what it measured, sentences.
    """

    check: Check[Any]
    status: Status
    rule: str
    reason: str = ""
    witness: Sequence[str] = ()
    figures: Sequence[str] = ()

    @property
    def text(self) -> str:
        """Its lines for people."""
        head = f"{self.status} {self.check.id}: {self.reason or self.check.purpose}"
        return "\n".join([head, *(f"    {step}" for step in self.witness)])
