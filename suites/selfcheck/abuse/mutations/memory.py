"""How much memory a call takes while it runs, over what this process had before."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_MEGABYTES = 500
_RESET_PEAK = "5"
_SELF = Path("/proc/self")
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


def forget_peak() -> float:
    """Let the peak begin anew; megabytes that are held now."""
    (_SELF / "clear_refs").write_text(_RESET_PEAK)
    return peak_megabytes()


def peak_megabytes() -> float:
    """The most that was held since the peak began anew."""
    found = _PEAK.search((_SELF / "status").read_text())
    assert found is not None
    return int(found[1]) / 1_024


def grown_megabytes(call: Callable[[], object], answers: list[Any]) -> float:
    """By how much the memory grew while something ran; what it returned is appended to `answers`."""
    before = forget_peak()
    answers.append(call())
    return peak_megabytes() - before
