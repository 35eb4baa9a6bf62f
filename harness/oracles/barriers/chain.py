"""CHAIN: operators that are chained are one task for records and barriers, and each of them one in a checkpoint (RULES
BAR-12). What their states and rows must be does not depend on it: that is for CUT and EXACT, chained or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.parts import by_part, part_of
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.layout import Layout, Layouts, widest_layout

Crossing = events.BatchSent | events.BatchProcessed | events.BarrierSent | events.BarrierReceived


class ChainOracle:
    """Follows chains through their checkpoints."""

    name = "CHAIN"
    title = "operator chaining"
    invariant = "A chain takes each barrier once, for all its operators, and every operator is in the checkpoint."
    clauses: Mapping[str, str] = {
        "crossed": "a batch or a barrier goes through a channel between two operators of a chain",
        "without-barrier": "an operator to which no chain hands barriers takes a snapshot for one that it did not get",
        "snapshot-apart": "a chain takes or emits records between the snapshots of its operators for one checkpoint",
        "snapshot-twice": "an operator takes two snapshots for one checkpoint",
        "operator-missing": "a completed checkpoint does not hold the state of every operator",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.SnapshotTaken,
        events.BarrierReceived,
        events.BatchProcessed,
        events.MetadataPublished,
    )

    def applies(self, history: History) -> bool:
        """Not where all that is seen is of tasks: no state is counted, and no operator behind a head has a snapshot."""
        behind = {operator for chain in widest_layout(history).chains for operator in chain[1:]}
        taken = {event.subtask for event in history.of(events.SnapshotTaken)}
        return not (behind and taken) or not behind.isdisjoint(taken) or _counts(history)

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        layouts = history.derived(Layouts)
        _Trace(history, widest_layout(history), findings)
        completed = {event.checkpoint for event in history.of(events.CheckpointCompleted)}
        checkpoint_of = history.derived(Submissions).checkpoint_of
        triggered = by_checkpoint(history, events.CheckpointTriggered).first
        for published in history.of(events.MetadataPublished) if _counts(history) else ():
            if published.checkpoint in completed:
                findings.check("operator-missing")
                taken = triggered.get(checkpoint_of(published), published)
                operators = len(layouts.of(taken).subtasks)
                if published.states != operators:
                    message = (
                        f"checkpoint {published.checkpoint} holds the state of {published.states} of {operators} "
                        "operators"
                    )
                    findings.violated("operator-missing", message, published)
        return findings.verdict(history)


def _counts(history: History) -> bool:
    """Whether the states in the metadata are counted, which are some in every checkpoint."""
    return any(published.states for published in history.of(events.MetadataPublished))


class _Chain:
    """A chain in one attempt.

    Attributes:
        members: those that have not ended: they are in a checkpoint without a snapshot.
        taken: the snapshots for the checkpoint that some of its operators have taken and some have not.
        broken: an operator of it stopped.
    """

    __slots__ = ("broken", "members", "taken")

    def __init__(self, members: tuple[str, ...]) -> None:
        self.members = set(members)
        self.taken: list[events.SnapshotTaken] = []
        self.broken = False


class _Trace:
    """One pass over a history; what one event decides is judged on the way."""

    def __init__(self, history: History, layout: Layout, findings: Findings) -> None:
        self.layout = layout
        self.findings = findings
        self.chain_of = {member: members for members in layout.chains for member in members}
        self.called = {member for members in layout.chains for member in members if not layout.inputs[member]}
        self.called.difference_update(layout.sources)
        self.chains: dict[tuple[int, str], _Chain] = {}
        self.incomplete = 0  # So many of them have taken some snapshots of a checkpoint, and owe others.
        self.barriers = by_part(history, events.BarrierReceived).all
        self.triggers = by_part(history, events.TriggerReceived).first
        self.snapshots = by_part(history, events.SnapshotTaken).first
        handlers: dict[type[events.Event], Callable[[Any], None]] = {events.SnapshotTaken: self._snapshot_taken}
        if layout.chains:
            handlers |= {
                events.SourceEmitted: self._source_emitted,
                events.BatchSent: self._left,
                events.BatchProcessed: self._arrived,
                events.SubtaskFinished: self._finished,
                events.TaskStopped: self._task_stopped,
            }
            self._judge_crossings(history)
        replay(history, handlers)

    def _chain(self, attempt: int, subtask: str) -> _Chain | None:
        members = self.chain_of.get(subtask)
        if members is None:
            return None
        known = self.chains.get((attempt, members[0]))
        if known is None:
            known = self.chains[attempt, members[0]] = _Chain(members)
        return known

    def _snapshot_taken(self, event: events.SnapshotTaken) -> None:
        findings, place = self.findings, part_of(event)
        checked = findings.checked
        checked["snapshot-twice"] += 1
        first = self.snapshots.get(place, event)
        if first is not event:
            message = f"{event.subtask} takes snapshot {event.checkpoint} twice"
            findings.violated("snapshot-twice", message, first, event)
        if event.subtask in self.called:
            checked["crossed"] += 1
        elif self.layout.inputs.get(event.subtask):
            checked["without-barrier"] += 1
            barriers, trigger = self.barriers.get(place), self.triggers.get(place)
            begun = barriers is not None and barriers[0].sequence < event.sequence
            if not begun and (trigger is None or trigger.sequence > event.sequence):
                message = f"{event.subtask} takes snapshot {event.checkpoint} without having received its barrier"
                findings.violated("without-barrier", message, event)
        chain = self._chain(event.attempt, event.subtask)
        if chain is None or chain.broken:
            return
        if chain.taken and chain.taken[0].checkpoint != event.checkpoint:
            self._report_violation(chain, event)
        self.incomplete += not chain.taken
        chain.taken.append(event)
        if len(chain.taken) == len(chain.members):
            checked["snapshot-apart"] += 1
            self._begin_anew(chain)

    def _begin_anew(self, chain: _Chain) -> None:
        chain.taken = []
        self.incomplete -= 1

    def _report_violation(self, chain: _Chain, event: events.Event) -> None:
        """The chain goes on although some of its operators owe a snapshot."""
        owing = sorted(chain.members - {taken.subtask for taken in chain.taken})
        message = f"the chain continues before {', '.join(owing)} took snapshot {chain.taken[0].checkpoint}"
        self.findings.violated("snapshot-apart", message, *chain.taken, event)
        self._begin_anew(chain)

    def _goes_on(self, subtask: str, event: events.Event) -> None:
        chain = self._chain(event.attempt, subtask)
        if chain is not None and chain.taken and not chain.broken:
            self._report_violation(chain, event)

    def _source_emitted(self, event: events.SourceEmitted) -> None:
        if self.incomplete:
            self._goes_on(event.subtask, event)

    def _left(self, event: events.BatchSent) -> None:
        if self.incomplete:
            self._goes_on(event.channel.partition("->")[0], event)

    def _arrived(self, event: events.BatchProcessed) -> None:
        if self.incomplete:
            self._goes_on(event.channel.partition("->")[2], event)

    def _judge_crossings(self, history: History) -> None:
        inside = self.layout.inside
        crossings: list[Crossing] = [each for each in history.of(events.BatchSent) if each.channel in inside]
        crossings += [each for each in history.of(events.BatchProcessed) if each.channel in inside]
        crossings += [each for each in history.of(events.BarrierSent) if each.channel in inside]
        crossings += [each for each in history.of(events.BarrierReceived) if each.channel in inside]
        for event in sorted(crossings, key=history.position):
            message = f"{event.channel} is inside a chain, and something goes through it"
            self.findings.violated("crossed", message, event)

    def _finished(self, event: events.SubtaskFinished) -> None:
        chain = self._chain(event.attempt, event.subtask)
        if chain is not None:
            chain.members.discard(event.subtask)

    def _task_stopped(self, event: events.TaskStopped) -> None:
        chain = self._chain(event.attempt, event.subtask)
        if chain is not None:
            chain.broken = True
