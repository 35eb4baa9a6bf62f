"""SBK-07, SBK-08, SBK-10, ASY-06: what a backend holds on Python's heap and in its folder, and storages that are small.

Native memory is not seen. A storage that is small, such as the memory of a coordinator, costs a checkpoint and no more.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from gc import collect
from hashlib import shake_128

from holdfast.fixtures.storages.in_memory import InMemoryStorage
from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.state import Flag, Manifest
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUP, GROUPS, Bench
from holdfast.suites.certify.state_backend.live import Live, Taken, change_everything, fill

KEPT = 10
"""Completed checkpoints that stay."""


def one_file(bench: Bench) -> None:
    """Limits of one byte, around the longest file, and above it."""
    live = _begun(bench, GROUPS, 0)
    older = bench.checkpoint(live, retain=KEPT)
    change_everything(live)
    fill(live, b"newer")
    probe = live.snapshot()
    manifest, lengths = _uploaded(bench, probe)
    longest = max(lengths, default=0)
    bench.abort(live, probe, manifest)
    if not longest:
        raise CannotTry("its snapshots have no file")
    for limit in (1, longest - 1, longest, 2 * longest):
        taken = live.snapshot()
        bench.step(f"the longest file may have {limit} bytes")
        stored = _tried(bench, taken, bench.storage(max_file_bytes=limit), "max_file_bytes")
        if stored is None:
            bench.hit("refused-above-the-limit")
            bench.abort(live, taken)
            bench.check_leaks()
        else:
            bench.hit("stored-below-the-limit")
            completed = bench.complete(live, taken, stored, retain=KEPT)
            bench.restored(completed, claimed=False).compare(drain_timers=True)
        taken.snapshot.release()
    live.compare()
    bench.restored(older, claimed=False).compare(drain_timers=True)


def together(bench: Bench) -> None:
    """Two subtasks, of which each fits, and both do not."""
    middle = GROUPS.start + len(GROUPS) // 2
    lives = [_begun(bench, range(GROUPS.start, middle), 0), _begun(bench, range(middle, GROUPS.stop), 1)]
    taken = _taken(bench, lives)
    older = bench.complete_all([(live, each, bench.upload(each)) for live, each in zip(lives, taken, strict=True)])
    for live in lives:
        change_everything(live)
        fill(live, b"newer")
    taken = _taken(bench, lives)
    uploaded = [_uploaded(bench, each) for each in taken]
    sizes = [sum(lengths) for _, lengths in uploaded]
    for live, each, (manifest, _) in zip(lives, taken, uploaded, strict=True):
        bench.abort(live, each, manifest)
    if not min(sizes):
        raise CannotTry("its snapshots have no file")
    used = bench.stored_bytes("")
    bench.step(f"the budget is {used + max(sizes) + min(sizes) // 2} bytes, of which {used} are used")
    storage = bench.storage(budget_bytes=used + max(sizes) + min(sizes) // 2)
    taken = _taken(bench, lives)
    stored = [_tried(bench, each, storage, "budget_bytes") for each in taken]
    if None not in stored:
        raise Violation(
            "SBK-10", f"snapshots of {sizes} bytes went into the rest of a budget that is less than their sum."
        )
    bench.hit("refused-together")
    bench.check_reachable()
    for live, each, manifest_or_none in zip(lives, taken, stored, strict=True):
        bench.abort(live, each, manifest_or_none)
        each.snapshot.release()
    bench.check_leaks()
    bench.restored(older, claimed=False).compare(drain_timers=True)
    taken = _taken(bench, lives)
    roomy = bench.storage(budget_bytes=used + 4 * sum(sizes) + (1 << 16))
    newer = bench.complete_all(
        [(live, each, bench.upload(each, roomy)) for live, each in zip(lives, taken, strict=True)]
    )
    bench.restored(newer, claimed=False).compare(drain_timers=True)


def _begun(bench: Bench, groups: range, subtask: int) -> Live:
    live = bench.fresh(groups, subtask=subtask)
    fill(live)
    return live


def _taken(bench: Bench, lives: list[Live]) -> list[Taken]:
    checkpoint = bench.next_checkpoint()
    return [live.snapshot(checkpoint=checkpoint) for live in lives]


def _uploaded(bench: Bench, taken: Taken) -> tuple[Manifest, list[int]]:
    """A snapshot that is stored, and the lengths of the files that were not there before."""
    before = set(bench.storage().list_folder(""))
    manifest = bench.upload(taken)
    references = [each.reference for each in manifest.handles if each.reference is not None]
    return manifest, [each.length for each in references if each.path not in before]


def _tried(bench: Bench, taken: Taken, storage: InMemoryStorage, limit: str) -> Manifest | None:
    """Upload; None: it raised Full as the storage did."""
    try:
        return bench.upload(taken, storage)
    except Full as full:
        if full.limit != limit:
            raise Violation(bench.rule, f"the storage refused by {limit}, and upload by {full.limit}.") from full
        return None
    except Exception as other:
        raise Violation(bench.rule, f"upload raised {other!r}; what the storage raised, Full, is right.") from other


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
    Check("SBK-07/one-file", "A file above the limit of the storage is refused as Full, and nothing is lost.", one_file,
          windows=("refused-above-the-limit", "stored-below-the-limit")),
    Check("SBK-10/together", "Files that fit alone and not together fail their checkpoint, and no older one.", together,
          windows=("refused-together",)),
)  # fmt: skip
