"""Values in sentences: a long one in part, and of two that differ the part where they first do."""

from __future__ import annotations

from itertools import zip_longest

from holdfast.harness.spi.words import text_of

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
