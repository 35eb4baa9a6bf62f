"""From the input to the output: sources read, what was sent is taken, and whoever has ended is known to have."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.topology import channel_ends
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.liveness.last_state import LastState
from holdfast.harness.oracles.shared.options import NS_PER_MS, milliseconds

CLAUSES: Mapping[str, str] = {
    "source-not-reading": "a source of a running job reads nothing although its partitions hold records for it",
    "split-not-received": "a reader that runs never gets a split that it was assigned, however often it is sent",
    "source-not-finished": "a source has read its partitions to their ends and does not finish",
    "channel-not-read": "a batch or a barrier waits in a channel that its receiver, which runs, takes nothing from",
    "end-not-passed-on": "a subtask has ended, and a running one behind it never receives its end",
}
HEARTBEAT_MS = 10_000
"""The default, where the plan sets no heartbeat interval."""


def judge(state: LastState, findings: Findings) -> None:
    """Sources of a running job, and the channels of subtasks that run."""
    if state.runs:
        _judge_sources(state, findings)
    _judge_splits(state, findings)
    blocked = _blocked(state)
    _judge_ends(state, blocked, findings)
    if not state.history.end.reached:
        _judge_channels(state, blocked, findings)


def _judge_sources(state: LastState, findings: Findings) -> None:
    history = state.history
    lengths = history.inputs.lengths()
    switched = state.switched
    since_ns = switched.time_ns if switched is not None else 0
    reads: list[events.InputRead | events.SourceEmitted] = [
        *history.of(events.InputRead),
        *history.of(events.SourceEmitted),
    ]
    read = {(event.attempt, event.subtask) for event in reads}
    findings.check("source-not-reading", len(read))
    finished = {(event.attempt, event.subtask) for event in history.of(events.OperatorFinished)}
    findings.check("source-not-finished", len(finished))
    at: dict[tuple[int, str], dict[int, int]] = {}
    for received in history.of(events.SplitsReceived):
        at.setdefault((received.attempt, received.subtask), {}).update(dict.fromkeys(received.splits, 0))
    last: dict[tuple[int, str], events.SourceEmitted] = {}
    for emitted in history.of(events.SourceEmitted):
        key = emitted.attempt, emitted.subtask
        at.setdefault(key, {})[emitted.partition] = emitted.next_offset
        last[key] = emitted
    for subtask in state.layout.sources:
        task = state.task(subtask)
        if task is None or task.finished or not state.is_due(max(task.time_ns, since_ns)):
            continue
        key = task.attempt, subtask
        positions = dict(task.positions) | at.get(key, {})
        unread = sorted(each for each, offset in positions.items() if each < len(lengths) and offset < lengths[each])
        if unread and key not in read:
            message = f"{subtask} reads nothing of partition {unread[0]} in attempt {task.attempt}"
            findings.violated("source-not-reading", message, task)
        ends = history.plan.expected_end is ExpectedEnd.FINISHED and positions and not unread
        if ends and key not in finished and key in last and state.is_due(last[key].time_ns):
            message = f"{subtask} has read its partitions to their ends and does not finish"
            findings.violated("source-not-finished", message, last[key])


def _judge_splits(state: LastState, findings: Findings) -> None:
    """An enumerator sends what is not confirmed again, after the interval of heartbeats."""
    history = state.history
    received = {
        (event.attempt, event.subtask, split) for event in history.of(events.SplitsReceived) for split in event.splits
    }
    findings.check("split-not-received", len(received))
    again_ns = milliseconds(history.plan, profile.HEARTBEAT_INTERVAL, HEARTBEAT_MS) * NS_PER_MS
    for assigned in history.of(events.SplitsAssigned):
        task = state.task(assigned.subtask)
        if task is None or task.attempt != assigned.attempt or not state.is_due(assigned.time_ns + again_ns):
            continue
        missing = [split for split in assigned.splits if (*_key(assigned), split) not in received]
        if missing and state.was_quiet(history.end.ended_ns - 2 * again_ns):
            message = f"{assigned.subtask} is assigned splits {missing} and never gets them"
            findings.violated("split-not-received", message, assigned)


def _key(assigned: events.SplitsAssigned) -> tuple[int, str]:
    return assigned.attempt, assigned.subtask


def _blocked(state: LastState) -> set[str]:
    """Channels that their receivers take nothing from in their present attempts."""
    blocked: set[str] = set()
    for event in state.history.of_kinds((events.ChannelBlocked, events.ChannelUnblocked)):
        if isinstance(event, events.ChannelBlocked):
            blocked.add(event.channel)
        elif isinstance(event, events.ChannelUnblocked):
            blocked.discard(event.channel)
    return blocked


def _judge_ends(state: LastState, blocked: set[str], findings: Findings) -> None:
    history = state.history
    heard = {(event.attempt, event.channel) for event in history.of(events.EndOfPartitionReceived)}
    findings.check("end-not-passed-on", len(heard))
    for ended in history.of(events.SubtaskFinished):
        attempt = state.present(ended.subtask)
        if attempt is None or attempt.attempt != ended.attempt:
            continue
        for channel in state.layout.outputs.get(ended.subtask, ()):
            task = state.task(channel_ends(channel)[1])
            if task is None or task.attempt != ended.attempt or channel in blocked:
                continue
            if (ended.attempt, channel) not in heard and state.is_due(max(ended.time_ns, task.time_ns)):
                message = f"{ended.subtask} has ended, and {task.subtask} never receives its end"
                findings.violated("end-not-passed-on", message, ended)


def _judge_channels(state: LastState, blocked: set[str], findings: Findings) -> None:
    """Judge a run that stands still: the receiver that is nearest to the sinks holds up the others."""
    history = state.history
    waiting: dict[str, dict[tuple[int, int], events.BatchSent | events.BarrierSent]] = {}
    for sent in history.of_kinds((events.BatchSent, events.BarrierSent)):
        if isinstance(sent, events.BatchSent | events.BarrierSent):
            task = state.task(channel_ends(sent.channel)[1])
            if task is not None and task.attempt == sent.attempt:
                waiting.setdefault(sent.channel, {})[_place(sent)] = sent
    taken_ns: dict[str, int] = {}
    for taken in history.of_kinds((events.BatchProcessed, events.BarrierReceived)):
        if isinstance(taken, events.BatchProcessed | events.BarrierReceived):
            waiting.get(taken.channel, {}).pop(_place(taken), None)
            taken_ns[taken.channel] = taken.time_ns
    held_up = {channel for channel, elements in waiting.items() if elements}
    for subtask in reversed(state.layout.subtasks):
        findings.check("channel-not-read", len(state.layout.inputs[subtask]))
        if not held_up.isdisjoint(state.layout.outputs[subtask]):
            continue
        for channel in state.layout.inputs[subtask]:
            if channel not in held_up or channel in blocked:
                continue
            task, first = state.task(subtask), next(iter(waiting[channel].values()))
            if task is not None and state.is_due(max(first.time_ns, task.time_ns, taken_ns.get(channel, 0))):
                findings.violated("channel-not-read", f"{subtask} takes nothing from {channel}", first)
                return


def _place(
    element: events.BatchSent | events.BatchProcessed | events.BarrierSent | events.BarrierReceived,
) -> tuple[int, int]:
    """Which batch of its channel it is, counted in which attempt, or with a negative number which barrier."""
    if isinstance(element, events.BatchSent | events.BatchProcessed):
        return element.origin or element.attempt, element.position
    return element.attempt, ~element.checkpoint
