"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.file_system.checks import (
    contents,
    crashes,
    errors,
    exclusive,
    failing,
    folders,
    listing,
    races,
    uploads,
)
from holdfast.suites.certify.outside import places

DIRECTED: tuple[Check[Bench], ...] = (
    *places.CHECKS,
    *contents.CHECKS,
    *listing.CHECKS,
    *exclusive.CHECKS,
    *uploads.CHECKS,
    *folders.CHECKS,
    *races.CHECKS,
    *crashes.CHECKS,
    *errors.CHECKS,
    *failing.CHECKS,
)
