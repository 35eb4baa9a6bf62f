"""A check, what it says of what is certified, and how its bench closes what was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from holdfast.harness.model.status import Status
from holdfast.harness.spi.words import text_of

BenchT = TypeVar("BenchT")


class Violation(AssertionError):
    """The part that is certified breaks a rule."""

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
        """The verdict in lines of text."""
        head = f"{self.status} {self.check.id}: {self.reason or self.check.purpose}"
        return "\n".join([head, *(f"    {step}" for step in self.witness)])


WHOLE = 180
"""Characters that are shown of what is no longer."""
SHOWN, BEFORE = 140, 40
"""Characters of what is longer, and how many of them stand before a difference."""


def excerpt(thing: object, at: int = 0) -> str:
    """A text, or the representation of something else, as far as it fits into a sentence.

    Args:
        thing: what is shown.
        at: character that must be seen.
    """
    text = thing if isinstance(thing, str) else text_of(thing, repr)
    if len(text) <= WHOLE:
        return text
    start = max(min(at - BEFORE, len(text) - SHOWN), 0)
    end = start + SHOWN
    place = f"from character {start + 1} of {len(text)}" if start else f"{len(text)} characters"
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''} ({place})"


def unlike(found: object, wanted: object) -> tuple[str, str]:
    """Two things that are not equal, each with what stands around their first difference."""
    first, second = text_of(found, repr), text_of(wanted, repr)
    pairs = enumerate(zip_longest(first, second))
    at = next((at for at, (one, other) in pairs if one != other), 0)  # Some that differ read alike.
    return excerpt(first, at), excerpt(second, at)


class Closable(Protocol):
    """A part that can be closed, such as a writer or a backend."""

    def close(self) -> None:
        """Free it."""


def raised_by_closing(closables: Iterable[Closable], times: int = 1) -> list[Exception]:
    """Close each of them; returns the exceptions.

    Args:
        closables: in this order.
        times: how often each is closed, unless it raises; closing is idempotent where it is more than once.
    """
    failed: list[Exception] = []
    for closable in closables:
        try:
            for _ in range(times):
                closable.close()
        except Exception as error:
            failed.append(error)
    return failed
