"""MERGES: the golden run of seeds/001 (rule INC-04), with two checkpoints retained.

CP1 stores the files 1 and 2, CP2 3 and 4 besides. For CP3 the backend merges 1, 2 and 3 into 123 and adds 5, for CP4 it
merges 4, 5 and what is new into 456. Files 1, 2 and 3 go with CP2, the last checkpoint that uses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from holdfast.harness.model import events, profile
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings

BACKEND = "holdfast.fixtures.backends.named_files:GoldenFilesBackend"
CHECKPOINT_FILES: Mapping[int, Set[str]] = {
    1: {"1", "2"},
    2: {"1", "2", "3", "4"},
    3: {"123", "4", "5"},
    4: {"123", "456"},
}
"""By checkpoint, what it refers to."""
LIVE_FILES: Mapping[int, Set[str]] = {
    1: {"1", "2"},
    2: {"1", "2", "3", "4"},
    3: {"1", "2", "3", "4", "123", "5"},
    4: {"4", "5", "123", "456"},
}
"""By checkpoint, what is stored behind it, when the one that it makes surplus is gone."""
USES: Mapping[int, Mapping[str, int]] = {
    1: {"1": 1, "2": 1},
    2: {"1": 2, "2": 2, "3": 1, "4": 1},
    3: {"1": 1, "2": 1, "3": 1, "4": 2, "123": 1, "5": 1},
    4: {"4": 1, "5": 1, "123": 2, "456": 1},
}
"""By checkpoint, how many retained ones use each file then: the reference counts of Flink 1.14."""


class MergesOracle:
    """Compares each subtask's files with the golden run."""

    name = "MERGES"
    title = "golden run of shared files"
    invariant = "CP1 to CP4 of the golden run refer to its files, keep its files and count its uses, and no others."
    clauses: Mapping[str, str] = {
        "checkpoint-files": "a checkpoint refers to other files than in the golden run",
        "live-files": "other files are stored behind a checkpoint than in the golden run",
        "uses": "a file has another number of uses behind a checkpoint than in the golden run",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.AckSent, events.CheckpointCompleted, events.StorageObserved, events.SharedStateRegistered,
    )  # fmt: skip
    observed = frozenset({"live-files"})

    def applies(self, history: History) -> bool:
        return history.plan.options.get(profile.BACKEND) == BACKEND

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        completed = {event.checkpoint: event for event in history.of(events.CheckpointCompleted)}
        acks = [ack for ack in history.of(events.AckSent) if ack.shared]
        for ack in acks:
            golden = CHECKPOINT_FILES.get(ack.checkpoint)
            if golden is not None and ack.checkpoint in completed:
                findings.check("checkpoint-files")
                found = {handle.name for handle in ack.shared}
                if found != golden:
                    message = f"checkpoint {ack.checkpoint} of {ack.subtask} refers to {_words(found)}"
                    findings.violated("checkpoint-files", f"{message}, golden is {_words(golden)}", ack)
        _judge_live(history, acks, findings)
        _judge_uses(history, findings)
        return findings.verdict(history)


def _judge_live(history: History, acks: list[events.AckSent], findings: Findings) -> None:
    """What the harness sees when the next checkpoint has completed, but for what that one brought."""
    brought = {
        handle.file.path: (ack.subtask, handle.name, ack.checkpoint)
        for ack in acks
        for handle in ack.shared
        if handle.file is not None
    }
    subtasks = sorted({ack.subtask for ack in acks})
    for look in history.of(events.StorageObserved):
        golden = LIVE_FILES.get(look.checkpoint - 1)
        if golden is None:
            continue
        for subtask in subtasks:
            there = [brought[path] for path in look.paths if path in brought]
            found = {name for of, name, checkpoint in there if of == subtask and checkpoint < look.checkpoint}
            findings.check("live-files")
            if found != golden:
                message = f"behind checkpoint {look.checkpoint - 1}, {_words(found)} of {subtask} are stored"
                findings.violated("live-files", f"{message}, golden is {_words(golden)}", look)


def _judge_uses(history: History, findings: Findings) -> None:
    """What the registry reports, as it stands when the next checkpoint begins."""
    uses: dict[str, dict[str, int]] = {}
    kinds = (events.SharedStateRegistered, events.SharedStateReleased, events.CheckpointTriggered)
    for event in history.of_kinds(kinds):
        if isinstance(event, events.SharedStateRegistered | events.SharedStateReleased):
            for file in event.files:
                subtask, _, name = file.key.partition("/")
                uses.setdefault(subtask, {})[name] = file.uses
        elif isinstance(event, events.CheckpointTriggered) and event.checkpoint - 1 in USES:
            golden = USES[event.checkpoint - 1]
            for subtask, counted in uses.items():
                findings.check("uses")
                found = {name: count for name, count in counted.items() if count}
                if found != golden:
                    message = (
                        f"behind checkpoint {event.checkpoint - 1}, {subtask} has uses {found}, golden is {golden}"
                    )
                    findings.violated("uses", message, event)


def _words(names: Set[str]) -> str:
    return ", ".join(sorted(names, key=lambda name: (len(name), name))) or "none"


ORACLES = (MergesOracle(),)
"""Registered under `holdfast.oracles`."""
