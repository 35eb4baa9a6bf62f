"""The kit for sources; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import source

test_my_source = source.kit("mypkg.source:Source")
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.spi.source import Source, SourceContext, SourceFactory
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.connector_kit import ConnectorKit
from holdfast.suites.certify.source.bench import Bench
from holdfast.suites.certify.source.checks import DIRECTED
from holdfast.suites.certify.source.machines import MACHINES

__all__ = ["CHECKS", "certify", "kit"]


class SourceContract:
    """The contract of sources."""

    noun = "source"
    implemented: type = Source
    rule = "E2E-05"

    def supplied_by_author(self, factory: SourceFactory, place: str, options: Mapping[str, str]) -> tuple[str, ...]:
        made = factory(SourceContext(uri=place, job="job", operator="source", attempt=1, options=options))
        return () if made.describe().feeder else ("feeder",)


CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *MACHINES)
WHOLE: ConnectorKit[Bench, SourceFactory] = ConnectorKit(SourceContract(), CHECKS, Bench)
certify, judge, kit, loaded = WHOLE.certify, WHOLE.judge, WHOLE.kit, WHOLE.loaded
