"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks import attempts, commits, crashes, one_phase, phases, replays

DIRECTED: tuple[Check[Bench], ...] = (
    *phases.CHECKS,
    *commits.CHECKS,
    *replays.CHECKS,
    *attempts.CHECKS,
    *crashes.CHECKS,
    *one_phase.CHECKS,
)
