"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.file_system.checks import (
    contents,
    failures,
    publication,
    races,
)
from holdfast.suites.certify.outside import places

DIRECTED: tuple[Check[Bench], ...] = (
    *places.CHECKS,
    *contents.CHECKS,
    *publication.CHECKS,
    *races.CHECKS,
    *failures.CHECKS,
)
