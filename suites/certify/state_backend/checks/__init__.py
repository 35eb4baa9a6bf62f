"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.checks import (
    canonical,
    errors,
    flags,
    increments,
    limits,
    rescaling,
    schemas,
    snapshots,
    tables,
    timers,
    ttl,
)

DIRECTED: tuple[Check[Bench], ...] = (
    *tables.CHECKS,
    *limits.CHECKS,
    *timers.CHECKS,
    *ttl.CHECKS,
    *snapshots.CHECKS,
    *schemas.CHECKS,
    *rescaling.CHECKS,
    *canonical.CHECKS,
    *flags.CHECKS,
    *errors.CHECKS,
    *increments.CHECKS,
)
