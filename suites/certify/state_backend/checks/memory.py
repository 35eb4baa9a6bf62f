"""ASY-06, SBK-08: what a backend holds, on the heap of Python and in its folder. Native memory is not seen."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from gc import collect
from hashlib import shake_128

from holdfast.harness.spi.state import Flag
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.live import Live

GROUP = GROUPS.start
VALUES = 50
VALUE_BYTES = 1 << 12
STATE_BYTES = VALUES * VALUE_BYTES
ROUNDS = 40
MOST_BYTES = ROUNDS * STATE_BYTES // 2
"""Half of what is held if one version of each round is."""
BUDGET_BYTES = 1 << 20


def freed(bench: Bench) -> None:
    """Rounds of snapshots that complete, are aborted, and are never uploaded."""
    with _traced():
        live = bench.fresh()
        _round(bench, live, 0)
        before = _held(bench)
        for number in range(1, ROUNDS + 1):
            _round(bench, live, number)
        growth = _held(bench) - before
    if growth > MOST_BYTES:
        raise Violation(
            "ASY-06",
            f"behind {ROUNDS} snapshots of {STATE_BYTES} bytes, each of them released, it holds {growth} bytes more "
            "than behind one: what a snapshot holds must be freed.",
        )


def versions(bench: Bench) -> None:
    """The same storm of writes without an open snapshot, and with one."""
    with _traced():
        live = bench.fresh()
        _round(bench, live, 0)
        alone = _storm(bench, live)
        _round(bench, live, 1)
        taken = live.snapshot()
        held = _storm(bench, live)
        bench.hit("storm-under-an-open-snapshot")
        taken.snapshot.release()
    if held - alone > MOST_BYTES:
        raise Violation(
            "ASY-06",
            f"{ROUNDS} times {STATE_BYTES} bytes were written over: an open snapshot holds {held - alone} bytes more "
            "than none; what was there at its moment, once, is right.",
        )


def within_memory(bench: Bench) -> None:
    with _traced():
        live = bench.fresh(memory_bytes=BUDGET_BYTES)
        before = _held(bench) - bench.folder_bytes()
        for number in range(10 * BUDGET_BYTES // STATE_BYTES):
            _write(bench, live, number, keys=number)
        on_the_heap = _held(bench) - bench.folder_bytes() - before
        bench.hit("beyond-the-budget")
    if on_the_heap > 5 * BUDGET_BYTES:
        raise Violation(
            "SBK-08",
            f"ten times its budget of {BUDGET_BYTES} bytes is written, and {on_the_heap} bytes are on the heap.",
        )


def _round(bench: Bench, live: Live, number: int) -> None:
    """One of each: the last one completes."""
    for fate in ("dropped", "aborted", "completed"):
        _write(bench, live, number)
        taken = live.snapshot()
        _write(bench, live, number + 1)
        manifest = None if fate == "dropped" else bench.upload(taken)
        if manifest is not None and fate == "completed":
            bench.complete(live, taken, manifest)
        else:
            bench.abort(live, taken, manifest)
        taken.snapshot.release()


def _storm(bench: Bench, live: Live) -> int:
    """Bytes that it leaves."""
    before = _held(bench)
    for number in range(ROUNDS):
        _write(bench, live, number)
    return _held(bench) - before


def _write(bench: Bench, live: Live, number: int, keys: int = 0) -> None:
    """Write over everything, past the model, which does not count. Nothing makes the values shorter."""
    content = shake_128(b"%d" % number).digest(STATE_BYTES)
    size = bench.filling_bytes(VALUE_BYTES)
    pairs = [(b"%d/%d" % (keys, at), content[at : at + size]) for at in range(0, STATE_BYTES, size)]
    live.require_allowed(b"", [key for key, _ in pairs])
    live.table("value").put(GROUP, b"", pairs, now_ms=bench.now_ms)


def _held(bench: Bench) -> int:
    """Bytes on the heap and in folders, without what lies in the storage of the kit."""
    collect()
    return tracemalloc.get_traced_memory()[0] + bench.folder_bytes() - bench.stored_bytes("")


@contextmanager
def _traced() -> Iterator[None]:
    begun = not tracemalloc.is_tracing()
    if begun:
        tracemalloc.start()
    try:
        yield
    finally:
        if begun:
            tracemalloc.stop()


CHECKS = (
    Check("ASY-06/freed", "What snapshots held is free behind them, whatever became of them.", freed),
    Check("ASY-06/versions", "An open snapshot holds its moment, and not every version since.", versions,
          windows=("storm-under-an-open-snapshot",)),
    Check("SBK-08/within-memory", "State of ten times the budget is not on the heap.", within_memory,
          frozenset({Flag.SPILLS}), ("beyond-the-budget",)),
)  # fmt: skip
