"""What a factory of sources is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec


def _nothing(step: str) -> None:
    pass


class SourceContext(msgspec.Struct, frozen=True, kw_only=True):
    """The place of one source: one operator of a job in one attempt.

    Attributes:
        uri: what it reads, such as `file:///input` or `kafka://broker/topic`.
        job, operator: stable names; the same over restarts.
        attempt: which start of the job this is, from 1.
        bounded: read what is there when the job first starts, and end; asked only of a source that declares BOUNDED.
            The first `assign` with readers fixes what that is, the ends of its splits too, however late they are read.
        latest: pass over what is there when the job first starts, and read what comes behind it and in new splits;
            asked only of a source that declares LATEST. The first `assign` with readers fixes what that is; a restored
            enumerator goes on from its state.
        options: those of `SourceDescription.options` that the user has set.
        arrive: called with the name of each step outside, before it and behind it, by a source that declares
            FAULT_POINTS; it may raise Transient, or end the process.
    """

    uri: str
    job: str
    operator: str
    attempt: int
    bounded: bool = False
    latest: bool = False
    options: Mapping[str, str] = {}
    arrive: Callable[[str], None] = _nothing
