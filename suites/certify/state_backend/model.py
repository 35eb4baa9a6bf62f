"""The kit's own model of keyed state. It shares no code with any backend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.harness.spi.state import StateDescriptor, StateEntry, StateKind, Timer

Place = tuple[str, int, bytes, bytes]
"""State, key group, namespace, key."""
TIMER_KINDS = (StateKind.EVENT_TIME_TIMERS, StateKind.PROCESSING_TIME_TIMERS)


def last_four(old: bytes, new: bytes) -> bytes:
    """What reducing state does here: order matters to it, and grouping does not."""
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
        values: by place, the value and from when on it is gone in milliseconds; -1: never.
        timers: by name of their state.
    """

    def __init__(self, descriptors: Iterable[StateDescriptor] = ()) -> None:
        self.descriptors = {each.name: each for each in descriptors}
        self.values: dict[Place, tuple[bytes, int]] = {}
        self.timers: dict[str, set[Timer]] = {}

    def copy(self) -> Model:
        """As it is now."""
        other = Model(self.descriptors.values())
        other.values = dict(self.values)
        other.timers = {name: set(timers) for name, timers in self.timers.items()}
        return other

    def within(self, groups: range) -> Model:
        """The part of some key groups."""
        other = Model(self.descriptors.values())
        other.values = {place: value for place, value in self.values.items() if place[1] in groups}
        other.timers = {
            name: {timer for timer in timers if timer.key_group in groups} for name, timers in self.timers.items()
        }
        return other

    def get(self, place: Place, now_ms: int) -> bytes | None:
        value, expires_ms = self.values.get(place, (b"", 0))
        return value if place in self.values and (expires_ms < 0 or now_ms < expires_ms) else None

    def put(self, place: Place, value: bytes, now_ms: int) -> None:
        ttl_ms = self.descriptors[place[0]].ttl_ms
        self.values[place] = (value, -1 if ttl_ms is None else now_ms + ttl_ms)

    def merge(self, place: Place, value: bytes, now_ms: int) -> None:
        old = self.get(place, now_ms)
        kind = self.descriptors[place[0]].kind
        if old is None:
            self.put(place, value, now_ms)
        elif kind is StateKind.LIST:
            self.put(place, old + value, now_ms)
        else:
            self.put(place, (last_four if kind is StateKind.REDUCING else greatest)(old, value), now_ms)

    def remove(self, place: Place) -> None:
        self.values.pop(place, None)

    def clear(self, state: str, key_group: int, namespace: bytes) -> None:
        for place in [each for each in self.values if each[:3] == (state, key_group, namespace)]:
            del self.values[place]

    def scan(
        self, state: str, key_group: int, namespace: bytes, now_ms: int, start: bytes = b"", end: bytes | None = None
    ) -> list[tuple[bytes, bytes]]:
        return sorted(
            (place[3], value)
            for place, (value, expires_ms) in self.values.items()
            if place[:3] == (state, key_group, namespace)
            and place[3] >= start
            and (end is None or place[3] < end)
            and (expires_ms < 0 or now_ms < expires_ms)
        )

    def namespaces(self, state: str, key_group: int, now_ms: int) -> set[bytes]:
        """Those with a value that is not expired."""
        return {
            place[2] for place in self.values if place[:2] == (state, key_group) and self.get(place, now_ms) is not None
        }

    def occupied(self, state: str, key_group: int) -> set[bytes]:
        """Namespaces with any value; one that is expired may have been removed."""
        return {place[2] for place in self.values if place[:2] == (state, key_group)}

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
        for place, (value, expires_ms) in self.values.items():
            if self.get(place, now_ms) is not None:
                yield StateEntry(*place, value, expires_ms)
        for state, timers in self.timers.items():
            for timer in timers:
                at = timer.at_ms.to_bytes(8, signed=True)
                yield StateEntry(state, timer.key_group, timer.namespace, timer.key, at)
