"""What became of a planned fault."""

from __future__ import annotations

from enum import StrEnum


class FaultFate(StrEnum):
    """Three facts are told apart from a fault that hit, because each asks for something else to be mended."""

    LANDED = "landed"
    """The history proves its effect."""
    NEVER_ACTED = "never acted"
    """It was never due, or it could not act when it was."""
    TOO_LATE = "too late"
    """It acted when nothing could come of it any more, such as on a checkpoint that a newer one had replaced."""
    WITHOUT_EFFECT = "without effect"
    """It acted in time, and nothing came of it."""


FATES_IN_WORDS = {
    FaultFate.LANDED: "landed",
    FaultFate.NEVER_ACTED: "never acted",
    FaultFate.TOO_LATE: "acted too late, when nothing could come of it",
    FaultFate.WITHOUT_EFFECT: "acted, and nothing came of it",
}
"""Each as the rest of a sentence that begins with the fault."""
