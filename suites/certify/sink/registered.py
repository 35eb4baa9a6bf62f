"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.rule import Subject
from holdfast.suites.certify.connector_kit import RegisteredConnectorKit
from holdfast.suites.certify.plug import always, listed
from holdfast.suites.certify.sink.kit import CHECKS, WHOLE
from holdfast.suites.certify.under_faults import plugged_in


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
