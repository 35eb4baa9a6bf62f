"""When the state of each key expires, as subtasks write it: from attempt to attempt, through what each restores.

Rules of this file:
- A lookup that finds nothing writes; one that finds something writes by ON_READ_AND_WRITE alone.
- What a subtask reports to have found decides what it writes then, right or wrong: so one mistake is one violation.
- A key is in one subtask of an operator, so that a restore may give each subtask what all of them have recorded. The
  last write of a key is that of its owner: the others have what was restored of it.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model.events import Event, KeysLookedUp, SnapshotTaken, TaskStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.job import TtlUpdate, VertexKind
from holdfast.harness.oracles.shared.origins import Origins


class Written(NamedTuple):
    """The last write of a key.

    Attributes:
        expires_ms: when it expires.
        event: that reports it.
        read_ms: when it was found last, where that renews nothing; None: it was not, or renews it.
    """

    expires_ms: int
    event: KeysLookedUp
    read_ms: int | None = None


class Lookup(NamedTuple):
    """One record of which the key was looked up.

    Attributes:
        key: that.
        found: whether there was state.
        written: what was written before; None: nothing was.
        event: that reports it.
        witness: what it rests on, and that event.
    """

    key: str
    found: bool
    written: Written | None
    event: KeysLookedUp
    witness: tuple[Event, ...]


class ExpiryTrace:
    """Read off a history.

    Attributes:
        lookups: all of them, of one attempt after the other.
    """

    def __init__(self, history: History) -> None:
        [vertex] = history.plan.job.of_kind(VertexKind.THROTTLE)
        self._ttl_ms = vertex.ttl_ms
        self._renews = vertex.ttl_update is TtlUpdate.ON_READ_AND_WRITE
        prefix = f"{vertex.name}["
        self._origins = Origins(history)
        self._recorded: dict[tuple[int, int], dict[str, Written]] = {}
        self._written: dict[tuple[int, str], dict[str, Written]] = {}
        self._started: dict[tuple[int, str], TaskStarted] = {}
        self.lookups: list[Lookup] = []
        events = history.of_kinds((TaskStarted, KeysLookedUp, SnapshotTaken))
        # What an attempt restores was written in one before, wherever it ran.
        for event in sorted(events, key=_attempt):
            if isinstance(event, TaskStarted | KeysLookedUp | SnapshotTaken) and event.subtask.startswith(prefix):
                self._note(event)

    def _note(self, event: TaskStarted | KeysLookedUp | SnapshotTaken) -> None:
        place = event.attempt, event.subtask
        if isinstance(event, TaskStarted):
            self._started[place] = event
            self._written[place] = self._restored(event)
        elif place not in self._written:
            return
        elif isinstance(event, KeysLookedUp):
            self._look_up(event, self._written[place], self._started[place])
        else:
            checkpoint = self._origins.job_of(event), event.checkpoint
            recorded = self._recorded.setdefault(checkpoint, {})
            for key, written in self._written[place].items():
                if key not in recorded or written.expires_ms > recorded[key].expires_ms:
                    recorded[key] = written

    def _look_up(self, event: KeysLookedUp, written: dict[str, Written], started: TaskStarted) -> None:
        for key, _, _, found in event.found:
            last = written.get(key)
            rests_on = (started,) if last is None else (last.event, started)
            witness = *(each for each in rests_on if each is not event), event
            self.lookups.append(Lookup(key, found, last, event, witness))
            if not found or self._renews:
                written[key] = Written(event.now_ms + self._ttl_ms, event)
            elif last is not None:
                written[key] = last._replace(read_ms=event.now_ms)

    def _restored(self, started: TaskStarted) -> dict[str, Written]:
        if started.restored_checkpoint is None:
            return {}
        checkpoint = self._origins.of(started, started.restored_checkpoint), started.restored_checkpoint
        return dict(self._recorded.get(checkpoint, {}))


def _attempt(event: Event) -> int:
    return event.attempt
