"""What things of others say of themselves, such as an exception: whatever their methods do, it is text that can be
stored."""

from __future__ import annotations

from collections.abc import Callable

LONGEST = 4_000
"""Characters that are shown of what is longer."""


def text_of(thing: object, words: Callable[[object], str] = str) -> str:
    """Convert an object to text, whatever its own conversion raises.

    Args:
        thing: an exception, a text, or anything else.
        words: `str` or `repr`.

    Returns:
        Its text, encodable as UTF-8; a substitute that names its class, if the conversion raises.
    """
    try:
        said = words(thing)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return f"<a {type(thing).__name__} that cannot be shown>"
    return str.encode(said, errors="backslashreplace").decode()


def words_of(thing: object, words: Callable[[object], str] = str, longest: int = LONGEST) -> str:
    """As much of it as is shown; `longest`: that is not cut. The other arguments are as of `text_of`."""
    text = text_of(thing, words)
    return text if len(text) <= longest else f"{text[:LONGEST]}... ({len(text)} characters)"
