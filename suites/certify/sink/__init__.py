"""The kit for sinks; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import sink

test_my_sink = sink.kit("mypkg.sink:Sink")
"""

from __future__ import annotations

from holdfast.suites.certify.sink.kit import CHECKS, certify, kit

__all__ = ["CHECKS", "certify", "kit"]
