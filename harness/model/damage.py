"""What a violated clause does to a user of the system, in the words that a finding begins with."""

from __future__ import annotations

from enum import StrEnum


class Damage(StrEnum):
    """From worst to least: a finding is named after the worst that its run shows."""

    LOSS = "data loss"
    DUPLICATE = "duplicate"
    WRONG_OUTPUT = "wrong output"
    UNSTABLE_OUTPUT = "output changed after it was visible"
    WRONG_ORDER = "wrong order"
    OVERCLAIM = "claims more than it keeps"
    """A loss or a duplicate shows it, and is no defect of its own: the claim is what is wrong."""
    WRONG_STATE = "wrong state"
    MISSING_FILE = "missing checkpoint file"
    NEVER_RECOVERED = "never recovered"
    BROKEN_TRANSACTION = "broken transaction"
    WRONG_RESTART = "wrong restart"
    WRONG_RESCALE = "wrong rescale"
    LEAKED_FILE = "leaked file"
    BROKEN_CHECKPOINT = "broken checkpoint"
    WRONG_CONFIGURATION = "wrong configuration"
    WRONG_REPORT = "wrong report"
    WRONG_DIGEST = "wrong digest"
    """The row is right: whoever writes it computes its digest in another way."""
    OTHER = "violated rule"
    """Of an oracle that names no damage for its clauses."""


SYMPTOMS = frozenset(
    {
        Damage.LOSS,
        Damage.DUPLICATE,
        Damage.WRONG_OUTPUT,
        Damage.UNSTABLE_OUTPUT,
        Damage.WRONG_ORDER,
        Damage.NEVER_RECOVERED,
        Damage.WRONG_REPORT,
        Damage.WRONG_DIGEST,
    }
)
"""What shows that something broke, and breaks nothing else itself."""
DAMAGE_RANK = {damage: rank for rank, damage in enumerate(Damage)}
