"""The time of keyed operators: their timers, what came too late for them, and what had expired."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event

NamedTimers = tuple[tuple[str, int], ...]
"""Of each timer whose it is, and its time in milliseconds. No two of one operator that wait are equal."""


LateRecords = tuple[tuple[int, int, int, int], ...]
"""Of each partition, offset, the window that did not take it, and the watermark of the operator in milliseconds."""


LookedUp = tuple[tuple[str, int, int, bool], ...]
"""Of each record its key, partition and offset, and whether state of its key was found that lives."""


class TimersSet(Event, tag="timers_set"):
    """A subtask has new timers, and `deleted` others, or some of these, before their time."""

    subtask: str
    timers: NamedTimers
    deleted: NamedTimers = ()


class TimersFired(Event, tag="timers_fired"):
    """The time of a subtask, processing time or its watermark, has reached these timers.

    `final`: its input has ended, so that it waits for no time any more.
    """

    subtask: str
    time_ms: int
    timers: NamedTimers
    final: bool = False


class RecordsDropped(Event, tag="records_dropped"):
    """Records came too late for windows that were over."""

    subtask: str
    records: LateRecords


class KeysLookedUp(Event, tag="keys_looked_up"):
    """A subtask looked for state with a time to live, by the processing time that it tells, for each record in turn.

    Of a job with a THROTTLE: a record for which nothing was found is handed on.
    """

    subtask: str
    now_ms: int
    found: LookedUp
