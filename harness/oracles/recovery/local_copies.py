"""LOCAL: local copies of state make a restore quicker, and decide nothing (RULES LOC).

What lies on a local disk, and what was done to it, is seen from outside; so is what is read from the checkpoint storage
where that is simulated. A copy is whole once its worker has reported that it is written.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.history import History
from holdfast.harness.model.topology import process_of
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.stated_options import texts

WRITE_LOCAL, READ_LOCAL, WRITE_STATE = "write-local", "read-local", "write-state"
Copy = tuple[int, str, int]
"""Job, subtask and checkpoint."""


class LocalOracle:
    """Follows each copy from its writing to its end."""

    name = "LOCAL"
    title = "local copies"
    invariant = "An intact local copy of the restored state is used; any other counts as absent, and fails nothing."
    clauses: Mapping[str, str] = {
        "kept-though-off": "a local copy is written or used where that is off, or excluded",
        "local-failure-counts": "a checkpoint is declined because its local copy could not be written",
        "acked-unstored": "a subtask acknowledges state that it failed to store in the checkpoint storage",
        "spoilt-copy-used": "a subtask restores from a local copy that is damaged, or of other state",
        "spoilt-copy-fatal": "a subtask fails to restore because its local copy is spoilt",
        "intact-copy-unused": "state is read from the checkpoint storage though there is an intact local copy of it",
        "copy-left": "a local copy lies there though two newer checkpoints have completed",
        "moved": "a subtask starts on another worker, though its former one takes part in the attempt",
    }
    evidence: tuple[type[events.Event], ...] = (events.LocalCopyWritten, events.LocalCopyUsed, events.TaskStarted)
    observed = frozenset({"copy-left"})

    def applies(self, history: History) -> bool:
        return bool(_enabled(history, profile.LOCAL_BACKUP, profile.LOCAL_RECOVERY) or _copies(history))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        _judge_off(history, findings)
        _judge_failures(history, findings)
        trace = _Trace(history)
        trace.judge_use(findings)
        trace.judge_fatal(findings)
        trace.judge_disks(findings)
        _judge_places(history, findings)
        return findings.verdict(history)


def _enabled(history: History, *keys: str) -> bool:
    """Whether one of these flags is on."""
    said = texts(history.plan)
    return any(said.get(key, "").lower() == "true" for key in keys)


def _excluded(history: History) -> bool:
    """Whether there is to be no local copy, whatever is configured: without a directory state is in memory."""
    said = texts(history.plan)
    in_memory = not said.get(profile.DIRECTORY) or said.get(profile.STORAGE, "").lower() == "jobmanager"
    counted = said.get(profile.MODE, "").replace("-", "_").upper() == "AT_LEAST_ONCE"
    return in_memory or (said.get(profile.UNALIGNED, "").lower() == "true" and not counted)


def _copies(history: History) -> list[events.LocalCopyWritten | events.LocalCopyUsed]:
    return [*history.of(events.LocalCopyWritten), *history.of(events.LocalCopyUsed)]


def _judge_off(history: History, findings: Findings) -> None:
    on = _enabled(history, profile.LOCAL_BACKUP, profile.LOCAL_RECOVERY)
    if on and not _excluded(history):
        return
    findings.check("kept-though-off")
    found = _copies(history)
    listed = [each for each in history.of(events.LocalDiskListed) if each.paths]
    if found or listed:
        why = "excluded" if on else "off"
        findings.violated("kept-though-off", f"local copies are {why}, and there are some", *found[:1], *listed[:1])


def _judge_failures(history: History, findings: Findings) -> None:
    """What a failed write, local or remote, leads to; a process knows of its own writes."""
    failed: dict[tuple[str, str, int], set[str]] = {}
    for event in history.of_kinds((events.StorageFailed, events.AckSent, events.DeclineSent)):
        if isinstance(event, events.StorageFailed):
            operations = failed.setdefault((event.node, event.subtask, event.checkpoint), set())
            by_itself = event.injected or not operations  # Else it fails because its local copy did.
            if event.operation == WRITE_LOCAL or (event.operation == WRITE_STATE and by_itself):
                operations.add(event.operation)
            continue
        assert isinstance(event, events.AckSent | events.DeclineSent)
        operations = failed.get((event.node, event.subtask, event.checkpoint), set())
        if operations == {WRITE_LOCAL}:
            findings.check("local-failure-counts")
            if isinstance(event, events.DeclineSent):
                message = f"{event.subtask} declines checkpoint {event.checkpoint}, of which only the local copy failed"
                findings.violated("local-failure-counts", message, event)
        elif WRITE_STATE in operations:
            findings.check("acked-unstored")
            if isinstance(event, events.AckSent):
                message = f"{event.subtask} acknowledges checkpoint {event.checkpoint}, which it failed to store"
                findings.violated("acked-unstored", message, event)


class _Trace:
    """Copies as they were written and spoilt.

    Attributes:
        written: by process, job, subtask and checkpoint, the copy.
        latest: by process and path, the copy that was written there last.
        spoilt: by process and path, that the harness has changed it.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.job_of = history.derived(Submissions).of
        self.written: dict[tuple[str, Copy], events.LocalCopyWritten] = {}
        self.latest: dict[tuple[str, str], events.LocalCopyWritten] = {}
        self.spoilt: dict[tuple[str, str], events.LocalCopySpoilt] = {}
        for event in history.of(events.LocalCopyWritten):
            copy = self.job_of(event), event.subtask, event.checkpoint
            self.written[process_of(event.node), copy] = event
            self.latest[process_of(event.node), event.path] = event

    def judge_use(self, findings: Findings) -> None:
        """What each restore reads, and where."""
        history = self.history
        used: dict[tuple[int, str], events.LocalCopyUsed] = {}
        hindered: set[tuple[str, str]] = set()
        read: dict[str, set[str]] = {}
        looking = _enabled(history, profile.LOCAL_RECOVERY) and not _excluded(history)
        kinds = (
            events.LocalCopySpoilt, events.LocalCopyUsed, events.StorageFailed, events.StateFileRead,
            events.TaskStarted,
        )  # fmt: skip
        for event in history.of_kinds(kinds):
            if isinstance(event, events.LocalCopySpoilt):
                self.spoilt.update({(f"worker-{event.worker}", path): event for path in event.paths})
            elif isinstance(event, events.LocalCopyUsed):
                used[event.attempt, event.subtask] = event
                self._judge_used(event, findings)
            elif isinstance(event, events.StorageFailed):
                if event.operation == READ_LOCAL:
                    hindered.add((event.node, event.subtask))
            elif isinstance(event, events.StateFileRead):
                read.setdefault(event.reader, set()).add(event.path)
            elif isinstance(event, events.TaskStarted) and looking and (event.node, event.subtask) not in hindered:
                known = used.get((event.attempt, event.subtask))
                self._judge_started(event, known, read.get(event.node, set()), findings)

    def _judge_used(self, event: events.LocalCopyUsed, findings: Findings) -> None:
        process = process_of(event.node)
        findings.check("spoilt-copy-used")
        spoilt = self.spoilt.get((process, event.path))
        if spoilt is not None:
            message = f"{event.subtask} restores from {event.path}, which was spoilt ({spoilt.way})"
            findings.violated("spoilt-copy-used", message, spoilt, event)
            return
        written = self.latest.get((process, event.path))
        if written is None or (written.subtask, written.checkpoint) != (event.subtask, event.checkpoint):
            message = f"{event.subtask} restores checkpoint {event.checkpoint} from {event.path}, no copy of it"
            findings.violated("spoilt-copy-used", message, event)

    def _judge_started(
        self, event: events.TaskStarted, used: events.LocalCopyUsed | None, read: set[str], findings: Findings
    ) -> None:
        if event.restored_checkpoint is None or event.finished:
            return
        process = process_of(event.node)
        copy = self.written.get((process, (self.job_of(event), event.subtask, event.restored_checkpoint)))
        if copy is None or (process, copy.path) in self.spoilt or self.latest[process, copy.path] is not copy:
            return
        findings.check("intact-copy-unused")
        if used is None:
            message = f"{event.subtask} starts attempt {event.attempt} without the intact local copy at {copy.path}"
            findings.violated("intact-copy-unused", message, copy, event)
        elif not read.isdisjoint(copy.files):
            message = f"{event.subtask} uses its local copy, and {event.node} reads the same state from the storage"
            findings.violated("intact-copy-unused", message, copy, event)
        read.difference_update(copy.files)

    def judge_fatal(self, findings: Findings) -> None:
        """Who has a spoilt copy restores all the same."""
        history = self.history
        started = {(event.attempt, event.subtask) for event in history.of(events.TaskStarted)}
        restored = {event.attempt: event.restored_checkpoint for event in history.of(events.AttemptStarted)}
        copies = {
            (event.subtask, event.checkpoint): self.spoilt[process, event.path]
            for (process, _), event in self.written.items()
            if (process, event.path) in self.spoilt
        }
        findings.check("spoilt-copy-fatal", len(copies))
        for event in history.of(events.FailureCounted):
            spoilt = copies.get((event.subtask, restored.get(event.attempt) or 0))
            if spoilt is not None and (event.attempt, event.subtask) not in started:
                message = f"{event.subtask} fails in its restore behind a local copy that was spoilt: {event.cause}"
                findings.violated("spoilt-copy-fatal", message, spoilt, event)

    def judge_disks(self, findings: Findings) -> None:
        """What lies there in the end."""
        completed: dict[tuple[int, str], set[int]] = {}
        for event in self.history.of(events.NotificationReceived):
            if event.completed:
                completed.setdefault((self.job_of(event), event.subtask), set()).add(event.checkpoint)
        copies = {(process, event.path): (copy, event) for (process, copy), event in self.written.items()}
        for listed in self.history.of(events.LocalDiskListed):
            findings.check("copy-left")
            for path in listed.paths:
                (job, subtask, checkpoint), written = copies.get((f"worker-{listed.worker}", path), ((0, "", 0), None))
                newer = [each for each in completed.get((job, subtask), ()) if each > checkpoint]
                if written is not None and len(newer) > 1:
                    message = (
                        f"{path} lies there, and {subtask} has heard that {len(newer)} newer checkpoints completed"
                    )
                    findings.violated("copy-left", message, written, listed)


def _judge_places(history: History, findings: Findings) -> None:
    """Subtasks return to where their copies are, as far as there is a worker."""
    if not _enabled(history, profile.LOCAL_RECOVERY):
        return
    job_of = history.derived(Submissions).of
    attempts: dict[int, dict[str, events.TaskStarted]] = {}
    for event in history.of(events.TaskStarted):
        attempts.setdefault(event.attempt, {})[event.subtask] = event
    former: dict[str, events.TaskStarted] = {}
    for _, started in sorted(attempts.items()):
        present = {process_of(event.node) for event in started.values()}
        for subtask, event in started.items():
            before = former.get(subtask)
            if before is None or job_of(before) != job_of(event):
                continue
            findings.check("moved")
            if process_of(before.node) != process_of(event.node) and process_of(before.node) in present:
                message = f"{subtask} starts on {event.node}, and was on {before.node}, which is free"
                findings.violated("moved", message, before, event)
        former |= started
