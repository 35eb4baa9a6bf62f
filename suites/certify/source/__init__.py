"""The kit for sources; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import source

test_my_source = source.kit("mypkg.source:Source")
"""

from __future__ import annotations

from holdfast.suites.certify.source.kit import CHECKS, certify, kit

__all__ = ["CHECKS", "certify", "kit"]
