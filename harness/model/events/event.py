"""What every event states: where, when, in which attempt, and how it is known. What events state of stored state:
files, and what they hold."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.records import WindowRow

SCHEMA_VERSION = 1


class Event(msgspec.Struct, tag_field="kind", kw_only=True, forbid_unknown_fields=True, gc=False):
    """Header of every event.

    Attributes:
        version: schema version of the line.
        node: which life of which process it happened in.
        sequence: dense from 0 within a node.
        time_ns: since the start of the run, on the clock of `Deployment.now_ms`; one origin for all nodes.
        attempt: execution attempt (epoch) of the job that it belongs to, 0 before the first.
        evidence: how the fact is known.
    """

    version: int = SCHEMA_VERSION
    node: str = ""
    sequence: int = -1
    time_ns: int = 0
    attempt: int = 0
    evidence: Evidence = Evidence.NATIVE


class FileReference(msgspec.Struct, frozen=True, gc=False):
    """A stored file as its writer knew it. `checksum` is the CRC-32 of the content."""

    path: str
    length: int
    checksum: int


class SharedHandle(msgspec.Struct, frozen=True, gc=False):
    """A shared file that the state of a subtask refers to.

    Attributes:
        name: that the state backend gave it.
        file: where it is stored; None: a placeholder, for the file that this name of the subtask stood for before.
        inline: it is new, and not stored, because its content came with the acknowledgement.
    """

    name: str
    file: FileReference | None = None
    inline: bool = False


class SharedFileUse(msgspec.Struct, frozen=True, gc=False):
    """A file of the shared state registry: `vertex[index]/name`, its path, and how many checkpoints use it."""

    key: str
    path: str
    uses: int


class BroadcastSummary(msgspec.Struct, frozen=True, gc=False):
    """What one subtask's copy of broadcast state held: number, sum of values and of identity hashes of its records."""

    records: int
    value: int
    digest: int


class ListSummary(msgspec.Struct, frozen=True, gc=False):
    """What one subtask's operator state of one name held.

    Attributes:
        name: of the state.
        mode: `split-distribute`, `union` or `broadcast`: who is given it at a restore.
        elements: the CRC-32 of each element, in their order.
    """

    name: str
    mode: str
    elements: tuple[int, ...]


class HeldState(msgspec.Struct, frozen=True, gc=False):
    """One state of one subtask, as a state backend holds it.

    Attributes:
        name: of the state.
        lives_for_a_time: it has a time to live.
        entries: values or timers.
        expiring: of these, those that expire.
        checksum: the CRC-32 of all of them, with key group, namespace and key, ascending.
    """

    name: str
    lives_for_a_time: bool
    entries: int
    expiring: int
    checksum: int


class StateSummary(msgspec.Struct, frozen=True, gc=False):
    """What one subtask's state held, in a form that can be added up over subtasks.

    Attributes:
        keys: number of keys.
        records: contributing inputs.
        value: sum of values.
        digest: sum modulo 2**64 of identity hashes (see Contract).
        entries: value by key, given when there are at most 16 keys.
        broadcast: the copy of broadcast state, which is the same in every subtask and in none of the sums above.
        windows: of a windowed sum, what each window that it holds has added up, given when there are at most 64.
        lists: operator state, name by name.
    """

    keys: int = 0
    records: int = 0
    value: int = 0
    digest: int = 0
    entries: dict[str, int] | None = None
    broadcast: BroadcastSummary | None = None
    windows: tuple[WindowRow, ...] | None = None
    lists: tuple[ListSummary, ...] = ()


class ChannelContent(msgspec.Struct, frozen=True, gc=False):
    """In-flight batches of one channel at a cut.

    Attributes:
        channel: which.
        output: they waited at its sender; else at its receiver.
        batches: (attempt that counted it, position), in order.
        state: their sums, as far as they are known.
    """

    channel: str
    output: bool
    batches: tuple[tuple[int, int], ...]
    state: StateSummary | None = None
