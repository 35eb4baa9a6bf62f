"""What a process wrote last: most often the reason why it ended."""

from __future__ import annotations

import signal
from pathlib import Path

from holdfast.harness.spi.outside_files import read_end

LONGEST_WORDS = 200
_END_BYTES = 1 << 16


def last_words(log: Path, longest: int = LONGEST_WORDS) -> str:
    """The last line of a log, cut where it is too long; empty: it wrote nothing, or there is no log.

    Args:
        log: of the process.
        longest: how many characters of it are shown.
    """
    try:
        line = last_line(read_end(log, _END_BYTES).decode(errors="replace"))
    except FileNotFoundError:
        return ""
    return line if len(line) <= longest else f"{line[:longest]}..."


def how_it_ended(exit_code: int, words: str = "") -> str:
    """How a process ended, and what it wrote last, if that is a reason.

    Args:
        exit_code: of it; negative for a signal.
        words: its last ones.
    """
    if exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"exit code {exit_code} ({words})" if words else f"exit code {exit_code}"


def last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
