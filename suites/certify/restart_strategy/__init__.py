"""The kit for restart strategies; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import restart_strategy

test_my_strategy = restart_strategy.kit("mypkg.restart:Strategy")
"""

from __future__ import annotations

from holdfast.suites.certify.restart_strategy.kit import CHECKS, certify, kit

__all__ = ["CHECKS", "certify", "kit"]
