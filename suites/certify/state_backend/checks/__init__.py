"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.checks import (
    canonical,
    changelog,
    coordinator_memory,
    costs,
    errors,
    flags,
    golden_run,
    increments,
    large,
    late,
    limits,
    local_recovery,
    many,
    memory,
    rescaling,
    schemas,
    snapshots,
    ttl,
)

DIRECTED: tuple[Check[Bench], ...] = (
    *many.CHECKS,
    *limits.CHECKS,
    *ttl.CHECKS,
    *snapshots.CHECKS,
    *late.CHECKS,
    *schemas.CHECKS,
    *rescaling.CHECKS,
    *canonical.CHECKS,
    *flags.CHECKS,
    *errors.CHECKS,
    *large.CHECKS,
    *increments.CHECKS,
    *golden_run.CHECKS,
    *changelog.CHECKS,
    *memory.CHECKS,
    *coordinator_memory.CHECKS,
    *local_recovery.CHECKS,
    *costs.CHECKS,
)
