"""What RESTORE decides on keyed state that the harness moves to another state backend (RULES SAV-07).

Each backend shows its content twice: in canonical form, and by what its tables and timers return. An operator on the
second one reports the state that it finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.recovery.operator_state import differ
from holdfast.harness.oracles.shared.recorded import Recorded

CLAUSES: Mapping[str, str] = {
    "canonical-differs": "the canonical form of keyed state is not what the tables and timers of its backend answer",
    "moved-differs": "keyed state that the harness moves to another state backend is not the same there",
}


def judge_moves(history: History, snapshots: Recorded[events.SnapshotTaken], findings: Findings) -> None:
    """Judge every subtask of every checkpoint and savepoint whose keyed state was moved to another backend."""
    for moved in history.of(events.SubtaskMoved):
        what = f"{moved.subtask} of checkpoint {moved.checkpoint}"
        snapshot = snapshots.of(moved, moved.checkpoint, moved.subtask)
        witness = (moved,) if snapshot is None else (snapshot, moved)
        findings.check("moved-differs")
        if moved.problem:
            message = f"the state of {what} cannot be moved from {moved.source} to {moved.target}: {moved.problem}"
            findings.violated("moved-differs", message, *witness)
            continue
        for backend, canonical, answered in (
            (moved.source, moved.canonical, moved.answered),
            (moved.target, moved.moved, moved.moved_answered),
        ):
            if answered is not None:
                findings.check("canonical-differs")
                for difference in (*_differences(canonical, answered), *_living_for_ever(canonical)):
                    message = f"{what}, canonical form of {backend}: {difference}"
                    findings.violated("canonical-differs", message, *witness)
        for difference in _differences(moved.moved, moved.canonical):
            message = f"{what}, moved from {moved.source} to {moved.target}: {difference}"
            findings.violated("moved-differs", message, *witness)
        if snapshot is not None and differ(moved.state, snapshot.state):
            message = f"{what}, moved from {moved.source} to {moved.target}, is not what it recorded"
            findings.violated("moved-differs", message, *witness)


def _differences(ones: Sequence[events.HeldState], others: Sequence[events.HeldState]) -> Iterator[str]:
    """What the first has otherwise than the second, in words; what neither holds does not count."""
    known = {each.name: each for each in ones}
    right = {each.name: each for each in others}
    for name in sorted(known.keys() | right.keys()):
        one, other = known.get(name), right.get(name)
        if one is None or other is None:
            missing, entries = (one is None), (one or other).entries  # type: ignore[union-attr]
            if entries:
                yield f"state {name!r} {'is missing' if missing else 'is there'} with {_entries(entries)}"
        elif one.entries != other.entries:
            yield f"state {name!r} has {_entries(one.entries)}, {other.entries} are right"
        elif one.checksum != other.checksum:
            yield f"state {name!r} has other content in {_entries(one.entries)}"
        elif one.expiring != other.expiring:
            yield f"of state {name!r} {one.expiring} entries expire in time, {other.expiring} are right"


def _living_for_ever(states: Sequence[events.HeldState]) -> Iterator[str]:
    for state in states:
        if state.lives_for_a_time and state.expiring != state.entries:
            yield f"{state.entries - state.expiring} of {_entries(state.entries)} of state {state.name!r} never expire"


def _entries(count: int) -> str:
    return plural(count, "entry", "entries")
