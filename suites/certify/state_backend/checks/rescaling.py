"""SBK-05: each key group goes to whoever owns it, whole and alone."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.spi.errors import Damaged
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import EPOCH, Bench
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill

ALL = range(12)
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


CHECKS = (
    Check("RSC-01/scaling", "Each key is in exactly one subtask, with its value, at each of them.", scaling,
          windows=("rescaled",)),
    Check("SBK-05/gaps", "A key group that is in no part, or in two, is Damaged.", gaps),
)  # fmt: skip
