"""STATE: what completed checkpoints hold, read back from storage, is the fold of the input before them, as far as its
windows are not over (RULES BAR-05, REC-03, REC-07).

It needs no trace of channels and barriers, so it also judges systems that are known by their checkpoints alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.events import (
    ChannelStateRestored,
    CheckpointAudited,
    CheckpointCompleted,
    Event,
    SnapshotTaken,
    SubtaskAudited,
    SubtaskMoved,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import STATEFUL, VertexKind
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.barriers.held_state import judge_held, judge_places
from holdfast.harness.oracles.barriers.open_windows import CLAUSES, judge_open_windows
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.checkpoints import CheckpointId, by_checkpoint
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.layout import Layouts
from holdfast.harness.oracles.shared.lineage import is_plain
from holdfast.harness.oracles.shared.state_fold import MODULUS, StateFold, held_by

_JUDGED = ([VertexKind.KEYED_SUM], [VertexKind.DELAYED_SUM], [VertexKind.WINDOW_SUM])

_CLAUSES: Mapping[str, str] = {
    "state-extra": "the state of a checkpoint holds a record behind its source positions, or one of them twice",
    "state-missing": "the state of a checkpoint lacks a record before its source positions",
    "key-wrong": "all keys together hold what they must, and one of them not the sum of its own records",
    **CLAUSES,
    "state-unreadable": "the state of a completed checkpoint cannot be read back",
}


class StateOracle:
    """Decides what keyed sums, and those of event-time windows, say that were read back from storage."""

    name = "STATE"
    title = "stored state"
    invariant = "State read back from a completed checkpoint holds each record before its source positions once."
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (CheckpointCompleted, CheckpointAudited, SubtaskAudited)
    observed = frozenset(_CLAUSES)

    def applies(self, history: History) -> bool:
        """Whether the stateful operators are sums that the oracle can compute from the input."""
        job = history.plan.job
        kinds = [vertex.kind for vertex in job.of_kind(*STATEFUL, VertexKind.MINI_BATCH)]
        return bool(history.claims.state) and is_plain(job) and kinds in _JUDGED

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        checkpoint_of = history.derived(Submissions).checkpoint_of
        completed = by_checkpoint(history, CheckpointCompleted).first
        _judge_reading(history, findings)
        if any(event.skipped for event in history.of(ChannelStateRestored)):
            return findings.verdict(history)  # Something was left out on purpose
        unaligned = {event.checkpoint for event in history.of(SnapshotTaken) if event.unaligned}
        audited: dict[tuple[CheckpointId, str, type[Event]], list[SubtaskAudited | SubtaskMoved]] = {}
        layouts = history.derived(Layouts)
        audits: list[SubtaskAudited | SubtaskMoved] = [*history.of(SubtaskAudited), *history.of(SubtaskMoved)]
        sums = {attempt: frozenset(layouts.at(attempt).sums) for attempt in {each.attempt for each in audits}}
        for subtask in audits:
            if subtask.subtask in sums[subtask.attempt] and subtask.checkpoint not in unaligned:
                audited.setdefault((checkpoint_of(subtask), subtask.node, type(subtask)), []).append(subtask)
        fold: StateFold | None = None
        by_key = cache(partial(_by_key, history.inputs))  # Most checkpoints are audited more than once.
        for (checkpoint, _, _), subtasks in audited.items():
            done = completed.get(checkpoint)
            if done is not None and len(subtasks) == len(layouts.of(done).sums):
                fold = fold or StateFold(history.inputs, history.plan.digest_key)
                _judge_state(history, fold, done, subtasks, by_key, findings)
        return findings.verdict(history)


def _judge_reading(history: History, findings: Findings) -> None:
    if Guarantee.NO_LOSS not in history.claims.state:
        return
    exempt, claimed = exemptions(history), claimed_snapshots(history)
    checkpoint_of = history.derived(Submissions).checkpoint_of
    completed = by_checkpoint(history, CheckpointCompleted).first
    for audit in history.of(CheckpointAudited):
        done = completed.get(checkpoint_of(audit))
        gone = claimed.broke(history, audit) or claimed.dropped(history, audit)
        if done is not None and not gone and not exempt.hold(audit, *exempt.objects_of(audit)):
            findings.check("state-unreadable")
            if audit.problem:
                message = f"checkpoint {audit.checkpoint} cannot be read back: {audit.problem}"
                findings.violated("state-unreadable", message, done, audit)


def _judge_state(
    history: History,
    fold: StateFold,
    done: CheckpointCompleted,
    subtasks: Sequence[SubtaskAudited | SubtaskMoved],
    by_key: Callable[[tuple[int, ...]], Mapping[str, int]],
    findings: Findings,
) -> None:
    positions = dict(enumerate(done.positions))
    states = [subtask.state for subtask in subtasks if subtask.state is not None]
    if len(states) != len(subtasks) or not fold.covers(positions):
        return
    where = f"checkpoint {done.checkpoint}, read back from storage,"
    witness = (done, *subtasks)
    if history.plan.job.of_kind(VertexKind.WINDOW_SUM):
        judge_open_windows(history, fold, done, states, where, witness, findings)
        return
    exact = judge_held(history, fold, fold.below(positions), held_by(states), where, witness, findings)
    shown = [state.entries for state in states if state.entries is not None]
    if not exact or len(shown) != len(states):
        return
    held: dict[str, int] = {}
    for entries in shown:
        for key, value in entries.items():
            held[key] = (held.get(key, 0) + value) % MODULUS
    judge_places(held, by_key(done.positions), "key {!r}".format, where, witness, findings)


def _by_key(inputs: InputLog, positions: tuple[int, ...]) -> dict[str, int]:
    """By key that has a record before the positions, the sum of its values modulo 2**64."""
    sums, seen = np.zeros(len(inputs.keys), np.uint64), np.zeros(len(inputs.keys), bool)
    firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
    for partition, first, end in zip(inputs.partitions, firsts, positions, strict=True):
        key = partition.key[first:end]
        np.add.at(sums, key, partition.value[first:end].astype(np.uint64))
        seen[key] = True
    codes = np.flatnonzero(seen)
    return {inputs.keys[code]: total for code, total in zip(codes.tolist(), sums[codes].tolist(), strict=True)}
