"""The kit for sinks; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import sink

test_my_sink = sink.kit("mypkg.sink:Sink")
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.sink import Sink, SinkContext, SinkFactory
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.connector_kit import ConnectorKit, RegisteredConnectorKit
from holdfast.suites.certify.plug import always, listed, plugged_in
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks import DIRECTED
from holdfast.suites.certify.sink.programs import PROGRAMS

__all__ = ["CHECKS", "certify", "kit"]


class SinkContract:
    """The contract of sinks."""

    noun = "sink"
    implemented: type = Sink
    rule = "TPC-05"

    def supplied_by_author(self, factory: SinkFactory, place: str, options: Mapping[str, str]) -> tuple[str, ...]:
        made = factory(SinkContext(uri=place, job="job", operator="sink", attempt=1, options=options))
        return ("count of unfinished transactions",) if made.describe().committed_reader else ("committed reader",)


CHECKS: tuple[Check[Bench], ...] = (*DIRECTED, *PROGRAMS)
WHOLE: ConnectorKit[Bench, SinkFactory] = ConnectorKit(SinkContract(), CHECKS, Bench)
certify, judge, kit, loaded = WHOLE.certify, WHOLE.judge, WHOLE.kit, WHOLE.loaded


class SinkKit(RegisteredConnectorKit):
    """Sinks."""

    whole = WHOLE
    subject = Subject.SINK
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = (
        *always("E2E-01/claim", "E2E-01/program"),
        frozenset({"E2E-02/program", "E2E-04/program", "TPC-09/program"}),
    )

    def plugged(self, factory: str, location: str, options: Mapping[str, str]) -> str:
        if options:
            raise ValueError("--option is for the kit of sinks alone: leave --tier out, or write it into the location.")
        return plugged_in("sink", factory, location)
