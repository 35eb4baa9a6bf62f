"""The kit as the command line finds it."""

from __future__ import annotations

from holdfast.harness.model.rule import Subject
from holdfast.suites.certify.file_system.kit import CHECKS, WHOLE
from holdfast.suites.certify.outside.kit import RegisteredOutsideKit
from holdfast.suites.certify.plug import always, listed


class FileSystemKit(RegisteredOutsideKit):
    """File systems."""

    whole = WHOLE
    subject = Subject.FILE_SYSTEM
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = always("ASY-05/all-abandoned", "CFG-05/description", "STO-02/taken", "STO-07/round-trip", "STO-08/folders")
