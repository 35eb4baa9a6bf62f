"""State of an operator's subtask: keyed state backends and operator state backends, version 1.

Threads. One thread, the task thread, makes the backend and calls every method of it and of what it hands out. One
exception: `upload` and `entries` of a Snapshot run on one other thread, the upload thread, while the task thread goes
on. A backend is never entered by a third thread. Each docstring repeats it where a method differs.

Time. No backend reads a clock. Methods for which time matters take `now_ms`, milliseconds since the epoch, which never
decreases between two calls.

Answers. What is returned is of the types stated here, and stays what it is, whatever is called later: it is no view of
memory that is used again. What was handed in is the caller's again when the call has returned, who may change it.

Attempts. A process that is taken for dead may go on for a while: its backend may still upload, get calls of `confirmed`
and `aborted`, and be closed when that of the next attempt has begun. Nothing of that changes what the next one holds,
whichever numbers its checkpoints have (REC-09).

Bytes. Keys, namespaces and values are bytes of any content; each may be empty. Typed state is built above, which is why
no null exists here: a value is there, empty or not, or it is not there.

Order of calls. Factory; at most one successful `restore` or `restore_entries`; then registrations and work; `close`.
"""

from __future__ import annotations

from holdfast.harness.spi.state.description import Description, Flag, StateContext
from holdfast.harness.spi.state.keyed_state_backend import KeyedStateBackend, KeyedStateBackendFactory
from holdfast.harness.spi.state.snapshot import (
    Cancelled,
    Extent,
    Manifest,
    Snapshot,
    SnapshotKind,
    StateEntry,
    StateHandle,
)
from holdfast.harness.spi.state.table import (
    Convert,
    Reduce,
    StateDescriptor,
    StateKind,
    StateTable,
    Timer,
    TimerService,
)

__all__ = [
    "Cancelled",
    "Convert",
    "Description",
    "Extent",
    "Flag",
    "KeyedStateBackend",
    "KeyedStateBackendFactory",
    "Manifest",
    "Reduce",
    "Snapshot",
    "SnapshotKind",
    "StateContext",
    "StateDescriptor",
    "StateEntry",
    "StateHandle",
    "StateKind",
    "StateTable",
    "Timer",
    "TimerService",
]
