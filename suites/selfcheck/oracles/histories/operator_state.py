"""Histories for RESTORE: operator state of a sum at two subtasks, restored at as many, or at three."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model import events
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import WIDER
from holdfast.suites.selfcheck.oracles.lines import attempt, completed, snapshot, submitted, task

Elements = Sequence[tuple[int, ...]]
SPLIT, UNION, BROADCAST = "split-distribute", "union", "broadcast"
RECORDED = ((1, 2, 3), (4, 5))


def held(mode: str, elements: tuple[int, ...]) -> tuple[events.ListSummary, ...]:
    return (events.ListSummary("notes", mode, elements),)


def restored(mode: str, given: Elements, kept: Elements | None = None, recorded: Elements = RECORDED) -> list[Line]:
    """What two sums recorded, what two or three of them are given, and keep."""
    taken = [
        snapshot(f"sum[{index}]", state=events.StateSummary(lists=held(mode, each)))
        for index, each in enumerate(recorded)
    ]
    starts = [
        task(f"sum[{index}]", 1, state=events.StateSummary(lists=held(mode, each)), given=held(mode, given[index]))
        for index, each in enumerate(given if kept is None else kept)
    ]
    taken = [
        line for index in (0, 1) for line in (snapshot(f"source[{index}]"), taken[index], snapshot(f"sink[{index}]"))
    ]
    starts = [
        line
        for index, each in enumerate(starts)
        for line in (task(f"source[{index}]", 1), each, task(f"sink[{index}]", 1))
    ]
    wider = len(given) == 3
    return [
        submitted(),
        attempt(),
        *taken,
        completed(),
        (submitted("chk-1", 1, job=1),) if wider else (),
        attempt(1, number=1_001 if wider else 0),
        *starts,
    ]


bad, near = exhibits("RESTORE")

bad("list-lost", "the last element is given to nobody", restored(SPLIT, ((1, 2), (3, 4), ())), faults=(WIDER,))
bad("list-lost", "an element is given to two", restored(SPLIT, ((1, 2), (2, 3), (4, 5))), faults=(WIDER,))
near("list-lost", "list state is dealt out", restored(SPLIT, ((1, 2), (3, 4), (5,))), faults=(WIDER,))

bad("list-uneven", "all is given to the first", restored(SPLIT, ((1, 2, 3, 4, 5), (), ())), faults=(WIDER,))
bad("list-uneven", "elements are dealt out one by one", restored(SPLIT, ((1, 4), (2, 5), (3,))), faults=(WIDER,))
near("list-uneven", "another one is given one more", restored(SPLIT, ((5,), (1, 2), (3, 4))), faults=(WIDER,))

bad("union-incomplete", "union state is split", restored(UNION, RECORDED))
near(
    "union-incomplete", "each is given all",
    restored(UNION, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5)), kept=((1, 3), (2, 4, 5))),
)  # fmt: skip

bad("union-multiplied", "each keeps all", restored(UNION, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5))))
near(
    "union-multiplied", "three keep all together",
    restored(UNION, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5)), kept=((1, 3), (), (2, 4, 5))), faults=(WIDER,),
)  # fmt: skip

bad(
    "copy-unknown", "a subtask is given no copy",
    restored(BROADCAST, ((7,), (7,), ()), recorded=((7,), (7,))), faults=(WIDER,),
)  # fmt: skip
near(
    "copy-unknown", "each is given a copy",
    restored(BROADCAST, ((7,), (7,), (7,)), recorded=((7,), (7,))), faults=(WIDER,),
)  # fmt: skip
