"""An oracle: one invariant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from holdfast.harness.model.events import Event
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict


class Oracle(Protocol):
    """Registered under `holdfast.oracles`; the built-in ones live in `harness.oracles`, one per file.

    Attributes:
        name: such as `CUT`.
        invariant: one sentence, in the present tense.
        clauses: clause name to one sentence on what violates it. A verdict names no other.
        evidence: event kinds that it needs; a system that does not supply them makes its rules UNOBSERVED.

    One with an attribute `title`, a few words in lower case such as `consistent cut`, is shown with it in reports,
    beside its name, which stored runs, rules and other programs use.

    One with an attribute `observed`, a set of clauses, states which of them it decides by what was seen from outside:
    input, committed output, storage, faults. Any other is decided on the word of the system under test, unless an
    adapter reads all its `evidence` elsewhere.

    One with an attribute `clause_evidence`, by clause the event kinds that it needs beside `evidence`, judges a
    system that lacks some of these by its other clauses.

    One with a method `claimed(clause, claims)` decides whether a clause is about something that a system with these
    claims promises. A rule that only other clauses would decide is not applicable.

    One with an attribute `sees_superseded` that is true is also given the events of coordinators after they were
    superseded (see `model.history.superseded`).
    """

    name: str
    invariant: str
    clauses: Mapping[str, str]
    evidence: tuple[type[Event], ...]

    def applies(self, history: History) -> bool:
        """Whether it has anything to say about this job and these claims."""

    def judge(self, history: History) -> Verdict:
        """Judge a run. Must not modify the history, order two nodes by timestamps, or raise on a strange history:
        an exception counts as inconclusive."""


def titles_of(oracles: Iterable[Oracle]) -> dict[str, str]:
    """By name, the titles of those that have one."""
    return {oracle.name: title for oracle in oracles if (title := getattr(oracle, "title", ""))}
