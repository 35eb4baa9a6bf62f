"""What a certificate is called: a word, the tiers that it speaks of, and how many of the cases it ran."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from holdfast.harness.model.case import Tier


class Title(StrEnum):
    """A certificate in one word, from best to worst."""

    CERTIFIED = "CERTIFIED"
    """Every MUST rule of the subject passed or does not apply, over the tiers that ran."""
    PARTIAL = "PARTIAL"
    """Nothing that ran is refuted or open, and not every MUST rule is decided."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """Nothing is refuted, and something that ran is open, or the certification was interrupted or ran out of time."""
    REFUSED = "REFUSED"
    """Something is refuted."""


class Scope(StrEnum):
    """Which of the cases that apply a certificate ran."""

    QUICK = "quick"
    """The cheapest that decide every rule."""
    THOROUGH = "thorough"
    """All."""
    NARROWED = "narrowed"
    """All that decide the rules and areas that the user named."""


class LeftOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cases on one tier that a quick certificate leaves to a thorough one.

    Attributes:
        tier: where they would run.
        cases: how many.
        alone_s: about how long they take, one after the other, on an idle machine.
    """

    tier: Tier
    cases: int
    alone_s: float


def heading(title: Title, tiers: Iterable[Tier]) -> str:
    """The title as every report shows it: `CERTIFIED on sim, process`; the word alone where nothing ran."""
    on = ", ".join(tiers)
    return f"{title} on {on}" if on else title.value
