"""A check: what decides a rule, or a part of it, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from holdfast.harness.model.status import Status

BenchT = TypeVar("BenchT")


class Violation(AssertionError):
    """What is certified breaks a rule."""

    def __init__(self, rule: str, sentence: str) -> None:
        super().__init__(f"{rule}: {sentence}")
        self.rule = rule
        self.sentence = sentence


class CannotTry(Exception):
    """The check does not apply to this one, whatever it declares; one sentence."""


class Check(NamedTuple, Generic[BenchT]):
    """One check.

    Attributes:
        id: the rule that it decides and what it tries, such as `SBK-02/savepoint`.
        purpose: one sentence.
        run: tries it on a bench; raises Violation. What a bench watches all the time is found by every check, and
            breaks its own rule.
        needs: flags without which it does not apply.
        windows: what it must really have met, by name of `Bench.hit`; else it is inconclusive.
    """

    id: str
    purpose: str
    run: Callable[[BenchT], None]
    needs: frozenset[str] = frozenset()
    windows: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The rule that it decides."""
        return self.id.partition("/")[0]


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
