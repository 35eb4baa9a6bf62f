"""What happened to the system under test: inputs, output and events, ready to be judged.

A coordinator that takes over claims an epoch. What one before it reports behind that claim concerns no job any more,
only itself: who follows the coordinator of a job must not follow it. What it does to the storage all can see.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from holdfast.harness.model.capability import Claims, Evidence
from holdfast.harness.model.consequence import FaultFate
from holdfast.harness.model.events import MESSAGE_EDGES, CoordinatorClaimed, Event, FileDeleted, FileWritten, NodeDied
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog, Output

HISTORY_VERSION = 3
"""2: no effect names its fault."""
EventKind = TypeVar("EventKind", bound=Event)
Derived = TypeVar("Derived")


class RunEnd(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the engine's phases went.

    Attributes:
        reached: the expected end was reached within its bound.
        reason: what was missing, if it was not.
        healed_ns: when every fault had been undone, since the start of the run as `Event.time_ns`.
        ended_ns: when the settle window closed, on the same clock.
        problem: why the run decides nothing (a hang, a dead harness part, an adapter that hangs); empty otherwise.
        settled: the settle window passed whole, whatever the problem is.
        blind: it is one of observing: what is missing in the history may have happened, so nothing in it refutes.
        real_time: the machine had other things to do: who is late may only have had to wait.
        faults_acted: by index in the plan, whether it acted at all; empty in old histories, which have faults_landed.
        faults_landed: by index in the plan, proved from durable facts; None: it never acted, or too late.
        fault_troubles: by index in the plan, why a fault could not act when it was due, or what it waited for in vain;
            else empty.
        job_error: the first error that the job itself raised, with its place in the code of its author; empty: none is
            known.
        wrote_nothing, unread: as of spi.system.Recording.
    """

    reached: bool
    reason: str = ""
    healed_ns: int = 0
    ended_ns: int = 0
    problem: str = ""
    blind: bool = False
    real_time: bool = False
    settled: bool = False
    faults_acted: tuple[bool, ...] = ()
    faults_landed: tuple[bool | None, ...] = ()
    fault_troubles: tuple[str, ...] = ()
    job_error: str = ""
    wrote_nothing: str = ""
    unread: str = ""

    @property
    def fault_fates(self) -> tuple[FaultFate, ...]:
        """By index in the plan, what became of each fault."""
        acted = self.faults_acted or tuple(landed is not None for landed in self.faults_landed)
        return tuple(map(_fate, acted, self.faults_landed))


def _fate(acted: bool, landed: bool | None) -> FaultFate:
    if not acted:
        return FaultFate.NEVER_ACTED
    if landed is None:
        return FaultFate.TOO_LATE
    return FaultFate.LANDED if landed else FaultFate.WITHOUT_EFFECT


class History:
    """One run.

    Args:
        plan: what was run.
        claims: what the system under test claims under this plan.
        inputs: everything it was fed.
        output: what the committed reader saw.
        events: in an order that respects (node, sequence) and every message edge; see `causal_order`.
        end: how the phases went.
    """

    __slots__ = ("_by_kind", "_derived", "_places", "_positions", "claims", "end", "events", "inputs", "output", "plan")

    def __init__(
        self, plan: Plan, claims: Claims, inputs: InputLog, output: Output, events: Sequence[Event], end: RunEnd
    ) -> None:
        self.plan = plan
        self.claims = claims
        self.inputs = inputs
        self.output = output
        self.events = events
        self.end = end
        self._places: dict[type[Event], list[int]] | None = None
        self._by_kind: dict[type[Event], list[Event]] = {}
        self._positions: dict[type[Event], dict[int, int]] = {}
        self._derived: dict[object, object] = {}

    def of(self, kind: type[EventKind]) -> list[EventKind]:
        """All events of one kind in causal order (indexed on first use)."""
        found = self._by_kind.get(kind)
        if found is None:
            events = self.events
            found = self._by_kind[kind] = [events[place] for place in self._index().get(kind, ())]
        return found  # type: ignore[return-value]

    def of_kinds(self, kinds: Iterable[type[Event]]) -> list[Event]:
        """All events of several kinds in causal order."""
        index, events = self._index(), self.events
        return [events[place] for place in sorted(chain.from_iterable(index.get(kind, ()) for kind in kinds))]

    def _index(self) -> dict[type[Event], list[int]]:
        """By kind, the places of its events."""
        if self._places is None:
            self._places = defaultdict(list)
            for place, kind in enumerate(map(type, self.events)):
                self._places[kind].append(place)
        return self._places

    def position(self, event: Event) -> int:
        """Index of an event of this history in `events`, to compare two events of different kinds."""
        kind = type(event)
        found = self._positions.get(kind)
        if found is None:  # Few kinds are asked for.
            places = self._index().get(kind, ())
            found = self._positions[kind] = {id(self.events[place]): place for place in places}
        return found[id(event)]

    def derived(self, make: Callable[[History], Derived]) -> Derived:
        """What `make` makes of this history: made once, and kept with it. It must not refer to the history, which would
        be a reference cycle, and must not be changed."""
        found = self._derived.get(make)
        if found is None:
            found = self._derived[make] = make(self)
        return found  # type: ignore[return-value]

    def supplies(self, *kinds: type[Event]) -> bool:
        """Whether each kind was seen at least once, by native, derived or boundary evidence."""
        return all(any(event.evidence is not Evidence.NONE for event in self.of(kind)) for kind in kinds)


def causal_order(nodes: Iterable[Sequence[Event]]) -> list[Event]:
    """Merge the events of nodes so that (node, sequence) and MESSAGE_EDGES hold; ties go by time, then node.

    Args:
        nodes: for each node its events in sequence.

    Raises:
        ValueError: the edges contradict each other (a message received before it was sent), naming the event.
    """
    streams = [list(node) for node in nodes if node]
    senders = {sent: (received, fields) for sent, received, fields in MESSAGE_EDGES}
    receivers = {received: (sent, fields) for sent, received, fields in MESSAGE_EDGES}

    def pairing(event: Event, sent: type[Event], fields: tuple[str, ...]) -> tuple[object, ...]:
        return (sent, *(getattr(event, field) for field in fields))

    outstanding: dict[tuple[object, ...], int] = {}
    for stream in streams:
        for event in stream:
            if type(event) in senders:
                key = pairing(event, type(event), senders[type(event)][1])
                outstanding[key] = outstanding.get(key, 0) + 1
    sent_already: set[tuple[object, ...]] = set()
    cursors = [0] * len(streams)
    merged: list[Event] = []
    total = sum(len(stream) for stream in streams)

    def waits(event: Event) -> bool:
        edge = receivers.get(type(event))
        if edge is None:
            return False
        key = pairing(event, *edge)
        return key in outstanding and key not in sent_already

    while len(merged) < total:
        best = -1
        for index, stream in enumerate(streams):
            if cursors[index] >= len(stream):
                continue
            head = stream[cursors[index]]
            if waits(head):
                continue
            if best < 0 or (head.time_ns, head.node) < (
                streams[best][cursors[best]].time_ns,
                streams[best][cursors[best]].node,
            ):
                best = index
        if best < 0:
            stuck = next(stream[cursors[i]] for i, stream in enumerate(streams) if cursors[i] < len(stream))
            raise ValueError(
                f"history of node {stuck.node!r}: event {stuck.sequence} was received before it was sent; "
                "the files were edited or belong to different runs."
            )
        event = streams[best][cursors[best]]
        cursors[best] += 1
        if type(event) in senders:
            sent_already.add(pairing(event, type(event), senders[type(event)][1]))
        merged.append(event)
    return merged


class FileDigest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a stored history."""

    name: str
    length: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`manifest.json` of a stored history: what belongs to it, so that nothing can be cut or edited unseen.

    Attributes:
        version: schema version of the history.
        plan_sha256: of the canonical plan.
        dead_nodes: nodes that were killed: only their last line may be torn.
        files: every file of the history but this one.
    """

    version: int
    plan_sha256: str
    dead_nodes: tuple[str, ...]
    files: tuple[FileDigest, ...]


_SEEN_BY_ALL = (FileWritten, FileDeleted)


def superseded(history: History) -> dict[str, CoordinatorClaimed]:
    """The coordinators that lost their job while they lived, each with the first claim of a successor."""
    dead = {died.dead_node: died for died in history.of(NodeDied)}
    ended: dict[str, CoordinatorClaimed] = {}
    claims: list[CoordinatorClaimed] = []
    for claim in history.of(CoordinatorClaimed):
        for former in claims:
            died = dead.get(former.node)
            lives = died is None or history.position(died) > history.position(claim)
            if former.node != claim.node and lives:
                ended.setdefault(former.node, claim)
        ended.pop(claim.node, None)
        claims.append(claim)
    return ended


def sayings_of_superseded(history: History) -> list[tuple[CoordinatorClaimed, Event]]:
    """Events of coordinators after a successor had claimed its epoch, each with the first such claim."""
    ended = superseded(history)
    if not ended:
        return []
    behind = {node: history.position(claim) for node, claim in ended.items()}
    return [
        (ended[event.node], event)
        for position, event in enumerate(history.events)
        if position > behind.get(event.node, position)
    ]


def of_the_job(history: History) -> History:
    """The history without the events of superseded coordinators."""
    said = {id(event) for _, event in sayings_of_superseded(history) if not isinstance(event, _SEEN_BY_ALL)}
    if not said:
        return history
    events = [event for event in history.events if id(event) not in said]
    return History(history.plan, history.claims, history.inputs, history.output, events, history.end)
