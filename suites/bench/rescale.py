"""A rescale of keyed state: what each subtask stores, and how long the snapshot and a restore at another width take.

The same state is kept by 1, 2, 4 and 8 subtasks, each with its range of key groups. Then two snapshots of two subtasks
are restored by four, and four by two. Subtasks work one after the other here; a job waits for the slowest of them, so
that is what is reported.

python -m holdfast.suites.bench.rescale [--megabytes 100] [--backends hashmap,rocksdb]
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.rocksdb.backend import RocksDBBackend
from holdfast.fixtures.reference.operators.key_group import key_groups
from holdfast.harness.spi.state import KeyedStateBackend, KeyedStateBackendFactory, Manifest, StateContext
from holdfast.suites.bench.figures import load, table
from holdfast.suites.bench.folder_streams import FolderStreams
from holdfast.suites.bench.state_backends import AMPLE_BYTES, BUDGET_BYTES, VALUE, VALUE_BYTES

GROUPS = 128
WIDTHS = (1, 2, 4, 8)
CHANGES = ((2, 4), (4, 2))
BATCH = 500
BACKENDS: Mapping[str, KeyedStateBackendFactory] = {"hashmap": HashMapBackend, "rocksdb": RocksDBBackend}


class Stored(NamedTuple):
    """The snapshots of all subtasks of one width, with the megabytes and the seconds of the largest and the slowest."""

    manifests: Sequence[Manifest]
    largest_mb: float
    slowest_s: float


class Subtasks:
    """The subtasks of one operator.

    Args:
        factory: of their backends.
        width: how many there are.
        folder: for their files, and for those of their snapshots.
        attempt: that they are of.
    """

    def __init__(self, factory: KeyedStateBackendFactory, width: int, folder: Path, attempt: int) -> None:
        memory = AMPLE_BYTES if factory is HashMapBackend else BUDGET_BYTES
        self.backends: list[KeyedStateBackend] = []
        for index in range(width):
            place = folder / f"{width}-{index}-{attempt}"
            place.mkdir()
            self.backends.append(
                factory(
                    StateContext(
                        job="job",
                        operator="operator",
                        subtask=index,
                        attempt=attempt,
                        key_groups=key_groups(index, width, GROUPS),
                        max_parallelism=GROUPS,
                        memory_bytes=memory,
                        folder=place,
                    )
                )
            )

    def fill(self, keys: int) -> None:
        """Write one value for each key."""
        source, width = random.Random(1), len(self.backends)
        tables = [backend.table(VALUE) for backend in self.backends]
        for group in range(GROUPS):
            values = tables[group * width // GROUPS]
            numbers = range(group, keys, GROUPS)
            for at in range(0, len(numbers), BATCH):
                pairs = [(number.to_bytes(8), source.randbytes(VALUE_BYTES)) for number in numbers[at : at + BATCH]]
                values.put(group, b"", pairs, now_ms=0)

    def store(self, streams: FolderStreams) -> Stored:
        """Take and upload the first snapshot of each."""
        manifests, sizes, times = [], [], []
        for backend in self.backends:
            before, begun = streams.written_bytes, time.monotonic()
            snapshot = backend.snapshot(1)
            manifests.append(snapshot.upload(streams, lambda: False))
            times.append(time.monotonic() - begun)
            sizes.append((streams.written_bytes - before) / (1 << 20))
            snapshot.release()
        return Stored(manifests, max(sizes), max(times))

    def restore(self, manifests: Sequence[Manifest], streams: FolderStreams) -> float:
        """Restore each from those snapshots that hold something of it; the seconds of the slowest."""
        width, times = len(self.backends), []
        for index, backend in enumerate(self.backends):
            own = key_groups(index, width, GROUPS)
            parts = [each for each in manifests if each.first_key_group < own.stop and own.start < each.end_key_group]
            begun = time.monotonic()
            backend.restore(parts, streams, claimed=False)
            times.append(time.monotonic() - begun)
        return max(times)

    def close(self) -> None:
        """Free what they hold."""
        for backend in self.backends:
            backend.close()


Rows = list[list[str]]


def measured(factory: KeyedStateBackendFactory, megabytes: int, folder: Path) -> tuple[Rows, Rows]:
    """The rows of widths, and those of changes of the width."""
    keys = (megabytes << 20) // VALUE_BYTES
    storages = {width: FolderStreams(folder / f"storage-{width}") for width in WIDTHS}
    stored: dict[int, Stored] = {}
    for width in WIDTHS:
        subtasks = Subtasks(factory, width, folder, attempt=1)
        subtasks.fill(keys)
        stored[width] = subtasks.store(storages[width])
        subtasks.close()
    changes = []
    for former, width in CHANGES:
        subtasks = Subtasks(factory, width, folder, attempt=2)
        seconds = subtasks.restore(stored[former].manifests, storages[former])
        subtasks.close()
        changes.append([f"{former} to {width}", f"{seconds:.2f}", f"{megabytes / seconds:.0f}"])
    widths = [[str(width), f"{each.largest_mb:.1f}", f"{each.slowest_s:.2f}"] for width, each in stored.items()]
    return widths, changes


def main(
    megabytes: Annotated[int, typer.Option(min=1, help="Size of all state together.")] = 100,
    backends: Annotated[str, typer.Option(help="Which, separated by commas.")] = "hashmap,rocksdb",
) -> None:
    """Measure, and print two tables."""
    console = Console(soft_wrap=True)
    widths: list[list[str]] = []
    changes: list[list[str]] = []
    for name in backends.split(","):
        if name not in BACKENDS:
            raise typer.BadParameter(f"backend {name!r} is unknown; there are: {', '.join(BACKENDS)}.")
        with tempfile.TemporaryDirectory() as folder:
            of_widths, of_changes = measured(BACKENDS[name], megabytes, Path(folder))
        widths += [[name, *row] for row in of_widths]
        changes += [[name, *row] for row in of_changes]
    columns = ["backend", "subtasks", "largest MB", "slowest snapshot s"]
    console.print(table(f"{megabytes} MB of state in all", columns, widths))
    columns = ["backend", "subtasks", "slowest restore s", "MB/s of all state"]
    console.print("\n" + table("Restored at another parallelism", columns, changes))
    console.print(f"\n{load()}")


if __name__ == "__main__":
    typer.run(main)
