"""The kit for keyed state backends; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import state_backend

test_my_backend = state_backend.kit("mypkg.backend:Backend")
"""

from __future__ import annotations

from holdfast.suites.certify.state_backend.kit import CHECKS, certify, kit

__all__ = ["CHECKS", "certify", "kit"]
