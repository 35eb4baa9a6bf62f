"""The kit for file systems; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import file_system

test_my_file_system = file_system.kit("mypkg.files:Files")

It shares no code with any file system, and attacks from outside alone, as the kit of storages does.
"""

from __future__ import annotations

from holdfast.harness.model.rule import Subject
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.file_system.checks import DIRECTED
from holdfast.suites.certify.file_system.machine import PROGRAMS
from holdfast.suites.certify.outside.file_system_performer import CONTRACT
from holdfast.suites.certify.outside.kit import OutsideKit, RegisteredOutsideKit
from holdfast.suites.certify.plug import Target, always, listed

__all__ = ["CHECKS", "Target", "certify", "kit", "target_of"]


CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *PROGRAMS)
WHOLE = OutsideKit(CHECKS, Bench, CONTRACT)
certify, judge, kit, target_of = WHOLE.certify, WHOLE.judge, WHOLE.kit, WHOLE.target_of


class FileSystemKit(RegisteredOutsideKit):
    """File systems."""

    whole = WHOLE
    subject = Subject.FILE_SYSTEM
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = always("ASY-05/all-abandoned", "CFG-05/description", "STO-02/taken", "STO-07/round-trip", "STO-08/folders")
