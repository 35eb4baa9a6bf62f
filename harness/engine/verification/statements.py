"""What a verification states."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar, cast

import msgspec

from holdfast.harness.model.journal import CaseResult, RuleResult
from holdfast.harness.model.rule import Rule

StatedT = TypeVar("StatedT")
_WORDS: Mapping[type, tuple[str, ...]] = {
    Rule: ("text", "why", "sources"),
    CaseResult: ("purpose", "method", "passes"),
    RuleResult: ("rule",),
}
"""What only the catalogue gives: it reads otherwise under other code, and decides nothing."""


def with_words_of(stated: object, found: StatedT) -> StatedT:
    """A recomputed value, worded like the stated one."""
    if type(stated) is not type(found) or type(found) not in _WORDS:
        return found
    words = {name: getattr(stated, name) for name in _WORDS[type(found)]}
    if isinstance(found, RuleResult):
        words = {"rule": with_words_of(words["rule"], found.rule)}
    return cast("StatedT", msgspec.structs.replace(cast("msgspec.Struct", found), **words))


class Kind(StrEnum):
    """The kinds of statements, from best to worst."""

    CONFIRMED = "confirmed"
    """Recomputed here, with the same result."""
    SENDERS_WORD = "on the sender's word"
    """Nothing that lies in a folder can show it."""
    NOT_CHECKED = "not checked"
    """It could be, and was not, for a reason."""
    CONTRADICTED = "contradicted"
    """Recomputed here, with another result."""


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sentence without a full stop."""

    kind: Kind
    sentence: str


class Statements:
    """All that a verification states, in the order in which it found it."""

    def __init__(self) -> None:
        self.all: list[Statement] = []
        self._reworded: list[str] = []

    def confirm(self, sentence: str) -> None:
        """See Kind.CONFIRMED."""
        self.all.append(Statement(Kind.CONFIRMED, sentence))

    def believe(self, sentence: str) -> None:
        """See Kind.SENDERS_WORD."""
        self.all.append(Statement(Kind.SENDERS_WORD, sentence))

    def leave_open(self, sentence: str) -> None:
        """See Kind.NOT_CHECKED."""
        self.all.append(Statement(Kind.NOT_CHECKED, sentence))

    def contradict(self, sentence: str) -> None:
        """See Kind.CONTRADICTED."""
        self.all.append(Statement(Kind.CONTRADICTED, sentence))

    def of(self, kind: Kind) -> list[str]:
        return [each.sentence for each in self.all if each.kind is kind]

    def compare_words(self, what: str, stated: object, found: object) -> None:
        """Words that only the catalogue gives."""
        if stated != found:
            self._reworded.append(what)

    def tell_words(self) -> None:
        """Leave open what reads otherwise here, all in one sentence."""
        if self._reworded:
            more = f" and of {len(self._reworded) - 1} more" if len(self._reworded) > 1 else ""
            self.leave_open(f"the words of {self._reworded[0]}{more} read otherwise here: edited, or of other code")

    def compare(self, what: str, stated: object, found: object) -> bool:
        """Whether what is stated is what was recomputed; if not, that is a contradiction."""
        if stated == found:
            return True
        self.contradict(f"{what} is stated as {_short(stated)}; recomputed it is {_short(found)}")
        return False

    def compare_all(self, what: str, stated: object, found: object) -> bool:
        """As `compare`, part by part: the first one that differs is named by its place."""
        if stated == found:
            return True
        if type(stated) in _WORDS and (same := with_words_of(stated, found)) != found:
            self._reworded.append(what)
            return self.compare_all(what, stated, same)
        if isinstance(stated, msgspec.Struct) and type(stated) is type(found):
            fields = [(name, getattr(stated, name), getattr(found, name)) for name in stated.__struct_fields__]
            return all(self.compare_all(f"{name.replace('_', ' ')} of {what}", *both) for name, *both in fields)
        if isinstance(stated, dict) and isinstance(found, dict) and stated.keys() == found.keys():
            return all(self.compare_all(f"{key} of {what}", stated[key], found[key]) for key in stated)
        if isinstance(stated, tuple) and isinstance(found, tuple) and len(stated) == len(found):
            each = enumerate(zip(stated, found, strict=True), 1)
            return all(self.compare_all(f"number {number} of {what}", *both) for number, both in each)
        return self.compare(what, stated, found)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str, order="sorted").decode()
    return text if 0 < len(text) <= _LENGTH else f"{text[:_LENGTH]}..." if text else "nothing"


_LENGTH = 160
