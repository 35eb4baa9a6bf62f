"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks import (
    attempts,
    commits,
    crashes,
    elsewhere,
    many,
    one_phase,
    phases,
    replays,
    standing_still,
)

DIRECTED: tuple[Check[Bench], ...] = (
    *phases.CHECKS,
    *commits.CHECKS,
    *replays.CHECKS,
    *attempts.CHECKS,
    *standing_still.CHECKS,
    *many.CHECKS,
    *elsewhere.CHECKS,
    *crashes.CHECKS,
    *one_phase.CHECKS,
)
