"""The kit's own feeders, for formats that it knows. They share no code with any source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote_from_bytes

from holdfast.harness.spi.source import Feeder


class Files:
    """One file for each call, which appears whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0

    def append(self, partition: int, records: Sequence[tuple[bytes, int]]) -> None:
        self.number += 1
        unfinished = self.folder / f"_unfinished-{self.number}"
        unfinished.write_text("".join(f"{at_ms}\t{quote_from_bytes(value)}\n" for value, at_ms in records))
        unfinished.rename(self.folder / f"p{partition}-{self.number:04d}")

    def falsify_positions(self, job: str) -> None:
        """Nothing is published."""

    def close(self) -> None:
        pass


FEEDERS: Mapping[str, Callable[[Path], Feeder]] = {"files": Files}
"""By `SourceDescription.feeder`."""
