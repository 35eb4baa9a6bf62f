"""Randomness as an argument: one stream per subsystem, forked by label from one seed.

Streams of different labels share nothing, so a subsystem that draws once more changes no other. Only
`Random.random()` is used below: of the standard generator it alone is promised to give the same sequence in every
version of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from random import Random  # noqa: TID251 - the one place where random numbers come from
from typing import TypeVar

Item = TypeVar("Item")


class Stream:
    """A sequence of draws that depends on (seed, label) alone.

    Attributes:
        draws: how many numbers were taken so far; part of the trace hash.
    """

    __slots__ = ("_next", "draws", "label", "seed")

    def __init__(self, seed: int, label: str) -> None:
        self.seed = seed
        self.label = label
        self.draws = 0
        digest = blake2b(f"{seed}:{label}".encode(), digest_size=16).digest()
        self._next = Random(int.from_bytes(digest, "big")).random

    def fork(self, label: str) -> Stream:
        """The stream of a part; takes nothing from this one."""
        return Stream(self.seed, f"{self.label}/{label}")

    def random(self) -> float:
        """A number in [0, 1)."""
        self.draws += 1
        return self._next()

    def below(self, bound: int) -> int:
        """A whole number in [0, bound)."""
        self.draws += 1
        return int(self._next() * bound)

    def between(self, low: int, high: int) -> int:
        """A whole number in [low, high], both included."""
        self.draws += 1
        return low + int(self._next() * (high - low + 1))

    def of_range(self, low: int, high: int) -> Callable[[], int]:
        """What draws as `between`, for a range of which many numbers are drawn."""
        width, following = high - low + 1, self._next

        def draw() -> int:
            self.draws += 1
            return low + int(following() * width)

        return draw

    def choice(self, items: Sequence[Item]) -> Item:
        self.draws += 1
        return items[int(self._next() * len(items))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        self.draws += 1
        return self._next() < probability

    def weighted(self, weights: Mapping[Item, int]) -> Item:
        """One of the keys, drawn by weight; some weight must be positive."""
        remaining = self.below(sum(weights.values()))
        for item, weight in weights.items():
            remaining -= weight
            if remaining < 0:
                return item
        raise ValueError("no weight is positive")
