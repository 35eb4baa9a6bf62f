"""Directed checks: each tries one thing, with what is most likely to break it."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.restart_strategy.bench import Bench
from holdfast.suites.certify.restart_strategy.checks import contract, exponential, far, fixed, rate

DIRECTED: tuple[Check[Bench], ...] = (*fixed.CHECKS, *rate.CHECKS, *exponential.CHECKS, *contract.CHECKS, *far.CHECKS)
