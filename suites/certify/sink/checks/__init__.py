"""Directed checks: what no drawn program asks."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks import claims, commits, overtaken

DIRECTED: tuple[Check[Bench], ...] = (
    *commits.CHECKS,
    *overtaken.CHECKS,
    *commits.CRASHES,
    *claims.CHECKS,
)
