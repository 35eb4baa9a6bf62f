"""The kit for checkpoint storages; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import checkpoint_storage

test_my_storage = checkpoint_storage.kit("mypkg.storage:factory")

It shares no code with any storage. It attacks from outside alone: other processes that die or stand still at any call,
a relay that loses requests and answers, bits that change where files lie. What cannot be reached so, a check says.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from holdfast.harness.model.rule import Subject
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.checkpoint_storage.bench import Bench
from holdfast.suites.certify.checkpoint_storage.checks import DIRECTED
from holdfast.suites.certify.checkpoint_storage.machine import PROGRAMS
from holdfast.suites.certify.outside.kit import OutsideKit, RegisteredOutsideKit
from holdfast.suites.certify.outside.storage_performer import CONTRACT
from holdfast.suites.certify.plug import Target, always, listed

__all__ = ["CHECKS", "Target", "certify", "kit", "target_of"]


CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *PROGRAMS)
WHOLE = OutsideKit(CHECKS, Bench, CONTRACT)
certify, judge, kit, target_of = WHOLE.certify, WHOLE.judge, WHOLE.kit, WHOLE.target_of


class CheckpointStorageKit(RegisteredOutsideKit):
    """Checkpoint storages."""

    whole = WHOLE
    subject = Subject.CHECKPOINT_STORAGE
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = always(
        "CFG-05/description",
        "CRD-11/unknown-outcome",
        "STO-01/published",
        "STO-02/exclusive",
        "STO-03/listed",
        "STO-05/fenced",
        "STO-06/written-anew",
        "STO-07/round-trip",
        "STO-08/jobs",
        "STO-10/pointers",
    )

    def plugged(self, factory: str, location: str, options: Mapping[str, str]) -> str:
        uri = "" if "://" in factory else f"@{location}" if location or options else ""
        return f"reference+storage={factory}{uri}{f'?{urlencode(options)}' if options else ''}"
