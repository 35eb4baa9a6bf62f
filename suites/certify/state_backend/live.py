"""A backend beside the model: each operation is done to both, and what they say is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice, pairwise
from typing import NamedTuple

from holdfast.harness.spi.state import (
    Convert,
    Flag,
    KeyedStateBackend,
    Manifest,
    Snapshot,
    SnapshotKind,
    StateDescriptor,
    StateEntry,
    StateKind,
    StateTable,
    Timer,
    TimerService,
)
from holdfast.suites.certify.check import CannotTry, Violation, excerpt, unlike
from holdfast.suites.certify.state_backend.model import TIMER_KINDS, Model, element, greatest, last_four
from holdfast.suites.certify.state_backend.world import World

Pairs = Sequence[tuple[bytes, bytes]]
TTL_MS = 100
ALL_STATES = (
    StateDescriptor(name="value", kind=StateKind.VALUE),
    StateDescriptor(name="map", kind=StateKind.MAP),
    StateDescriptor(name="list", kind=StateKind.LIST),
    StateDescriptor(name="reducing", kind=StateKind.REDUCING),
    StateDescriptor(name="aggregating", kind=StateKind.AGGREGATING),
    StateDescriptor(name="mortal", kind=StateKind.VALUE, ttl_ms=TTL_MS),
    StateDescriptor(name="mortal-list", kind=StateKind.LIST, ttl_ms=TTL_MS),
    StateDescriptor(name="event-timers", kind=StateKind.EVENT_TIME_TIMERS),
    StateDescriptor(name="processing-timers", kind=StateKind.PROCESSING_TIME_TIMERS),
)
_REDUCE = {StateKind.REDUCING: last_four, StateKind.AGGREGATING: greatest}
SHOWN_BYTES, SHOWN_ITEMS = 24, 3
MERGED = (StateKind.LIST, StateKind.REDUCING, StateKind.AGGREGATING)


def states_for(flags: frozenset[Flag]) -> tuple[StateDescriptor, ...]:
    """All states that such a backend can have."""
    return tuple(
        each
        for each in ALL_STATES
        if (Flag.MERGE in flags or each.kind not in MERGED)
        and (Flag.TTL in flags or each.ttl_ms is None)
        and (Flag.TIMERS in flags or each.kind not in TIMER_KINDS)
    )


class Taken:
    """A snapshot, with what must be in it."""

    def __init__(self, checkpoint: int, kind: SnapshotKind, snapshot: Snapshot, model: Model) -> None:
        self.checkpoint = checkpoint
        self.kind = kind
        self.snapshot = snapshot
        self.model = model


class Live:
    """One life of one backend.

    Attributes:
        model: what must be there now.
        rule: that a difference violates, where no other is named.
    """

    def __init__(
        self, world: World, name: str, backend: KeyedStateBackend, groups: range, model: Model, subtask: int = 0
    ) -> None:
        self.world = world
        self.subtask = subtask
        self.name = name
        self.backend = backend
        self.groups = groups
        self.model = model
        self.rule = world.rule
        self._tables: dict[str, StateTable] = {}
        self._timers: dict[str, TimerService] = {}

    def register(self, descriptors: Sequence[StateDescriptor], convert: Convert | None = None) -> None:
        """Register states, in this order."""
        for each in descriptors:
            self.model.descriptors[each.name] = each
            if each.kind in TIMER_KINDS:
                self._timers[each.name] = self.backend.timers(each)
            else:
                self._tables[each.name] = self.backend.table(each, _REDUCE.get(each.kind), convert)

    def migrate(self, descriptor: StateDescriptor, convert: Convert) -> None:
        """Register a restored state by a newer descriptor; what is there is converted."""
        self.model.convert(descriptor.name, convert)
        self.register([descriptor], convert)

    def register_in_vain(self, descriptor: StateDescriptor) -> None:
        """Register a table in a way that is refused: the model does not know of it."""
        self.backend.table(descriptor, _REDUCE.get(descriptor.kind))

    @property
    def registered(self) -> Set[str]:
        """Names of the states that are registered."""
        return self._tables.keys() | self._timers.keys()

    def table(self, state: str) -> StateTable:
        return self._tables[state]

    def timer_service(self, state: str) -> TimerService:
        return self._timers[state]

    # ---------------------------------------------------------------- tables
    def put(self, state: str, key_group: int, namespace: bytes, pairs: Pairs) -> None:
        self.require_allowed(namespace, [key for key, _ in pairs], [value for _, value in pairs])
        now_ms = self._timed(f"put({state!r}, {key_group}, {_said(namespace)}, {_said(pairs)}")
        self._tables[state].put(key_group, namespace, pairs, now_ms=now_ms)
        for key, value in pairs:
            self.model.put((state, key_group, namespace), key, value, now_ms)

    def merge(self, state: str, key_group: int, namespace: bytes, pairs: Pairs) -> None:
        longest = self.model.longest_merged((state, key_group, namespace), pairs, self.world.now_ms)
        self.require_allowed(namespace, [key for key, _ in pairs], [value for _, value in pairs], longest)
        now_ms = self._timed(f"merge({state!r}, {key_group}, {_said(namespace)}, {_said(pairs)}")
        self._tables[state].merge(key_group, namespace, pairs, now_ms=now_ms)
        for key, value in pairs:
            self.model.merge((state, key_group, namespace), key, value, now_ms)

    def merge_if_it_fits(self, state: str, key_group: int, namespace: bytes, pairs: Pairs) -> None:
        """Merge, unless a value would become longer than is declared: that would be refused rightly."""
        longest = self.model.longest_merged((state, key_group, namespace), pairs, self.world.now_ms)
        if longest <= self.world.limits["max_value_bytes"]:
            self.merge(state, key_group, namespace, pairs)

    def remove(self, state: str, key_group: int, namespace: bytes, keys: Sequence[bytes]) -> None:
        self._step(f"remove({state!r}, {key_group}, {_said(namespace)}, {_said(keys)})")
        self._tables[state].remove(key_group, namespace, keys)
        for key in keys:
            self.model.remove((state, key_group, namespace), key)

    def clear(self, state: str, key_group: int, namespace: bytes) -> None:
        self._step(f"clear({state!r}, {key_group}, {_said(namespace)})")
        self._tables[state].clear(key_group, namespace)
        self.model.clear((state, key_group, namespace))

    def get(self, state: str, key_group: int, namespace: bytes, keys: Sequence[bytes]) -> None:
        now_ms = self._timed(f"get({state!r}, {key_group}, {_said(namespace)}, {_said(keys)}")
        found = list(self._tables[state].get(key_group, namespace, keys, now_ms=now_ms))
        wanted = [self.model.get((state, key_group, namespace), key, now_ms) for key in keys]
        self.same(f"get of {state}", found, wanted)

    def scan(
        self, state: str, key_group: int, namespace: bytes, start: bytes = b"", end: bytes | None = None
    ) -> OpenScan:
        now_ms = self._timed(f"scan({state!r}, {key_group}, {_said(namespace)}, {_said(start)}, {_said(end)}")
        found = self._tables[state].scan(key_group, namespace, start, end, now_ms=now_ms)
        return OpenScan(self, state, found, self.model.scan((state, key_group, namespace), now_ms, start, end))

    def require_allowed(
        self, namespace: bytes, keys: Sequence[bytes], values: Sequence[bytes] = (), merged: int = 0
    ) -> None:
        """Nothing that is longer than the backend declares is expected to be taken, nor made by a merge.

        Raises:
            CannotTry: something is.
        """
        for limit, lengths in (
            ("max_namespace_bytes", [len(namespace)]),
            ("max_key_bytes", map(len, keys)),
            ("max_value_bytes", [merged, *map(len, values)]),
        ):
            needed = max(lengths, default=0)
            if needed > (allowed := self.world.limits.get(limit, needed)):
                raise CannotTry(f"it needs a {limit} of {needed}, and {allowed} is declared")

    # ---------------------------------------------------------------- timers
    def add_timers(self, state: str, timers: Sequence[Timer]) -> None:
        for each in timers:
            self.require_allowed(each.namespace, [each.key])
        self._step(f"register({state!r}, {_said(timers)})")
        there = self.model.timers.setdefault(state, set())
        new = set(timers) - there
        self.same(f"number of new timers of {state}", self._timers[state].register(timers), len(new))
        there |= new

    def delete_timers(self, state: str, timers: Sequence[Timer]) -> None:
        self._step(f"delete({state!r}, {_said(timers)})")
        there = self.model.timers.setdefault(state, set())
        gone = set(timers) & there
        self.same(f"number of deleted timers of {state}", self._timers[state].delete(timers), len(gone))
        there -= gone

    def poll(self, state: str, until_ms: int, limit: int) -> None:
        self._step(f"poll({state!r}, {until_ms}, {limit})")
        found = list(self._timers[state].poll(until_ms, limit))
        self.same(f"timers of {state} until {until_ms}", found, list(self.model.poll(state, until_ms, limit)))
        self.same(f"first timer of {state}", self._timers[state].first(), self.model.first(state))

    # ---------------------------------------------------------------- checkpoints
    def snapshot(self, kind: SnapshotKind = SnapshotKind.CHECKPOINT, checkpoint: int = 0) -> Taken:
        """Take a snapshot, of the next checkpoint if none is named."""
        checkpoint = checkpoint or self.world.next_checkpoint()
        self._step(f"snapshot({checkpoint}, {kind.value!r})")
        with self.world.guarded():
            snapshot = self.backend.snapshot(checkpoint, kind)
        self.world.pending.add(checkpoint)
        return Taken(checkpoint, kind, snapshot, self.model.copy())

    def close(self) -> None:
        self._step("close()")
        self.backend.close()

    # ---------------------------------------------------------------- comparing
    def compare(self, *, drain_timers: bool = False) -> None:
        """Everything in every key group; timers by their first alone, or all of them, which are gone then."""
        self._step("compare()")
        now_ms = self.world.now_ms
        for state, table in self._tables.items():
            for key_group in self.groups:
                self._compare(state, table, key_group, now_ms)
        for state, timers in self._timers.items():
            self.same(f"first timer of {state}", timers.first(), self.model.first(state))
            if drain_timers:
                self.same(f"all timers of {state}", list(timers.poll(1 << 62, 1 << 20)),
                          list(self.model.poll(state, 1 << 62, 1 << 20)))  # fmt: skip

    def _compare(self, state: str, table: StateTable, key_group: int, now_ms: int) -> None:
        """One key group of one state; a namespace of what is expired may be there."""
        found, held = list(table.namespaces(key_group)), self.model.namespaces(state, key_group)
        known = set(found)
        self.same(f"namespaces of {state} ascending", found, sorted(known))
        if empty := known - held:
            self.same(f"empty namespaces of {state} in key group {key_group}", sorted(empty), [])
        for namespace in sorted(known | held):
            wanted = self.model.scan((state, key_group, namespace), now_ms)
            if wanted and namespace not in known:
                self.same(f"namespaces of {state} in key group {key_group} without", [namespace], [])
            what = f"{state} in key group {key_group}, namespace {namespace!r}"
            scanned = list(table.scan(key_group, namespace, now_ms=now_ms))
            self.same(what, scanned, wanted)
            if scanned:
                keys = [key for key, _ in scanned]
                self.same(f"get of {what}", list(table.get(key_group, namespace, keys, now_ms=now_ms)),
                          [value for _, value in scanned])  # fmt: skip

    def refuses(self, what: str, error: type[Exception], call: Callable[[], object]) -> None:
        """A call must raise this, and is to change nothing."""
        self._step(what)
        try:
            call()
        except error:
            return
        raise Violation(self.rule, f"{self.name}: {what} raised nothing; {error.__name__} is right.")

    def same(self, what: str, found: object, wanted: object) -> None:
        """Violates the rule unless both are equal."""
        if found != wanted:
            shown, right = unlike(found, wanted)
            raise Violation(self.rule, f"{self.name}: {what} is {shown}; {right} is right.")

    def _step(self, step: str) -> None:
        self.world.step(f"{self.name}.{excerpt(step)}")

    def _timed(self, step: str) -> int:
        """A step that depends on time: note it, and say what time it is."""
        self._step(f"{step}, now_ms={self.world.now_ms})")
        return self.world.now_ms


def ascending(entries: Sequence[StateEntry]) -> Sequence[StateEntry]:
    """The entries of a snapshot, which must be in order."""
    for before, after in pairwise(entries):
        if not before < after:
            raise Violation("SBK-06", f"entries are not ascending: {before} comes before {after}.")
    return entries


def _said(given: object) -> str:
    """An argument as a step shows it: of many or long things the first and the last, and how many or how long."""
    if isinstance(given, bytes) and len(given) > SHOWN_BYTES:
        return f"{given[:SHOWN_BYTES]!r}... of {len(given)} bytes"
    if isinstance(given, tuple) and not isinstance(given, Timer):
        return f"({', '.join(map(_said, given))})"
    if isinstance(given, Sequence) and not isinstance(given, bytes | str):
        shown = [_said(each) for each in (given if len(given) <= SHOWN_ITEMS else (given[0], given[-1]))]
        return f"[{', '.join(shown)}]" if len(given) <= SHOWN_ITEMS else f"[{shown[0]}, ... {shown[1]}] of {len(given)}"
    return repr(given)


class OpenScan:
    """An iterator that was begun, with what it must show."""

    def __init__(self, live: Live, state: str, found: Iterator[tuple[bytes, bytes]], wanted: Pairs) -> None:
        self._live = live
        self._state = state
        self._found = found
        self._wanted = list(wanted)
        self._taken: list[tuple[bytes, bytes]] = []

    def take(self, count: int) -> None:
        """Go on by some items."""
        self._live.world.step(f"take {count} of the scan of {self._state}")
        self._taken += islice(self._found, count)
        wanted = self._wanted[: len(self._taken)]
        self._live.same(f"a scan of {self._state}, as of its call, so far", self._taken, wanted)

    def finish(self) -> None:
        """Go on to the end."""
        self._live.world.step(f"finish the scan of {self._state}")
        self._taken += self._found
        self._live.same(f"a scan of {self._state}, as of its call,", self._taken, self._wanted)

    def refused(self) -> None:
        """Its backend is closed: what is left of it raises RuntimeError."""
        if len(self._taken) < len(self._wanted):
            self._live.refuses(f"the rest of a scan of {self._state}", RuntimeError, lambda: list(self._found))


class Part:
    """What one subtask does for a checkpoint.

    Attributes:
        manifest: None: it is not stored yet.
    """

    def __init__(self, live: Live, taken: Taken) -> None:
        self.live = live
        self.taken = taken
        self.manifest: Manifest | None = None


class Pending(NamedTuple):
    """A checkpoint that has neither completed nor been aborted."""

    checkpoint: int
    parts: Sequence[Part]


NAMESPACES = (b"", b"window")


def fill(live: Live, salt: bytes = b"") -> None:
    """Put something into every state, in every key group, in two namespaces."""
    for descriptor in live.model.descriptors.values():
        for key_group in live.groups:
            for number, namespace in enumerate(NAMESPACES):
                change(live, descriptor.name, key_group, namespace, number, salt)


def change(live: Live, state: str, key_group: int, namespace: bytes, number: int, salt: bytes) -> None:
    """Put something into one namespace of one state, which depends on all arguments."""
    kind = live.model.descriptors[state].kind
    where = b"%d/%d" % (key_group, number)
    if kind in TIMER_KINDS:
        live.add_timers(state, [Timer(at, key_group, namespace, salt + b"k") for at in (-5, 10 * number, 2_000)])
    elif kind is StateKind.LIST:
        live.merge(state, key_group, namespace, [(b"k", element(salt + where)), (b"k", element(b""))])
        live.merge(state, key_group, namespace, [(b"k", element(b"more"))])
    elif kind in MERGED:
        live.merge(state, key_group, namespace, [(b"k", salt + where), (b"k", b"zz"), (b"other", where)])
    else:
        live.put(state, key_group, namespace, [(b"k", salt + where), (b"empty", b""), (b"", b"no key")])


def change_everything(live: Live) -> None:
    """Other values, other keys, removed keys, cleared namespaces, fired timers."""
    for name, descriptor in live.model.descriptors.items():
        if descriptor.kind in TIMER_KINDS:
            live.poll(name, 10, 3)
            live.add_timers(name, [Timer(3, live.groups.start, b"later", b"later")])
            continue
        for key_group in live.groups:
            if descriptor.kind in MERGED:
                live.merge(name, key_group, b"", [(b"k", element(b"later"))])
            else:
                live.put(name, key_group, b"", [(b"k", b"later"), (b"later", b"")])
                live.remove(name, key_group, b"", [b"empty"])
            live.clear(name, key_group, b"window")
