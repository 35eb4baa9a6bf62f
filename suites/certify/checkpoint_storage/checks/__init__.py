"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.checkpoint_storage.checks import (
    contents,
    crashes,
    damage,
    epochs,
    errors,
    failing,
    jobs,
    limits,
    memories,
    pointers,
    races,
    scopes,
    streams,
)
from holdfast.suites.certify.outside import places

DIRECTED: tuple[Check[Bench], ...] = (
    *places.CHECKS,
    *streams.CHECKS,
    *contents.CHECKS,
    *scopes.CHECKS,
    *pointers.CHECKS,
    *limits.CHECKS,
    *errors.CHECKS,
    *failing.CHECKS,
    *epochs.CHECKS,
    *jobs.CHECKS,
    *memories.CHECKS,
    *races.CHECKS,
    *damage.CHECKS,
    *crashes.CHECKS,
)
