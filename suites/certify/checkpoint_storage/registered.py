"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from holdfast.harness.model.rule import Subject
from holdfast.suites.certify.checkpoint_storage.kit import CHECKS, WHOLE
from holdfast.suites.certify.outside.kit import RegisteredOutsideKit
from holdfast.suites.certify.plug import always, listed


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
