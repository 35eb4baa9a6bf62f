"""What drawn programs hold: names, key groups, keys, values and times, most of them where others have their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import shake_128
from typing import NamedTuple

from holdfast.harness.spi.state import StateKind
from holdfast.suites.certify.programs import LENGTHS, text
from holdfast.suites.certify.state_backend.model import element

NAMES = ("s", "s1", "s10", "s2", "S", "s.1", "s-1", "s_1", "s01", "\u00e9", "e\u0301", "s" * 64, "10", "9")
"""Of states: beginnings of each other, numbers that sort otherwise as text, equal as text and different as bytes."""
NAMESPACES = (
    *(b"", b"n", b"nn", b"n\x00", b"\x00", b"\x00\x00", b"\xff", b"\xff\xff", b"a", b"ab", b"9", b"10", b"n" * 255),
    *(b"n" * 300, "\u00e9".encode(), "e\u0301".encode(), bytes(range(256)), b"/", b"%2F"),
)
JOINED = (b"", b"\x00", b"\x00\x00", b"a", b"a\x00", b"aa", b"ab", b"b", b"B", b"z", b"nn", b"\xff", b"\xff\xff")
"""Keys. Each is the beginning of another one, or what stands between two others where they are joined."""
SCHEMES: Mapping[str, Callable[[int], bytes]] = {
    "text": lambda number: b"%d" % number,
    "joined": lambda number: JOINED[number % len(JOINED)],
    "padded": lambda number: b"%06d" % number,
    "big-endian": lambda number: number.to_bytes(4),
    "little-endian": lambda number: number.to_bytes(4, "little"),
    "repeated": lambda number: b"a" * (number % 300),
    "awkward": text,
    "long": lambda number: b"k" * 250 + b"%d" % number,
    "page": lambda number: (b"%d/" % number).ljust(4_097, b"k"),
}
"""How a key is made of a number. Those that repeat themselves make fewer keys than numbers."""
FIRSTS = (0, 1, 8, 95, 250)
STEPS = (1, 1, 2, 7)
TIMES_MS = (0, 1, 2, 3, -1, 5, 1 << 31, 1 << 32, (1 << 53) + 1, -(1 << 32), (1 << 63) - 1, -(1 << 63))
SPREADS_MS = (0, 1, 0, -1)
END_MS = (1 << 63) - 1
PASSED_MS = (1, 49, 50, 99, 100, 1_000)
PARTS = (
    slice(None), slice(None), slice(1), slice(-1, None), slice(1, None, 2), slice(0, None, 2), slice(None, None, -1),
)  # fmt: skip
"""Of the keys of a batch, which a call takes."""
PLACES = ((4, 16), (0, 16), (8, 16), (98, 128), (254, 512), (32_764, 32_768))
"""First of the key groups, and the number of all: where a digit more begins, or a byte more, or where they end."""
GROUPS_EACH = 4
MOST_AT_ONCE = 1_025
"""Keys of one call that is refused: more than are written in one portion."""
_BYTES = shake_128(b"values").digest(max(LENGTHS))
"""Nothing makes them shorter."""
_NEXT = bytes((number + 1) % 256 for number in range(256))


class Batch(NamedTuple):
    """Some keys, and times at which timers of them fire.

    Attributes:
        scheme: how they are made.
        first: number of the first key.
        number: how many; fewer where several numbers make one key.
        step: from one number to the next.
        at_ms: of the first timer.
        spread_ms: from one timer to the next.
    """

    scheme: str = "text"
    first: int = 0
    number: int = 1
    step: int = 1
    at_ms: int = 0
    spread_ms: int = 1

    def keys(self, kind: StateKind, longest: int) -> list[bytes]:
        """Each once, as the kind of the state demands, and no longer than is declared."""
        made = [SCHEMES[self.scheme](self.first + self.step * place) for place in range(self.number)]
        if kind is StateKind.MAP:
            made = [element(b"of-%d" % (number % 2)) + key for number, key in enumerate(made)]
        return [key for key in dict.fromkeys(made) if len(key) <= longest]


def value_of(number: int, length: int, kind: StateKind) -> bytes:
    """A value that no other one of its program equals, if it has room for that.

    Args:
        number: of the value in its program.
        length: in bytes.
        kind: of its state.
    """
    content = (b"%d;" % number + _BYTES[:length])[:length]
    return element(content) if kind is StateKind.LIST else content


def converted(kind: StateKind) -> Callable[[int, bytes], bytes]:
    """Makes a value of the next version: as long as the old one, and another one unless it is empty."""

    def convert(version: int, value: bytes) -> bytes:
        if kind is not StateKind.LIST:
            return value.translate(_NEXT)
        elements, at = [], 0
        while at < len(value):
            end = at + 4 + int.from_bytes(value[at : at + 4])
            elements.append(element(value[at + 4 : end].translate(_NEXT)))
            at = end
        return b"".join(elements)

    return convert
