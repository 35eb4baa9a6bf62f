"""SBK-05: each key group goes to whoever owns it, whole and alone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.state import Manifest
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, Bench, overlapping, require_full
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.model import Model

ALL = range(12)
HIGHEST = range((1 << 15) - 4, 1 << 15)
"""Flink's greatest maximum parallelism."""
WIDTHS = (1, 3, 2, 4, 1)
"""Of the same job, one after the other."""


def scaling(bench: Bench) -> None:
    lives = [bench.fresh(ALL)]
    fill(lives[0])
    for number, width in enumerate(WIDTHS[1:]):
        checkpoint = bench.next_checkpoint()
        taken = [live.snapshot(checkpoint=checkpoint) for live in lives]
        manifests = [bench.upload(each) for each in taken]
        completed = bench.complete_all(list(zip(lives, taken, manifests, strict=True)))
        bounds = [len(ALL) * index // width for index in range(width + 1)]
        lives = [
            bench.restored(completed, range(bounds[index], bounds[index + 1]), subtask=index) for index in range(width)
        ]
        bench.hit("rescaled")
        for live in lives:
            live.compare()
            change_everything(live)
            fill(live, b"%d" % number)
    for live in lives:
        live.compare(drain_timers=True)


def little_behind(bench: Bench) -> None:
    """One value changes behind each restore at another width, which claims all files. Behind several parts, and behind
    that of another subtask, a snapshot is a full one all the same."""
    lives = [bench.fresh(ALL)]
    fill(lives[0])
    former: list[Manifest] = []
    for number, width in enumerate((1, 2, 1, 3, 2)):
        checkpoint = bench.next_checkpoint()
        taken = [live.snapshot(checkpoint=checkpoint) for live in lives]
        manifests = [bench.upload(each) for each in taken]
        for subtask, (live, manifest) in enumerate(zip(lives, manifests, strict=True)):
            parts = overlapping(former, live.groups)
            if parts and [each.subtask for each in parts] != [subtask]:
                bench.hit("not-its-own")
                require_full(manifest, parts, f"a claimed restore of {len(parts)} parts by subtask {subtask}")
        completed = bench.complete_all(list(zip(lives, taken, manifests, strict=True)))
        former = list(completed.parts)
        bounds = [len(ALL) * index // width for index in range(width + 1)]
        lives = [
            bench.restored(completed, range(bounds[index], bounds[index + 1]), subtask=index) for index in range(width)
        ]
        for live in lives:
            live.compare()
            live.put("value", live.groups.start, b"", [(b"little", b"%d" % number)])
    for live in lives:
        live.compare(drain_timers=True)


def high_groups(bench: Bench) -> None:
    """The last key groups of the widest job that there is."""

    def begun(model: Model, parts: Sequence[Manifest], checkpoint: int) -> Live:
        backend = bench.backend(bench.factory, HIGHEST, max_parallelism=HIGHEST.stop)
        bench.step(f"restore {len(parts)} parts in key groups {HIGHEST.start} to {HIGHEST.stop - 1}")
        backend.restore(parts, bench.storage().streams(checkpoint, EPOCH), claimed=True)
        return bench.adopt(backend, HIGHEST, model)

    live = begun(Model(), (), 1)
    fill(live)
    completed = bench.checkpoint(live)
    begun(completed.model, completed.parts, completed.checkpoint).compare(drain_timers=True)


def gaps(bench: Bench) -> None:
    live = bench.fresh(ALL)
    fill(live)
    completed = bench.checkpoint(live)
    [part] = completed.parts
    for what, *bounds in (
        ("without the last key group", (0, 11)),
        ("without the first key group", (1, 12)),
        ("without one between two parts", (0, 5), (6, 12)),
        ("with one part twice", (0, 12), (0, 12)),
        ("with one part within another", (0, 12), (4, 5)),
        ("with one key group in no part and one in two", (0, 6), (5, 11)),
        ("with the first in no part, and one in two", (6, 12), (1, 7)),
        ("with two in no part, and two in two", (0, 4), (3, 5), (4, 8), (10, 12)),
    ):
        bench.step(f"restore {what}: parts of {bounds}")
        parts = [replace(part, first_key_group=first, end_key_group=end) for first, end in bounds]
        try:
            bench.backend(bench.factory, ALL).restore(parts, bench.storage().streams(1, EPOCH), claimed=True)
        except Damaged:
            continue
        raise Violation("SBK-05", f"a restore {what} raised nothing; Damaged is right.")


def foreign_groups(bench: Bench) -> None:
    live = bench.fresh()
    for key_group in (live.groups.start - 1, live.groups.stop):
        try:
            live.table("value").put(key_group, b"", [(b"k", b"v")], now_ms=0)
        except RuntimeError:
            continue
        raise Violation("SBK-05", f"a put into key group {key_group} of {live.groups} raised nothing.")


CHECKS = (
    Check("SBK-05/scaling", "Restores at 1, 3, 2, 4 and 1 subtasks hold exactly their key groups.", scaling,
          windows=("rescaled",)),
    Check("RSC-01/scaling", "Each key is in exactly one subtask, with its value, at each of them.", scaling,
          windows=("rescaled",)),
    Check("INC-02/little-behind", "Behind the parts of others, the first snapshot is a full one.", little_behind,
          windows=("not-its-own",)),
    Check("SBK-05/high-groups", "Key groups of a maximum parallelism of 32,768 come back.", high_groups),
    Check("SBK-05/gaps", "A key group that is in no part, or in two, is Damaged.", gaps),
    Check("SBK-05/foreign-groups", "Key groups of another subtask are refused.", foreign_groups),
)  # fmt: skip
