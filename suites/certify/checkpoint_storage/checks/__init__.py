"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.checkpoint_storage.checks import (
    checkpoints,
    damage,
    failures,
    files,
    isolation,
    races,
)
from holdfast.suites.certify.outside import places

DIRECTED: tuple[Check[Bench], ...] = (
    *places.CHECKS,
    *files.CHECKS,
    *checkpoints.CHECKS,
    *failures.CHECKS,
    *isolation.CHECKS,
    *races.CHECKS,
    *damage.CHECKS,
)
