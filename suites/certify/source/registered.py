"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify.connected import Connected
from holdfast.suites.certify.connector_kit import RegisteredConnectorKit
from holdfast.suites.certify.plug import always, listed
from holdfast.suites.certify.source.kit import CHECKS, WHOLE
from holdfast.suites.certify.source.under_faults import CASES, not_for, trial
from holdfast.suites.certify.under_faults import listed_cases, plugged_in, tried_under_faults


class SourceKit(RegisteredConnectorKit):
    """Sources."""

    whole = WHOLE
    subject = Subject.SOURCE
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = (*always("E2E-01/claim"), frozenset({"E2E-05/program", "E2E-05/at-most-once"}))
    checks_under_faults = listed_cases(CASES)

    def under_faults(
        self,
        factory: str,
        checks: Set[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        connected = Connected(location, options or {})
        tried = trial(factory, connected)
        return tried_under_faults(
            plugged_in("source", factory, location),
            CASES,
            checks,
            seed=seed,
            supplied=WHOLE.supplied_by_author(factory, connected),
            why_not=tried.why_not,
            known=tried.known,
            not_for={} if tried.why_not else not_for(factory, connected),
            tier=tried.tier,
        )
