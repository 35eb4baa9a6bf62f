"""Operator state at a restore: list state goes to one subtask each, union list state whole to each, and of broadcast
state each is given one of the copies (RULES RSC-03).

Each element is known by its checksum. What subtasks recorded together is a multiset of these; what each is given is
what it reports to have found when it was opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from holdfast.harness.model.events import AttemptStarted, ListSummary, SnapshotTaken, StateSummary, TaskStarted
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.layout import Layouts
from holdfast.harness.oracles.shared.recorded import Recorded

CLAUSES: Mapping[str, str] = {
    "list-lost": "an element of list state is given to no subtask at a restore, or to two",
    "list-uneven": "at another parallelism list state is not dealt out in order and evenly",
    "union-incomplete": "a subtask is not given all of the union list state that was recorded",
    "union-multiplied": "more or less of union list state is kept after a restore than was recorded",
    "copy-unknown": "a subtask is given broadcast state that no subtask recorded, or none where each had some",
}
SPLIT, UNION, BROADCAST = "split-distribute", "union", "broadcast"
Given = dict[str, tuple[int, ...]]
"""By subtask, elements of one state."""


def judge_operator_state(history: History, snapshots: Recorded[SnapshotTaken], findings: Findings) -> None:
    """Every attempt all of whose subtasks came to run, state by state."""
    layouts = history.derived(Layouts)
    starts: dict[int, dict[str, TaskStarted]] = {}
    for started in history.of(TaskStarted):
        starts.setdefault(started.attempt, {})[started.subtask] = started
    for attempt in history.of(AttemptStarted):
        found, checkpoint = starts.get(attempt.attempt, {}), attempt.restored_checkpoint
        if checkpoint is None or found.keys() != set(layouts.of(attempt).subtasks):
            continue
        taken = snapshots.all_of(attempt, checkpoint)
        former = next((layouts.of(each) for each in taken.values()), None)
        if former is None or taken.keys() != set(former.subtasks):
            continue
        rescaled = former is not layouts.of(attempt)
        holding = {subtask.partition("[")[0] for subtask, each in taken.items() if _held(each)}
        for vertex in history.plan.job.vertices:
            if vertex.name in holding:
                _judge_vertex(_of(vertex.name, taken), _of(vertex.name, found), findings, rescaled=rescaled)


def _of(vertex: str, events: Mapping[str, SnapshotTaken | TaskStarted]) -> list[SnapshotTaken | TaskStarted]:
    """What subtasks of a vertex say, in the order of their index."""
    named = [each for name, each in events.items() if name.startswith(f"{vertex}[")]
    return sorted(named, key=lambda each: int(each.subtask.partition("[")[2][:-1]))


def _judge_vertex(
    before: Sequence[SnapshotTaken | TaskStarted],
    after: Sequence[SnapshotTaken | TaskStarted],
    findings: Findings,
    *,
    rescaled: bool,
) -> None:
    states = {(each.name, each.mode) for event in before for each in _held(event)}
    for name, mode in sorted(states):
        recorded = [_elements(_held(event), name) for event in before]
        given = [_elements(event.given if isinstance(event, TaskStarted) else (), name) for event in after]
        kept = [_elements(_held(event), name) for event in after]
        where = f"{name!r} of {after[0].subtask.partition('[')[0]} in attempt {after[0].attempt}"
        witness = (*before, *after)
        if mode == SPLIT:
            _judge_split(recorded, given, where, witness, findings, rescaled=rescaled)
        elif mode == UNION:
            _judge_union(recorded, given, kept, where, witness, findings)
        elif mode == BROADCAST:
            findings.check("copy-unknown", len(given))
            if not set(given) <= set(recorded):
                findings.violated("copy-unknown", f"a copy of {where} is none that was recorded", *witness)


def _judge_split(
    recorded: Sequence[tuple[int, ...]],
    given: Sequence[tuple[int, ...]],
    where: str,
    witness: Sequence[SnapshotTaken | TaskStarted],
    findings: Findings,
    *,
    rescaled: bool,
) -> None:
    wanted, found = _all(recorded), _all(given)
    findings.check("list-lost", len(wanted))
    if Counter(found) != Counter(wanted):
        others = ", and others" if len(found) == len(wanted) else ""
        message = f"{len(found)} elements of {where} are given out, {len(wanted)} were recorded{others}"
        findings.violated("list-lost", message, *witness)
        return
    if not rescaled or not wanted:
        return
    findings.check("list-uneven")
    lengths = [len(each) for each in given]
    if max(lengths) - min(lengths) > 1 or not _runs(wanted, given):
        message = f"{where} is dealt out as {lengths} of {len(wanted)} elements, or not in their order"
        findings.violated("list-uneven", message, *witness)


def _judge_union(
    recorded: Sequence[tuple[int, ...]],
    given: Sequence[tuple[int, ...]],
    kept: Sequence[tuple[int, ...]],
    where: str,
    witness: Sequence[SnapshotTaken | TaskStarted],
    findings: Findings,
) -> None:
    wanted = Counter(_all(recorded))
    findings.check("union-incomplete", len(given))
    if any(Counter(each) != wanted for each in given):
        numbers = ", ".join(str(len(each)) for each in given)
        message = f"the subtasks are given {numbers} elements of {where}, each must have all {wanted.total()} recorded"
        findings.violated("union-incomplete", message, *witness)
        return
    findings.check("union-multiplied")
    if Counter(_all(kept)) != wanted:
        message = f"all subtasks together keep {len(_all(kept))} elements of {where}, {wanted.total()} were recorded"
        findings.violated("union-multiplied", message, *witness)


def _held(event: SnapshotTaken | TaskStarted) -> tuple[ListSummary, ...]:
    return event.state.lists if event.state is not None else ()


def _elements(lists: Iterable[ListSummary], name: str) -> tuple[int, ...]:
    return next((each.elements for each in lists if each.name == name), ())


def _all(elements: Sequence[tuple[int, ...]]) -> list[int]:
    return [each for one in elements for each in one]


def _runs(wanted: Sequence[int], given: Sequence[tuple[int, ...]]) -> bool:
    """Whether what each is given stands together, in its order, in what was recorded."""
    text = tuple(wanted)
    return all(
        not run or any(text[start : start + len(run)] == run for start in range(len(text) - len(run) + 1))
        for run in given
    )


def differ(one: StateSummary | None, other: StateSummary | None) -> bool:
    """Whether two summaries contradict each other; what only one of them contains does not."""
    if one is None or other is None or one == other:
        return False
    if one.entries is not None and other.entries is not None and one.entries != other.entries:
        return True
    if one.broadcast is not None and other.broadcast is not None and one.broadcast != other.broadcast:
        return True
    if _split(one) != _split(other):
        return True
    return (one.keys, one.records, one.value, one.digest) != (other.keys, other.records, other.value, other.digest)


def _split(state: StateSummary) -> list[ListSummary]:
    """List state that no other subtask may be given."""
    return [each for each in state.lists if each.mode == SPLIT]
