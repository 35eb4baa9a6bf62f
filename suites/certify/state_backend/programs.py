"""Drawn programs: all that the contract allows, in any order, beside a model of what is there.

A theme says what is frequent and what is large in its programs; the calls are the same in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.state import Flag
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.programs import MANY, Program, play_apart, play_drawn, program_of
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.calls import Calls
from holdfast.suites.certify.state_backend.world import LITTLE_PATIENCE_S

WORK: Mapping[str, int] = {
    "put": 12, "merge": 5, "remove": 5, "clear": 2, "spread": 1, "get": 2, "scan": 3, "finish_scans": 2, "timers": 6,
    "wait": 2, "refuse": 1, "stray": 1, "compare": 2, "state": 1, "batch": 1, "namespace": 1,
}  # fmt: skip
CHECKPOINTS: Mapping[str, int] = {
    "change": 4, "snapshot": 6, "snapshots": 1, "checkpoint": 3, "checkpoints": 1, "upload": 3, "begin_upload": 3,
    "go_on": 2, "fail_upload": 2, "cancel": 1, "complete": 5, "abort": 3, "tell": 1, "subsume": 2, "restore": 3,
    "restore_in_vain": 1, "late": 2, "move": 1, "read": 1, "register_later": 1,
}  # fmt: skip
"""How frequent each call is where no theme says more."""


class Theme(NamedTuple):
    """The theme of the programs of one check.

    Attributes:
        weights: of calls that are more frequent than elsewhere.
        once: calls that each program makes at least once.
        states, namespaces, batches: how many there are at first.
        counts: of the keys of a batch.
        widths: numbers of subtasks.
        programs: number of them.
        steps: of each.
    """

    weights: Mapping[str, int] = {}
    once: tuple[str, ...] = ()
    states: int = 4
    namespaces: int = 2
    batches: int = 2
    counts: tuple[int, ...] = (1, 2, 3, *MANY[:3])
    widths: tuple[int, ...] = (1,)
    programs: int = 12
    steps: int = 20


def play(bench: Bench, theme: Theme) -> None:
    """Play the programs of a theme; each has a world of its own, and what is met in it was met by the check."""

    def draw(stream: Stream, number: int) -> Program:
        begin = ["begin", *["state"] * theme.states, *["namespace"] * theme.namespaces, *["batch"] * theme.batches]
        return [
            *(step for verb in begin for step in program_of(stream, {verb: 1}, 1)),
            *program_of(stream, {**WORK, **CHECKPOINTS, **theme.weights}, theme.steps, theme.once),
        ]

    def played(program: Program, number: int) -> None:
        def calls(own: Bench) -> None:
            calls = Calls(own, theme.widths, theme.counts)
            for step in program:
                calls.make(step)
            calls.end()

        own = Bench(bench.factory, bench.other, bench.rule, bench.seed)
        own.thread.patience_s = bench.thread.patience_s
        try:
            play_apart(bench, own, calls)
        finally:
            if own.thread.blocked:
                bench.thread.patience_s = LITTLE_PATIENCE_S

    play_drawn(bench, bench.rule, theme.programs, draw, played)


ALONE = dict.fromkeys(CHECKPOINTS, 0)
CANONICAL = frozenset({Flag.CANONICAL})
ASYNCHRONOUS = frozenset({Flag.ASYNC_SNAPSHOT})
MIGRATING = frozenset({Flag.MIGRATES})
FEW_KEYS = (1, 2, 3, 11)


def _check(
    rule: str, purpose: str, theme: Theme, needs: frozenset[str] = frozenset(), windows: tuple[str, ...] = ()
) -> Check[Bench]:
    return Check(f"{rule}/program", purpose, partial(play, theme=theme), needs, windows)


PROGRAMS = (
    _check("SBK-01", "Tables and timers hold what was written, whatever is called meanwhile.",
           Theme({**ALONE, "snapshot": 1, "timers": 12, "wait": 4, "compare": 4, "scan": 8, "finish_scans": 4},
                 ("scan", "put", "scan", "scan", "timers", "timers", "merge", "refuse", "refuse", "wait"),
                 counts=(1, 2, 3, 11, *MANY), programs=40), windows=("drawn-scan",)),
    _check("SBK-02", "What a snapshot held is there behind a restore, and nothing else.",
           Theme({"restore": 8, "wait": 5, "state": 3, "checkpoint": 6}, ("put", "timers", "merge", "restore", "wait"),
                 counts=(1, 2, 3, *MANY[:3]), programs=16), windows=("restarted",)),
    _check("SBK-03", "Open snapshots know nothing of each other.",
           Theme({"snapshot": 16, "snapshots": 0, "complete": 6, "abort": 12, "remove": 8, "change": 12, "restore": 1,
                  "exchange": 12},
                 ("put", "exchange", "snapshot", "exchange", "snapshot", "abort", "change"), counts=FEW_KEYS,
                 programs=20), windows=("three-open-snapshots",)),
    _check("SBK-04", "Values become those of a newer version once, whatever comes first behind that.",
           Theme({"restore": 8, "register_later": 6, "snapshot": 6, "read": 3, "wait": 6},
                 ("put", "merge", "restore", "register_later", "wait"), states=5, counts=FEW_KEYS, programs=25),
           MIGRATING, ("restarted", "migrated")),
    _check("SBK-05", "Each key group goes to whoever owns it, whole and alone.",
           Theme({"restore": 8, "move": 2, "stray": 3}, ("put", "stray", "restore"), widths=(1, 2, 3, 4), programs=10),
           windows=("restarted", "rescaled")),
    _check("SBK-06", "The canonical form is that of a snapshot, and becomes state again.",
           Theme({"read": 8, "move": 6}, ("put", "timers", "read", "move"), widths=(1, 2), counts=FEW_KEYS, programs=8),
           CANONICAL, ("moved",)),
    _check("ASY-02", "What is written during an upload is not in it.",
           Theme({"begin_upload": 16, "go_on": 10, "restore": 1, "exchange": 6}, ("put", "begin_upload", "remove"),
                 counts=FEW_KEYS, programs=8), ASYNCHRONOUS, ("snapshot-overlapped-a-write",)),
    _check("INC-01", "Increments rest on what was confirmed, and on nothing that was aborted.",
           Theme({"checkpoint": 12, "checkpoints": 3, "abort": 10, "complete": 8, "snapshot": 12, "upload": 16,
                  "remove": 8, "clear": 6, "restore": 1, "move": 0, "late": 0, "read": 0},
                 ("put", "checkpoint", "upload", "abort", "checkpoints"), states=3, counts=(1, 2, 3, 11, 65),
                 programs=20), windows=("aborted-behind-its-upload",)),
    _check("INC-02", "Old checkpoints go, and what later ones need stays.",
           Theme({"checkpoint": 10, "subsume": 8, "complete": 10, "snapshot": 12, "upload": 8, "tell": 4, "restore": 6},
                 ("put", "checkpoints", "subsume", "restore"), counts=FEW_KEYS, widths=(1, 1, 2), programs=12,
                 steps=24), windows=("two-in-flight", "subsumed")),
    _check("INC-03", "No file is left over, also behind aborted and failed uploads.",
           Theme({"fail_upload": 12, "cancel": 8, "abort": 8, "checkpoint": 8, "restore": 0, "restore_in_vain": 0,
                  "move": 0, "late": 0}, ("put", "fail_upload", "cancel"), counts=FEW_KEYS, programs=8, steps=24),
           windows=("drawn-upload-error", "cancelled")),
    _check("REC-09", "What a dead attempt does late changes nothing for its successor.",
           Theme({"late": 20, "restore": 8, "snapshot": 10, "upload": 8, "checkpoint": 6},
                 ("put", "snapshot", "restore", "late"), counts=FEW_KEYS, programs=8, steps=24),
           windows=("late-calls",)),
)  # fmt: skip
