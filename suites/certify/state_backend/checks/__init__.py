"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.checks import (
    costs,
    errors,
    flags,
    increments,
    limits,
    local_recovery,
    memory,
    moves,
    schemas,
    snapshots,
)

DIRECTED: tuple[Check[Bench], ...] = (
    *limits.CHECKS,
    *snapshots.CHECKS,
    *schemas.CHECKS,
    *moves.CHECKS,
    *flags.CHECKS,
    *errors.CHECKS,
    *increments.CHECKS,
    *memory.CHECKS,
    *local_recovery.CHECKS,
    *costs.CHECKS,
)
