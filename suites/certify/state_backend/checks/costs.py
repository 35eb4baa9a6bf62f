"""INC-08, SBK-11: what a backend costs, reported beside something that everybody knows.

Bytes are judged. Times are not: they are of this machine now, and stand there to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import shake_128
from time import perf_counter_ns  # noqa: TID251 - reported, and never judged

from holdfast.harness.spi.state import Flag, Manifest, SnapshotKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.checks.increments import uploaded
from holdfast.suites.certify.state_backend.live import Live

VALUES = 400
VALUE_BYTES = 100
ROUNDS = 6
"""Increments of one share, so that chains which begin anew count as well."""
SHARES_PERCENT = (1, 3, 10, 50, 100)
CHEAPER_UP_TO_PERCENT = 3
"""Where so much has changed or less, increments must write less than full snapshots in the same rounds. Who writes what
changed in buckets or pages writes all of them where more has."""
KEYS = 1_000
BATCH = 100
PASSES = 5


def change_rates(bench: Bench) -> None:
    for percent in SHARES_PERCENT:
        live = bench.fresh()
        _put(live, range(VALUES), b"first")
        bench.complete(live, *uploaded(bench, live))
        increments = full = 0
        for number in range(ROUNDS):
            count = VALUES * percent // 100
            _put(live, [(number * count + each) % VALUES for each in range(count)], b"%d" % number)
            full += _savepoint_bytes(bench, live)
            before = bench.stored_bytes("shared")
            taken, manifest = uploaded(bench, live)
            increments += bench.stored_bytes("shared") - before
            completed = bench.complete(live, taken, manifest)
        if percent <= CHEAPER_UP_TO_PERCENT and increments >= full:
            raise Violation(
                "INC-08",
                f"with {percent} % of {VALUES} values changed before each of {ROUNDS} checkpoints, increments write "
                f"{increments} bytes, and full snapshots {full}: fewer is right.",
            )
        files, read = _referred(completed.parts)
        bench.figure(
            f"{percent} % changed: increments write {increments / full:.0%} of the bytes of full snapshots; the last "
            f"one is restored from {files} files with {read / (full / ROUNDS):.0%} of the bytes"
        )
        bench.restored(completed).compare()


def operations(bench: Bench) -> None:
    """One program on the backend and on a dict: batches that read values and write others."""
    live = bench.fresh()
    table = live.table("value")
    known: dict[bytes, bytes] = {}
    mine = _Stopwatch(
        lambda keys: table.get(GROUPS.start, b"", keys, now_ms=0),
        lambda pairs: table.put(GROUPS.start, b"", pairs, now_ms=0),
    )
    peer = _Stopwatch(lambda keys: [known.get(key) for key in keys], known.update)
    for number in range(PASSES * KEYS // BATCH):
        keys = [b"%d" % ((number * BATCH + each) * 7 % KEYS) for each in range(BATCH)]
        found, right = mine.read(keys), peer.read(keys)
        if list(found) != list(right):
            raise Violation("SBK-11", f"batch {number} of {BATCH} keys reads other values than were written.")
        pairs = [(key, key + b"=%d" % number) for key in keys]
        mine.write(pairs)
        peer.write(pairs)
    bench.hit("measured")
    bench.figure(f"{mine.words}; a dict: {peer.words}")


class _Stopwatch:
    """Reads and writes of one store, and how long they took."""

    def __init__(
        self,
        read: Callable[[Sequence[bytes]], Sequence[bytes | None]],
        write: Callable[[Sequence[tuple[bytes, bytes]]], None],
    ) -> None:
        self._read, self._write = read, write
        self.read_ns = self.write_ns = 0

    def read(self, keys: Sequence[bytes]) -> Sequence[bytes | None]:
        began = perf_counter_ns()
        found = self._read(keys)
        self.read_ns += perf_counter_ns() - began
        return found

    def write(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        began = perf_counter_ns()
        self._write(pairs)
        self.write_ns += perf_counter_ns() - began

    @property
    def words(self) -> str:
        count = PASSES * KEYS
        per_second = count * 1e9 / max(self.read_ns + self.write_ns, 1)
        return (
            f"get {self.read_ns / count / 1e3:.2f} µs, put {self.write_ns / count / 1e3:.2f} µs, "
            f"{per_second:,.0f} records per second"
        )


def _put(live: Live, numbers: Sequence[int], salt: bytes) -> None:
    for number in numbers:
        value = shake_128(b"%d %s" % (number, salt)).digest(VALUE_BYTES)  # Nothing makes it shorter.
        # Neighbours share a key group: a backend whose files are of one each writes few of them, too.
        live.put("value", GROUPS[number * len(GROUPS) // VALUES], b"", [(b"%d" % number, value)])


def _savepoint_bytes(bench: Bench, live: Live) -> int:
    """Bytes of a full snapshot of what is there now."""
    before = bench.stored_bytes("")
    taken, _ = uploaded(bench, live, SnapshotKind.SAVEPOINT)
    written = bench.stored_bytes("") - before
    bench.sweep(taken.checkpoint)
    return written


def _referred(parts: Sequence[Manifest]) -> tuple[int, int]:
    """How many files a checkpoint has, and how many bytes."""
    references = [each.reference for part in parts for each in part.handles if each.reference is not None]
    return len(references), sum(each.length for each in references)


CHECKS = (
    Check("INC-08/change-rates", "Where little changes, increments write less than full snapshots.", change_rates,
          frozenset({Flag.INCREMENTAL})),
    Check("SBK-11/operations", "A get and a put cost so much, and a dict so much; what is read is right.", operations,
          windows=("measured",)),
)  # fmt: skip
