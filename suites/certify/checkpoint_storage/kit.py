"""The whole kit: every check, and one test of each for pytest."""

from __future__ import annotations

from holdfast.suites.certify.check import Check
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.checkpoint_storage.checks import DIRECTED
from holdfast.suites.certify.checkpoint_storage.machine import PROGRAMS
from holdfast.suites.certify.checkpoint_storage.target import target_of
from holdfast.suites.certify.outside.kit import OutsideKit

CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *PROGRAMS)
WHOLE = OutsideKit(CHECKS, Bench, target_of)
certify, judge, kit = WHOLE.certify, WHOLE.judge, WHOLE.kit
