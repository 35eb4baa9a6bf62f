"""The whole kit: every check, and one test of each for pytest."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.spi.sink import Sink, SinkContext, SinkFactory
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.connector_kit import ConnectorKit
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks import DIRECTED
from holdfast.suites.certify.sink.programs import PROGRAMS


class SinkContract:
    """Of sinks."""

    noun = "sink"
    implemented: type = Sink
    rule = "TPC-05"

    def supplied_by_author(self, factory: SinkFactory, place: str, options: Mapping[str, str]) -> tuple[str, ...]:
        made = factory(SinkContext(uri=place, job="job", operator="sink", attempt=1, options=options))
        return ("count of unfinished transactions",) if made.describe().committed_reader else ("committed reader",)


CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *PROGRAMS)
WHOLE: ConnectorKit[Bench, SinkFactory] = ConnectorKit(SinkContract(), CHECKS, Bench)
certify, judge, kit, loaded = WHOLE.certify, WHOLE.judge, WHOLE.kit, WHOLE.loaded
