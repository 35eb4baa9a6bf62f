"""The kit's own model of keyed state. It shares no code with any backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from holdfast.harness.spi.state import StateDescriptor, StateEntry, StateKind, Timer

Space = tuple[str, int, bytes]
"""State, key group, namespace."""
TIMER_KINDS = (StateKind.EVENT_TIME_TIMERS, StateKind.PROCESSING_TIME_TIMERS)


REFUSED = b"refused"


class Refused(Exception):
    """What reducing state raises here for one value."""


def last_four(old: bytes, new: bytes) -> bytes:
    """What reducing state does here: order matters to it, and grouping does not.

    Raises:
        Refused: the new value is REFUSED.
    """
    if new == REFUSED:
        raise Refused
    return (old + new)[-4:]


def greatest(old: bytes, new: bytes) -> bytes:
    """What aggregating state does here."""
    return max(old, new)


def element(content: bytes) -> bytes:
    """One element of a list, as the contract lays it out."""
    return len(content).to_bytes(4) + content


class Model:
    """What must be there.

    Attributes:
        descriptors: of every state, by name.
        values: by space and key, the value and from when on it is gone in milliseconds; -1: never. No space is empty.
        timers: by name of their state.
    """

    def __init__(self, descriptors: Iterable[StateDescriptor] = ()) -> None:
        self.descriptors = {each.name: each for each in descriptors}
        self.values: dict[Space, dict[bytes, tuple[bytes, int]]] = {}
        self.timers: dict[str, set[Timer]] = {}

    def copy(self) -> Model:
        """As it is now."""
        other = Model()
        other.add(self)
        return other

    def add(self, other: Model) -> None:
        """What another subtask has, in key groups that are not of this one."""
        self.descriptors.update(other.descriptors)
        self.values.update((space, dict(held)) for space, held in other.values.items())
        for state, timers in other.timers.items():
            self.timers.setdefault(state, set()).update(timers)

    def within(self, groups: range) -> Model:
        """The part of some key groups."""
        other = Model(self.descriptors.values())
        other.values = {space: dict(held) for space, held in self.values.items() if space[1] in groups}
        other.timers = {
            name: {timer for timer in timers if timer.key_group in groups} for name, timers in self.timers.items()
        }
        return other

    def get(self, space: Space, key: bytes, now_ms: int) -> bytes | None:
        held = self.values.get(space, {}).get(key)
        return held[0] if held is not None and (held[1] < 0 or now_ms < held[1]) else None

    def put(self, space: Space, key: bytes, value: bytes, now_ms: int) -> None:
        ttl_ms = self.descriptors[space[0]].ttl_ms
        self.values.setdefault(space, {})[key] = (value, -1 if ttl_ms is None else now_ms + ttl_ms)

    def merge(self, space: Space, key: bytes, value: bytes, now_ms: int) -> None:
        old = self.get(space, key, now_ms)
        kind = self.descriptors[space[0]].kind
        if old is None:
            self.put(space, key, value, now_ms)
        elif kind is StateKind.LIST:
            self.put(space, key, old + value, now_ms)
        else:
            self.put(space, key, (last_four if kind is StateKind.REDUCING else greatest)(old, value), now_ms)

    def longest_merged(self, space: Space, pairs: Sequence[tuple[bytes, bytes]], now_ms: int) -> int:
        """Length of the longest value that merging these pairs makes on its way."""
        beside, held = Model([self.descriptors[space[0]]]), self.values.get(space, {})
        beside.values[space] = {key: held[key] for key, _ in pairs if key in held}
        longest = 0
        for key, value in pairs:
            beside.merge(space, key, value, now_ms)
            longest = max(longest, len(beside.values[space][key][0]))
        return longest

    def remove(self, space: Space, key: bytes) -> None:
        held = self.values.get(space, {})
        if held.pop(key, None) is not None and not held:
            del self.values[space]

    def clear(self, space: Space) -> None:
        self.values.pop(space, None)

    def convert(self, state: str, convert: Callable[[int, bytes], bytes]) -> None:
        """Every value becomes one of a newer version, and keeps its time."""
        version = self.descriptors[state].version
        for held in (held for space, held in self.values.items() if space[0] == state):
            held.update((key, (convert(version, value), expires_ms)) for key, (value, expires_ms) in held.items())

    def holds(self, state: str, now_ms: int) -> bool:
        """Whether there is any value of a state."""
        return any(self.scan(space, now_ms) for space in self.values if space[0] == state)

    def namespaces(self, state: str, key_group: int) -> set[bytes]:
        """Those with a value, expired or not."""
        return {space[2] for space in self.values if space[:2] == (state, key_group)}

    def scan(
        self, space: Space, now_ms: int, start: bytes = b"", end: bytes | None = None
    ) -> list[tuple[bytes, bytes]]:
        return sorted(
            (key, value)
            for key, (value, expires_ms) in self.values.get(space, {}).items()
            if key >= start and (end is None or key < end) and (expires_ms < 0 or now_ms < expires_ms)
        )

    def first(self, state: str) -> Timer | None:
        return min(self.timers.get(state, ()), default=None)

    def poll(self, state: str, until_ms: int, limit: int) -> Sequence[Timer]:
        due = sorted(timer for timer in self.timers.get(state, ()) if timer.at_ms <= until_ms)[:limit]
        self.timers.get(state, set()).difference_update(due)
        return due

    def entries(self, now_ms: int) -> list[StateEntry]:
        """All of it in canonical form, without what is expired."""
        return sorted(self._entries(now_ms))

    def _entries(self, now_ms: int) -> Iterator[StateEntry]:
        for space, held in self.values.items():
            for key, (value, expires_ms) in held.items():
                if expires_ms < 0 or now_ms < expires_ms:
                    yield StateEntry(*space, key, value, expires_ms)
        for state, timers in self.timers.items():
            for timer in timers:
                at = timer.at_ms.to_bytes(8, signed=True)
                yield StateEntry(state, timer.key_group, timer.namespace, timer.key, at)
