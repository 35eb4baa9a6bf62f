"""What every event says: where, when, in which attempt, and how it is known."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.evidence import Evidence

SCHEMA_VERSION = 1


class Event(msgspec.Struct, tag_field="kind", kw_only=True, forbid_unknown_fields=True, gc=False):
    """Header of every event.

    Attributes:
        version: schema version of the line.
        node: which life of which process it happened in.
        sequence: dense from 0 within a node.
        time_ns: since the start of the run, on the clock of `Deployment.now_ms`; one origin for all nodes.
        attempt: execution attempt (epoch) of the job that it belongs to, 0 before the first.
        evidence: how the fact is known.
    """

    version: int = SCHEMA_VERSION
    node: str = ""
    sequence: int = -1
    time_ns: int = 0
    attempt: int = 0
    evidence: Evidence = Evidence.NATIVE
