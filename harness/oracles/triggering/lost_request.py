"""Requests of users that no coordinator takes, or that no user has made (RULES TRG-06, TRG-08)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    OVER,
    AttemptStarted,
    CheckpointRequested,
    JobSwitched,
)
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.clocks import SKEW_NS
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS

CLAUSES: Mapping[str, str] = {
    "request-lost": "a request of a user is neither queued nor refused by a coordinator that lives",
    "savepoint-unasked": "more savepoints are requested of the coordinators than users have requested",
}
ORIGINS: Mapping[Consequence, frozenset[CheckpointOrigin]] = {
    Consequence.REQUESTS_CHECKPOINT: frozenset({CheckpointOrigin.USER, CheckpointOrigin.FORCED}),
    Consequence.REQUESTS_SAVEPOINT: frozenset({CheckpointOrigin.SAVEPOINT}),
}
SLACK_NS = 500 * NS_PER_MS
"""A coordinator takes a request sooner than this on the simulator, where nothing else keeps the machine busy."""


def judge_requests(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Judge the requests of users, and requests for savepoints that no user may have made."""
    _judge_savepoints(history, exempt, findings)
    if exempt.punctual and not exempt.superseded:
        for consequence, origins in ORIGINS.items():
            _judge_lost(history, exempt, consequence, origins, findings)


def _judge_lost(
    history: History,
    exempt: Exemptions,
    consequence: Consequence,
    origins: frozenset[CheckpointOrigin],
    findings: Findings,
) -> None:
    """Decide on each request of one kind that a coordinator had the time to take, of a job that is not over.

    A coordinator that dies, is paused or is superseded has not had the time.
    """
    given = exempt.acted(consequence)
    if not given:
        return
    coordinators = {event.node for event in history.of(AttemptStarted)}
    ends_ns = exempt.deaths_ns(coordinators)
    ends_ns += [event.time_ns for event in history.of(JobSwitched) if event.status in OVER]
    ends_ns.append(history.end.ended_ns)
    running_ns = [event.time_ns for event in history.of(AttemptStarted)]
    requests = [event for event in history.of(CheckpointRequested) if event.origin in origins]
    for event in given:
        end_ns = min((each for each in ends_ns if each >= event.time_ns - SKEW_NS), default=0)
        if end_ns < event.time_ns + SLACK_NS or not any(each < event.time_ns - SKEW_NS for each in running_ns):
            continue
        findings.check("request-lost")
        if not any(request.time_ns >= event.time_ns - SKEW_NS for request in requests):
            findings.violated("request-lost", "a request of a user is neither queued nor refused", event)


def _judge_savepoints(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Each savepoint is requested once, after the request of a user is recorded."""
    given = exempt.acted(Consequence.REQUESTS_SAVEPOINT)
    requests = [event for event in history.of(CheckpointRequested) if event.origin is CheckpointOrigin.SAVEPOINT]
    findings.check("savepoint-unasked", len(requests))
    if len(requests) > len(given):
        message = f"{len(requests)} savepoints are requested of the coordinators, and users have requested {len(given)}"
        findings.violated("savepoint-unasked", message, *given, *requests)
