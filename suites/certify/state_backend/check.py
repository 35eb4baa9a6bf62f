"""A check: what decides a rule, or a part of it, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.harness.spi.state import Flag

if TYPE_CHECKING:
    from holdfast.suites.certify.state_backend.bench import Bench


class Violation(AssertionError):
    """The backend breaks a rule."""

    def __init__(self, rule: str, sentence: str) -> None:
        super().__init__(f"{rule}: {sentence}")
        self.rule = rule
        self.sentence = sentence


class CannotTry(Exception):
    """The check does not apply to this backend, whatever it declares; one sentence."""


class Check(NamedTuple):
    """One check.

    Attributes:
        id: the rule that it decides and what it tries, such as `SBK-02/timers`.
        purpose: one sentence.
        run: tries it on a bench; raises Violation. Files that are missing or left over, and threads that are held up,
            are found by every check, and break their own rules: INC-02, INC-03, ASY-01.
        needs: flags without which it does not apply.
        windows: what it must really have met, by name of `Bench.hit`; else it is inconclusive.
    """

    id: str
    purpose: str
    run: Callable[[Bench], None]
    needs: frozenset[Flag] = frozenset()
    windows: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The rule that it decides."""
        return self.id.partition("/")[0]
