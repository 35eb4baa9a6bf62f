"""Splits that an enumerator assigns: each is in one part of every checkpoint, from its first listing on (RULES E2E-05,
C4 of BUGS).

What the source system lists is seen at its boundary. A listing may leave splits out, so a checkpoint must hold those
that the same life of the coordinator was given in any listing before it triggered it, and those of the checkpoint that
it went on from. Whoever is given a split was assigned it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.checkpoints import CheckpointId, by_checkpoint, triggered_by
from holdfast.harness.oracles.ledger.parts import by_part
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.layout import Layouts
from holdfast.harness.oracles.shared.options import NS_PER_MS

CLAUSES: Mapping[str, str] = {
    "split-lost": "a checkpoint completes that holds a listed split neither with a reader nor with the enumerator",
    "split-not-listed": "a job runs after the heal and never lists its splits again, though one was left out",
    "split-twice": "a checkpoint completes that holds a split more than once",
    "split-mistaken": "a reader is given other splits than it was assigned in its attempt",
    "split-assigned-again": "splits are assigned again and again to a reader that has them",
}
KNOWN_NS = 100 * NS_PER_MS
"""After so long an enumerator knows what a reader has, where nothing else keeps the machine busy."""
FEWEST_AGAIN = 4
_LISTED_AFTER = 2
"""So many checkpoints complete after the heal in a run that had the time to list its splits again."""


def judge_assignments(history: History, findings: Findings) -> None:
    """Hold what readers were given against what they were assigned.

    An enumerator sends what is not confirmed again, so a few times more are right. A coordinator that died may not have
    written down what it assigned.
    """
    assigned: dict[tuple[int, str], list[events.SplitsAssigned]] = {}
    for each in history.of(events.SplitsAssigned):
        assigned.setdefault((each.attempt, each.subtask), []).append(each)
    exempt = exemptions(history)
    died = {started.attempt for started in history.of(events.AttemptStarted) if started.node in exempt.dead}
    seen: set[tuple[int, str, tuple[int, ...]]] = set()
    for received in history.of(events.SplitsReceived):
        known = assigned.get((received.attempt, received.subtask), [])
        same = [each for each in known if each.splits == received.splits]
        if not same and received.attempt in died:
            continue
        findings.check("split-mistaken")
        if not same:
            message = f"{received.subtask} is given splits {received.splits}, which it was not assigned"
            findings.violated("split-mistaken", message, *known, received)
        key = (received.attempt, received.subtask, received.splits)
        if exempt.real_time or key in seen:
            continue
        seen.add(key)
        known_ns = _known_ns(history, received)
        if known_ns is None:
            continue
        findings.check("split-assigned-again")
        again = [each for each in same if each.time_ns > known_ns]
        if len(again) >= FEWEST_AGAIN:
            message = f"splits {received.splits} are assigned {len(again)} times to {received.subtask}, which has them"
            findings.violated("split-assigned-again", message, received, again[-1])


def _known_ns(history: History, received: events.SplitsReceived) -> int | None:
    """When, in nanoseconds, the enumerator knows what a reader has: a while later, and once it has taken a message
    that the reader sent since, as an acknowledgement is. None: it took none of those."""
    usual_ns, reader = received.time_ns + KNOWN_NS, (received.attempt, received.subtask)
    sent, taken = by_part(history, events.AckSent).first, by_part(history, events.AckReceived).first
    later = [part for part, ack in sent.items() if part[:2] == reader and ack.time_ns > received.time_ns]
    if not later:
        return usual_ns
    taken_ns = [taken[part].time_ns for part in later if part in taken]
    return max(usual_ns, min(taken_ns)) if taken_ns else None


def judge_splits(history: History, findings: Findings) -> None:
    """Readers' and enumerators' parts of each completed checkpoint, where there are enumerators."""
    _judge_listings(history, findings)
    layouts, checkpoint_of = history.derived(Layouts), history.derived(Submissions).checkpoint_of
    left = by_checkpoint(history, events.SplitsLeft).all
    parts: dict[CheckpointId, Counter[int]] = {}
    for completed in history.of(events.CheckpointCompleted) if left else ():
        checkpoint = checkpoint_of(completed)
        taken = by_checkpoint(history, events.SnapshotTaken).all.get(checkpoint, ())
        snapshots = [each for each in taken if each.subtask in layouts.of(each).sources]
        if checkpoint in left and {each.subtask for each in snapshots} == set(layouts.of(completed).sources):
            held = Counter(split for snapshot in snapshots for split, _ in snapshot.positions)
            held.update(split for part in left[checkpoint] for split in part.splits)
            due = _due(history, left[checkpoint][-1], checkpoint, parts)
            parts[checkpoint] = held
            _judge(completed, left[checkpoint], held, due, findings)


def _due(
    history: History, left: events.SplitsLeft, checkpoint: CheckpointId, parts: dict[CheckpointId, Counter[int]]
) -> Collection[int]:
    """The splits that a checkpoint must hold: all of the input where no listing is recorded."""
    listings = history.of(events.SplitsListed)
    if not listings:
        return range(len(history.inputs.partitions))
    taken = triggered_by(history, left.node, checkpoint) or left
    known = {
        split
        for listed in listings
        if listed.node == left.node and listed.sequence < taken.sequence
        for split in listed.splits
    }
    for started in history.of(events.AttemptStarted):
        if started.node == left.node and started.sequence < left.sequence and not started.subtasks:
            known.update(parts.get((checkpoint[0], started.restored_checkpoint or 0), ()))
    return known


def _judge(
    completed: events.CheckpointCompleted,
    left: Sequence[events.SplitsLeft],
    held: Counter[int],
    due: Collection[int],
    findings: Findings,
) -> None:
    lost = sorted(split for split in due if not held[split])
    twice = sorted(split for split, times in held.items() if times > 1)
    findings.check("split-lost")
    findings.check("split-twice")
    if lost:
        message = f"checkpoint {completed.checkpoint} holds splits {lost} nowhere"
        findings.violated("split-lost", message, *left, completed)
    if twice:
        message = f"checkpoint {completed.checkpoint} holds splits {twice} more than once"
        findings.violated("split-twice", message, *left, completed)


def _judge_listings(history: History, findings: Findings) -> None:
    """A job that goes on after the heal has listed every split by the end."""
    listings, end = history.of(events.SplitsListed), history.end
    if not listings or end.problem or history.plan.expected_end is not ExpectedEnd.RUNNING:
        return
    findings.check("split-not-listed")
    after = [event for event in history.of(events.CheckpointCompleted) if event.time_ns >= end.healed_ns]
    listed = {split for event in listings for split in event.splits}
    missing = [split for split in range(len(history.inputs.partitions)) if split not in listed]
    if missing and len(after) >= _LISTED_AFTER:
        message = f"splits {missing} are in no listing, and {len(after)} checkpoints completed after the heal"
        findings.violated("split-not-listed", message, listings[-1], after[-1])
