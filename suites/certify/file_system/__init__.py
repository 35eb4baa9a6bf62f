"""The kit for file systems; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import file_system

test_my_file_system = file_system.kit("mypkg.files:Files")

It shares no code with any file system, and attacks from outside alone, as the kit of storages does.
"""

from __future__ import annotations

from holdfast.suites.certify.file_system.kit import CHECKS, certify, kit
from holdfast.suites.certify.file_system.target import target_of
from holdfast.suites.certify.outside.target import Target

__all__ = ["CHECKS", "Target", "certify", "kit", "target_of"]
