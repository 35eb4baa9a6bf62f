"""Drawn programs: all that the contract allows, in any order, beside a model of what is visible.

A theme says what is frequent and what is large in its programs; the calls are the same in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.sink import DeliveryGuarantee, SinkFlag
from holdfast.suites.certify.check import CannotTry, Check
from holdfast.suites.certify.programs import MANY, Program, play_apart, play_drawn, program_of
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.calls import Calls

TWO_PHASE = frozenset({SinkFlag.TWO_PHASE})
EVERYTHING: Mapping[str, int] = {
    "write": 8, "rewrite": 2, "prepare": 4, "prepare_some": 1, "complete": 4, "checkpoint": 2, "commit": 2,
    "commit_apart": 2, "commit_beside": 1, "in_turn": 1,
    "again": 2, "restart": 3, "go_back": 1, "die_early": 1, "zombie": 3, "overtaken": 1, "close": 1,
    "wait": 1, "finish": 1, "strike": 1,
}  # fmt: skip
"""How frequent each call is where no theme says more."""


class Theme(NamedTuple):
    """The theme of the programs of one check.

    Attributes:
        weights: of calls that are more frequent than elsewhere.
        once: calls that each program makes at least once.
        many: how many of something there are where there are many; each program takes one of them.
        rows: of a large write, likewise.
        widths: numbers of subtasks.
        jobs: at one place.
        orderly: whether commits are in the order in which rows were written.
        programs: number of them.
        steps: of each.
    """

    weights: Mapping[str, int] = {}
    once: tuple[str, ...] = ()
    many: tuple[int, ...] = MANY[:2]
    rows: tuple[int, ...] = (30,)
    widths: tuple[int, ...] = (1, 2, 3)
    jobs: int = 1
    orderly: bool = False
    programs: int = 4
    steps: int = 16


def play(bench: Bench, theme: Theme) -> None:
    """Play the programs of a theme; each has a world of its own, and what is met in it was met by the check."""
    guarantee = bench.description.guarantee
    if bench.rule == "E2E-04" and guarantee is not DeliveryGuarantee.AT_LEAST_ONCE:
        raise CannotTry("it claims more than at-least-once")

    def draw(stream: Stream, number: int) -> Program:
        return [
            *program_of(stream, {"begin": 1}, 1),
            *program_of(stream, {**EVERYTHING, **theme.weights}, theme.steps, theme.once),
        ]

    def played(program: Program, number: int) -> None:
        def calls(own: Bench) -> None:
            many, rows = (each[number % len(each)] for each in (theme.many, theme.rows))
            calls = Calls(own, theme.jobs, theme.widths, many, rows, number, orderly=theme.orderly)
            for step in program:
                calls.make(step)
            calls.end()

        own = Bench(bench.factory, bench.rule, bench.seed, bench.connected, by_sentence=True)
        play_apart(bench, own, calls)

    play_drawn(bench, bench.rule, theme.programs, draw, played)


def _check(
    rule: str, purpose: str, theme: Theme, needs: frozenset[str] = TWO_PHASE, windows: tuple[str, ...] = ("restarted",)
) -> Check[Bench]:
    return Check(f"{rule}/program", purpose, partial(play, theme=theme), needs, windows)


PROGRAMS = (
    _check("E2E-01", "Rows are bytes of any content and length.",
           Theme({"write": 30, "awkward": 10}, ("long", "awkward")), frozenset()),
    _check("E2E-02", "Each row is seen once, whatever happens.", Theme(programs=12, steps=24),
           windows=("restarted", "zombie")),
    _check("E2E-03", "No row is visible before its commit, and none is missing behind it.",
           Theme({"write": 12, "prepare": 6}, ("large_keyed",), rows=(30, 1_001, 30, 5_100))),
    _check("E2E-04", "Everything is visible when the first phase returns.",
           Theme({"checkpoint": 6, "awkward": 2}, ("large", "many"), rows=(30, 1_001, 30, 5_100), programs=8),
           frozenset()),
    _check("E2E-06", "The rows of a key stay in order.",
           Theme({"keyed": 12, "long": 8, "checkpoint": 24, "zombie": 1},
                 ("large_keyed", "many_committed", "many_at_once"),
                 rows=(30, 30, 1_001, 30, 30, 11_100), widths=(1, 1, 3), orderly=True, steps=10,
                 programs=6),
           frozenset({SinkFlag.ORDERED})),
    _check("TPC-01", "What is prepared outlives its writer.", Theme({"finish": 4, "close": 6}, ("long", "large"))),
    _check("TPC-02", "A commit commits nothing but what it names.",
           Theme({"prepare": 8, "commit_apart": 8}, ("many", "commit_apart", "commit_beside"),
                 many=(11, 17, 11, 65))),
    _check("TPC-03", "What was prepared for a checkpoint that fails waits for the next one.",
           Theme({"prepare": 10, "prepare_some": 6, "complete": 2}, ("many",))),
    _check("TPC-04", "A restore commits what its checkpoint promised.",
           Theme({"go_back": 4, "die_early": 6, "strike": 3}, ("many_restored",),
                 many=(11, 17, 11, 260))),
    _check("TPC-05", "A commit again changes nothing.",
           Theme({"again": 12, "checkpoint": 6, "strike": 3}, ("many_at_once", "again"),
                 many=(11, 17, 101))),
    _check("TPC-06", "Attempts that are over have no effect, and nothing of them is left.",
           Theme({"zombie": 12, "overtaken": 4, "restart": 6}, ("many", "late_rows", "skip"), rows=(30,) * 6 + (5_100,),
                 widths=(1, 2, 12), programs=8), frozenset()),
    _check("TPC-08", "What was committed long ago is known when it is replayed.",
           Theme({"again": 4, "go_back": 4, "wait": 3}, ("many_committed", "again"), many=(17, 101),
                 programs=2, steps=12)),
    _check("TPC-09", "A row replaces that of its key.",
           Theme({"keyed": 16, "rewrite": 12, "checkpoint": 12, "again": 10}, ("large", "long", "in_turn"),
                 rows=(30, 30, 1_001), widths=(1, 2, 3, 2), programs=12, steps=24),
           frozenset({SinkFlag.UPSERT})),
    _check("RSC-05", "Transactions belong to no subtask.",
           Theme({"restart": 8, "complete": 8}, widths=(1, 3, 12, 26), programs=6)),
    _check("CRD-07", "Lost notices change nothing.",
           Theme({"complete": 10, "commit": 1, "checkpoint": 0}, ("many_at_once",), many=(11,))),
    _check("FIN-03", "What the final checkpoint promises is committed when its writers are closed.",
           Theme({"finish": 10})),
    Check("TPC-06/names", "Jobs and operators whose names are alike know nothing of each other.",
          partial(play, theme=Theme({"write": 14, "prepare": 8, "complete": 10, "restart": 6, "wait": 0}, jobs=4,
                                    programs=6, steps=60)),
          TWO_PHASE, ("restarted",)),
)  # fmt: skip
