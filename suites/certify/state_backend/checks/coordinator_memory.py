"""SBK-07, SBK-10: a storage that is small, such as the memory of a coordinator, costs a checkpoint and no more."""

from __future__ import annotations

from holdfast.fixtures.storages.in_memory import InMemoryStorage
from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.state import Manifest
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill
from holdfast.suites.certify.state_backend.live import Live, Taken

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


CHECKS = (
    Check("SBK-07/one-file", "A file above the limit of the storage is refused as Full, and nothing is lost.", one_file,
          windows=("refused-above-the-limit", "stored-below-the-limit")),
    Check("SBK-10/together", "Files that fit alone and not together fail their checkpoint, and no older one.", together,
          windows=("refused-together",)),
)  # fmt: skip
