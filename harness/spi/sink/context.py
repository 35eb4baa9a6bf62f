"""What a factory of sinks is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec


def _nothing(step: str) -> None:
    pass


class SinkContext(msgspec.Struct, frozen=True, kw_only=True):
    """The place of one sink: one operator of a job in one attempt.

    Attributes:
        uri: where it writes, such as `file:///results` or `kafka://broker/topic`; jobs may share it.
        job, operator: stable names of letters, digits, `_` and `-`; the same over restarts. What the sink calls its
            transactions begins with both of them as whole words: `job-1` is not `job-10`.
        attempt: which start of the job this is, from 1. A greater one supersedes all below, of which some may never
            have begun.
        options: those of `SinkDescription.options` that the user has set.
        arrive: called with the name of each step outside, before and behind it, by a sink that declares FAULT_POINTS;
            it may raise Transient, or end the process.
    """

    uri: str
    job: str
    operator: str
    attempt: int
    options: Mapping[str, str] = {}
    arrive: Callable[[str], None] = _nothing
