"""PLACE: each query keeps its progress in a folder of its own, where the environment finds it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.harness.model.events import CheckpointFolderSeen, Event, QueryStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings

_CLAUSES: Mapping[str, str] = {
    "folder-shared": "two queries that run side by side keep their progress in one checkpoint folder",
    "written-elsewhere": "a query keeps its progress outside the checkpoint folder that it was given",
    "not-written": "a query finished a micro-batch, and left nothing in the checkpoint folder that it was given",
}


class PlaceOracle:
    """Reads what queries name as their folder, and what an outside reader saw there.

    A query may name a folder below the one that it was given. Only the place of the query whose output is judged
    matters: what shows rows on a screen, beside it, may forget where it was.
    """

    name = "PLACE"
    title = "place of the checkpoint"
    invariant = "Each query keeps its progress in a checkpoint folder that is its own, and is the one it was given."
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (QueryStarted,)
    clause_evidence: Mapping[str, tuple[type[Event], ...]] = {"not-written": (CheckpointFolderSeen,)}

    def applies(self, history: History) -> bool:
        return bool(history.of(QueryStarted) or history.of(CheckpointFolderSeen))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        started = history.of(QueryStarted)
        _judge_sharing(started, findings)
        for event in started:
            if event.judged:
                findings.check("written-elsewhere")
            if event.judged and not _within(event.folder, event.given):
                message = f"query {event.query} keeps its progress in {event.folder}, and was given {event.given}"
                findings.violated("written-elsewhere", message, event)
        for seen in history.of(CheckpointFolderSeen):
            findings.check("not-written")
            if not seen.files:
                message = f"the query has finished a micro-batch, and nothing is in {seen.folder}"
                findings.violated("not-written", message, seen)
        return findings.verdict()


def _judge_sharing(started: Iterable[QueryStarted], findings: Findings) -> None:
    """Runs of one start live at one time; a later start takes the folder of a former one over, as it must."""
    first: dict[tuple[int, str], QueryStarted] = {}
    for event in started:
        findings.check("folder-shared")
        before = first.setdefault((event.start, event.folder.rstrip("/")), event)
        if before.run != event.run:
            message = f"two queries (runs {before.run} and {event.run}) keep their progress in {event.folder}"
            findings.violated("folder-shared", message, before, event)


def _within(checkpoint: str, given: str) -> bool:
    return f"{checkpoint.rstrip('/')}/".startswith(f"{given.rstrip('/')}/")
