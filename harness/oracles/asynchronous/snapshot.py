"""SNAPSHOT: the synchronous and the asynchronous part of snapshots, and what becomes of those that fail (RULES ASY)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import (
    AckSent,
    BarrierSent,
    BatchProcessed,
    Event,
    FileWritten,
    JobSubmitted,
    SnapshotReleased,
    SnapshotTaken,
    StorageFailed,
    StorageListed,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Vertex, VertexKind
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.submitted_jobs import programs
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.asynchronous.snapshot_trace import Part, SnapshotTrace
from holdfast.harness.oracles.asynchronous.stored_files import leaked_files
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.exemptions import Exemptions, exemptions
from holdfast.harness.oracles.shared.options import synchronous_snapshots

FEWEST_PAGES = 1_000
"""State with so many keys as the input has is kept in this many pages at least, or each key on its own."""
STALLED_UPLOADS = 3
"""So many times of uploads during which nothing is processed are no accident."""
WRITE_STATE, FIX_STATE = "write-state", "fix-state"
"""The asynchronous and the synchronous part, as failed operations of a storage name them."""
_COUNTABLE = (VertexKind.KEYED_SUM, VertexKind.JOIN)
"""Kinds that change an entry with every batch."""


class SnapshotOracle:
    """Follows the snapshot of each subtask from its cut until its state is durable or given up."""

    name = "SNAPSHOT"
    title = "asynchronous snapshots"
    invariant = "State is fixed at once and stored beside the records; what is not durable is not acknowledged."
    clauses: Mapping[str, str] = {
        "acked-before-durable": "a subtask acknowledges state that is not stored yet",
        "barrier-after-upload": "a barrier does not leave a subtask before its own state is stored",
        "stood-while-uploading": "no subtask ever processes a batch while its state is being stored",
        "processed-while-writing": "a batch is processed while state is written synchronously",
        "async-error-swallowed": "storing the state fails, and the subtask does not decline the checkpoint",
        "sync-error-swallowed": "fixing the state fails, and the subtask does not fail",
        "freed-too-early": "the version of a snapshot is freed before it is durable or given up",
        "versions-kept": "the version of a snapshot is not freed when it is durable or given up",
        "kept-wrong": "a version keeps entries that nothing changed since its cut, or none of those that were changed",
        "aborted-file-left": "a file that no checkpoint names is in the storage at the end",
    }
    evidence: tuple[type[Event], ...] = (SnapshotTaken, AckSent, BarrierSent, BatchProcessed)
    observed = frozenset({"aborted-file-left"})

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        exempt = exemptions(history)
        trace = SnapshotTrace(history, exempt)
        for part in trace.parts.values():
            if part.acked is not None:
                _judge_ack(trace, part, part.acked, findings)
            if part.stored is not None and part.barriers:
                _judge_barrier(part, part.stored, findings)
            if part.released is not None:
                _judge_release(trace, part, part.released, findings)
                _judge_kept(history, trace, part, part.released, findings)
            elif trace.left_open(part):
                taken, acked = part.taken, part.acked
                message = f"{taken.subtask} never frees the version of checkpoint {taken.checkpoint}"
                findings.violated("versions-kept", message, taken, *([acked] if acked else []))
        if synchronous_snapshots(history.plan):
            _judge_standing(trace, findings)
        else:
            _judge_progress(trace, findings)
        _judge_errors(history, trace, findings)
        _judge_files(history, exempt, findings)
        return findings.verdict(history)


def _judge_ack(trace: SnapshotTrace, part: Part, ack: AckSent, findings: Findings) -> None:
    """Files that an ack names were written before; state that is not empty is somewhere."""
    taken = part.taken
    stateful = _stateful(taken)
    if not stateful and not ack.files:
        return
    findings.check("acked-before-durable")
    missing = trace.missing_files(ack)
    if missing:
        message = f"{ack.subtask} acknowledges checkpoint {ack.checkpoint} before {', '.join(missing)} is written"
        findings.violated("acked-before-durable", message, taken, ack)
    elif stateful and not (ack.files or ack.inline_bytes or ack.shared):
        message = f"{ack.subtask} acknowledges checkpoint {ack.checkpoint} without the state that it holds"
        findings.violated("acked-before-durable", message, taken, ack)


def _stateful(taken: SnapshotTaken) -> bool:
    """Whether there was state at a cut; what is empty is stored nowhere."""
    return taken.state is not None and taken.state.records > 0


def _adds_nothing(ack: AckSent | None) -> bool:
    """Whether all state is in files of earlier checkpoints: an increment of nothing is stored nowhere."""
    if ack is None or not ack.shared:
        return False
    stored = {file.path for file in ack.files}
    return not any(each.inline or (each.file is not None and each.file.path in stored) for each in ack.shared)


def _judge_barrier(part: Part, stored: FileWritten | AckSent, findings: Findings) -> None:
    """The barrier is forwarded with the cut, whatever the upload takes."""
    findings.checked["barrier-after-upload"] += 1
    last = part.barriers[-1]
    if last.sequence > stored.sequence:
        message = f"{part.taken.subtask} sends barrier {part.taken.checkpoint} only after its own state is stored"
        findings.violated("barrier-after-upload", message, part.taken, stored, last)


def _judge_release(trace: SnapshotTrace, part: Part, released: SnapshotReleased, findings: Findings) -> None:
    """Not before the state is stored, and no other version stays."""
    taken = part.taken
    if isinstance(part.stored, FileWritten) and _stateful(taken) and not _adds_nothing(part.acked):
        findings.check("freed-too-early")
        if released.sequence < part.stored.sequence:
            message = f"{taken.subtask} frees the version of checkpoint {taken.checkpoint}, which is not stored yet"
            findings.violated("freed-too-early", message, taken, released, part.stored)
    findings.check("versions-kept")
    still_open = trace.open_at(released)
    if released.open_versions > still_open:
        message = (
            f"{released.subtask} keeps {plural(released.open_versions, 'version')}, "
            f"{plural(still_open, 'snapshot is', 'snapshots are')} open"
        )
        findings.violated("versions-kept", message, released)


def _judge_kept(
    history: History, trace: SnapshotTrace, part: Part, released: SnapshotReleased, findings: Findings
) -> None:
    """As many pages as were changed: none if nothing was processed, some if something was, never more than that. How
    large a page is the system reports; that a page is a small part of the state is known without it."""
    kept_entries = released.kept_entries
    if kept_entries is None:
        return
    if vertex_of(history, part.taken).kind not in _COUNTABLE or not trace.has_inputs(part.taken.subtask):
        return
    batches, records = trace.processed_between(part.taken, released)
    findings.check("kept-wrong")
    page = min(released.page_entries, max(1, len(history.inputs.keys) // FEWEST_PAGES))
    if kept_entries > records * page or (batches and not kept_entries):
        message = (
            f"the version of checkpoint {released.checkpoint} keeps "
            f"{plural(kept_entries, 'entry', 'entries')} of {released.subtask}, in pages of "
            f"{page} at most, which processed {plural(records, 'record')} since its cut"
        )
        findings.violated("kept-wrong", message, part.taken, released)


def _judge_progress(trace: SnapshotTrace, findings: Findings) -> None:
    """Records are processed beside uploads: of those that are longer than the usual pause, one at least sees some. That
    none of them does is held against the subtask where they are longer than any other pause."""
    uploads = [(part, part.stored) for part in trace.parts.values() if part.stored is not None]
    busy = [part for part, end in uploads if trace.lasts(part, end) and trace.processed_between(part.taken, end)[0]]
    if busy:
        findings.check("stood-while-uploading", len(busy))
        return
    owing = [part for part, end in uploads if trace.owes(part, end)]
    if _moments(owing) >= STALLED_UPLOADS:
        findings.check("stood-while-uploading", len(owing))
        first = owing[0]
        message = f"nothing is processed during {len(owing)} uploads that last far longer than any other pause"
        findings.violated("stood-while-uploading", message, first.taken, *([first.stored] if first.stored else []))


def _moments(parts: list[Part]) -> int:
    """How often uploads were under way on a node, in different checkpoints: what happens at one time to all subtasks of
    a node, or to those that take part in one checkpoint, is one accident, such as sources that fetch nothing."""
    until_ns: dict[str, int] = {}
    moments = 0
    for part in sorted(parts, key=lambda each: each.taken.time_ns):
        node, end_ns = part.taken.node, part.stored.time_ns if part.stored else part.taken.time_ns
        moments += part.taken.time_ns > until_ns.get(node, -1)
        until_ns[node] = max(until_ns.get(node, -1), end_ns)
    return min(moments, len({(part.taken.attempt, part.taken.checkpoint) for part in parts}))


def _judge_standing(trace: SnapshotTrace, findings: Findings) -> None:
    """Everything waits for a synchronous write."""
    for part in trace.parts.values():
        released = part.released
        if released is None:
            continue
        if trace.interrupts(part, released):
            findings.check("processed-while-writing")
        if trace.processed_between(part.taken, released)[0]:
            message = f"{released.subtask} processes a batch while checkpoint {released.checkpoint} is being written"
            findings.violated("processed-while-writing", message, part.taken, released)


def _judge_errors(history: History, trace: SnapshotTrace, findings: Findings) -> None:
    """An error of the asynchronous part declines, one of the synchronous part fails the task."""
    for failed in history.of(StorageFailed):
        if not failed.subtask or not trace.goes_on_after(failed):
            continue
        if failed.operation == WRITE_STATE and not trace.given_up_before(failed):
            findings.check("async-error-swallowed")
            if not trace.declined(failed):
                message = f"{failed.subtask} cannot store checkpoint {failed.checkpoint} and does not decline it"
                findings.violated("async-error-swallowed", message, failed)
        elif failed.operation == FIX_STATE:
            findings.check("sync-error-swallowed")
            if not trace.stopped_after(failed):
                message = f"{failed.subtask} cannot fix its state for a checkpoint and continues"
                findings.violated("sync-error-swallowed", message, failed)


def _judge_files(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Whether no worker died, nor left with a cluster that another one replaced: a file that it was writing would stay,
    and no other process knows of it."""
    workers = {event.node for event in history.of(SnapshotTaken)}
    gone = not exempt.dead.isdisjoint(workers) or len(history.of(JobSubmitted)) > 1
    if gone or not history.of(StorageListed):
        return
    files = leaked_files(history, exempt)
    if files is None:
        return
    findings.check("aborted-file-left", len(history.of(FileWritten)))
    if files:
        findings.violated("aborted-file-left", f"{', '.join(files[:3])}: no checkpoint names it, and it is still there")


def vertex_of(history: History, taken: SnapshotTaken) -> Vertex:
    """The vertex of a subtask, which a job that was submitted later may name otherwise."""
    name, place = taken.subtask.partition("[")[0], history.derived(Submissions).of(taken) - 1
    jobs = programs(history.plan)
    job = jobs[place] if 0 <= place < len(jobs) else history.plan.job
    return job.vertex(name)
