"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.source.bench import Bench
from holdfast.suites.certify.source.checks import claims, lost_ends, order, positions, replays, splits

DIRECTED: tuple[Check[Bench], ...] = (
    *claims.CHECKS,
    *positions.CHECKS,
    *replays.CHECKS,
    *order.CHECKS,
    *splits.CHECKS,
    *lost_ends.CHECKS,
)
