"""Parts of the input that arrive at a fixed pace, whatever the engine does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.suites.bench.peers.peer_input import PeerInput


class Arrival(NamedTuple):
    """A part that arrived: its running number, when (in seconds since 1970), and how many records with it so far."""

    number: int
    time_s: float
    records: int


def arrive(
    source: PeerInput, folder: Path, interval_s: float, seconds: float, watch: Callable[[], object]
) -> list[Arrival]:
    """Let parts arrive for some time, and call `watch` whenever there is nothing else to do.

    When a part came later than planned because this process had no turn, its true time counts.
    """
    arrivals: list[Arrival] = []
    records = 0
    for index in _paced(interval_s, seconds, watch):
        records += source.link(folder, index)
        arrivals.append(Arrival(index, time.time(), records))
    return arrivals


def _paced(interval_s: float, seconds: float, watch: Callable[[], object]) -> Iterator[int]:
    begin = time.monotonic()
    for index in range(round(seconds / interval_s)):
        while time.monotonic() < begin + index * interval_s:
            watch()
            time.sleep(max(0.0, min(0.02, begin + index * interval_s - time.monotonic())))
        yield index
