"""Histories for RESTORE: a job goes on from checkpoint 1 at other subtasks, and its operator state."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model.events import (
    BroadcastSummary, ChannelContent, ChannelStateRestored, FileReference, ListSummary, StateSummary,
)  # fmt: skip
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.histories.cut import COUNTING
from holdfast.suites.selfcheck.oracles.lines import (
    ack_sent, attempt, completed, content, in_flight, snapshot, submitted, task,
)  # fmt: skip

# --- RESTORE: a job of three subtasks for each vertex goes on from checkpoint 1 of one of two -------------------------


WIDER = FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 3})
LEFT, RIGHT = {"a": 3, "b": 4}, {"c": 5}
SPLITS = (((0, 4),), ((1, 6),), ())
PENDING = (("t",), ("u",), ())
BATCHES = (content("source[0]->sum[0]", 5, 6),)


def rescaled(
    *held: dict[str, int],
    splits: Sequence[tuple[tuple[int, int], ...]] = SPLITS,
    pending: Sequence[tuple[str, ...]] = PENDING,
    in_flight: Sequence[Line] = (),
) -> list[Line]:
    """What the three sums, sources and sinks start with."""
    states = [
        StateSummary(len(each), len(each), sum(each.values()), sum(each.values()), entries=each)
        for each in (LEFT, RIGHT, *held)
    ]
    taken = [
        line
        for index, state in enumerate(states[:2])
        for line in (snapshot(f"source[{index}]", 1, *SPLITS[index]), snapshot(f"sum[{index}]", state=state),
                     snapshot(f"sink[{index}]", pending=PENDING[index]))
    ]  # fmt: skip
    starts = [
        line
        for index, state in enumerate(states[2:])
        for line in (task(f"source[{index}]", 1, positions=splits[index]), task(f"sum[{index}]", 1, state=state),
                     task(f"sink[{index}]", 1, pending=pending[index]))
    ]  # fmt: skip
    return [submitted(), attempt(), *taken, *in_flight, completed(), submitted("chk-1", 1, job=1),
            attempt(1, number=1_001) if held else (), *starts]  # fmt: skip


bad, near = exhibits("RESTORE", faults=(WIDER,))

bad("rescaled-state-differs", "a key is with nobody", rescaled({"a": 3}, {"b": 4}, {}))
bad("rescaled-state-differs", "a key has another value", rescaled({"a": 3}, {"b": 7}, {"c": 5}))
near("rescaled-state-differs", "each key is somewhere", rescaled({"a": 3}, {"b": 4}, {"c": 5}))

COPY = {n: StateSummary(broadcast=BroadcastSummary(n, 0, 0)) for n in (7, 8, 9)}
COPIED: dict[int, list[Line]] = {
    third: [submitted(), attempt(), snapshot("sum[0]", state=COPY[7]), snapshot("sum[1]", state=COPY[8]),
            snapshot("source[0]"), snapshot("source[1]"), snapshot("sink[0]"), snapshot("sink[1]"), completed(),
            submitted("chk-1", 1, job=1), attempt(1, number=1_001),
            *(line
              for index, n in enumerate((7, 8, third))
              for line in (task(f"source[{index}]", 1), task(f"sum[{index}]", 1, state=COPY[n]),
                           task(f"sink[{index}]", 1)))]
    for third in COPY
}  # fmt: skip
"""Two sums recorded copies 7 and 8 of broadcast state; three start with these and a third one."""

bad("rescaled-state-differs", "copies of one cut differ", COPIED[8])
bad("rescaled-state-differs", "a copy was recorded by nobody", COPIED[9], options=COUNTING)
near("rescaled-state-differs", "copies differ where barriers are counted", COPIED[7], options=COUNTING)

# As many keys and records, of the same sum, as were recorded.
bad("key-in-two", "a key is in two and another in none", rescaled({"a": 4}, {"a": 3}, {"c": 5}))
near("key-in-two", "all keys are in one", rescaled({}, {"a": 3, "b": 4, "c": 5}, {}))
REGROUPED = FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 3, "max_parallelism": 64})

bad("key-groups-changed", "an attempt starts with other key groups", rescaled(LEFT, RIGHT, {}), faults=(REGROUPED,))
near("key-groups-changed", "no attempt starts with other key groups", rescaled(), faults=(REGROUPED,))

bad("rescaled-positions-differ", "a split is read twice",
    rescaled(LEFT, RIGHT, {}, splits=(((0, 4),), ((1, 6),), ((1, 6),))))  # fmt: skip
bad("rescaled-positions-differ", "a split is read by nobody", rescaled(LEFT, RIGHT, {}, splits=(((0, 4),), (), ())))
near("rescaled-positions-differ", "a split moves", rescaled(LEFT, RIGHT, {}, splits=(((0, 4),), (), ((1, 6),))))

bad("rescaled-transactions-differ", "a transaction is dropped", rescaled(LEFT, RIGHT, {}, pending=(("t",), (), ())))
near("rescaled-transactions-differ", "a transaction moves", rescaled(LEFT, RIGHT, {}, pending=(("t",), (), ("u",))))
TAKEN = in_flight("sum[0]", *BATCHES)

bad("rescaled-in-flight", "what was in flight is dropped", rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN,)))
near("rescaled-in-flight", "no attempt starts", rescaled(in_flight=(TAKEN,)))
near("rescaled-in-flight", "what was in flight moves",
     rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN,)),
     ChannelStateRestored(subtask="sum[2]", checkpoint=1, channels=(content("source[0]->sum[2]", 5, 6),)))  # fmt: skip
SUMMED = (ChannelContent("source[0]->sum[0]", False, ((1, 5),), StateSummary(0, 3, 12, 7)),)
TAKEN_BY_KEY = in_flight("sum[0]", *SUMMED)

WHOLE_IN_BOTH, A_PART_IN_EACH = (
    [ChannelStateRestored(subtask=f"sum[{i}]", checkpoint=1,
                          channels=(ChannelContent(f"source[0]->sum[{i}]", False, ((1, 0),), state),))
     for i, state in enumerate(states)]
    for states in ((StateSummary(0, 3, 12, 7), StateSummary(0, 3, 12, 7)),
                   (StateSummary(0, 2, 8, 4), StateSummary(0, 1, 4, 3)))
)  # fmt: skip
"""What two of three sums put back of three records."""

bad("rescaled-in-flight", "two sums take up the same batch",
    rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN_BY_KEY,)), WHOLE_IN_BOTH)  # fmt: skip
near("rescaled-in-flight", "a batch is cut by key",
     rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN_BY_KEY,)), A_PART_IN_EACH)  # fmt: skip

# A job with a mini-batch is submitted again, wider.
bad("held-back-moved", "a wider job takes up what was held back",
    submitted(), attempt(), snapshot("source[0]"), snapshot("buffer[0]"), snapshot("sum[0]"), snapshot("sink[0]"),
    snapshot("source[1]"), snapshot("buffer[1]"), snapshot("sum[1]"), snapshot("sink[1]"), completed(),
    submitted("chk-1", 1, job=1), attempt(1, number=1_001), job=MINI_BATCH)  # fmt: skip
near("held-back-moved", "a wider job refuses what was held back",
     submitted(), attempt(), snapshot("source[0]"), snapshot("buffer[0]"), snapshot("sum[0]"), snapshot("sink[0]"),
     snapshot("source[1]"), snapshot("buffer[1]"), snapshot("sum[1]"), snapshot("sink[1]"), completed(),
     submitted("chk-1", 1, job=1), job=MINI_BATCH)  # fmt: skip

HELD, HALF = StateSummary(100, 100, 100, 100), StateSummary(50, 50, 50, 50)
SPLIT_IN_TWO: list[Line] = [
    submitted(), attempt(), snapshot("source[0]"), snapshot("sum[0]", state=HELD), snapshot("sink[0]"),
    ack_sent("sum[0]", 1, FileReference("chk-1/0", 9_000, 0)), completed(), submitted("chk-1", 1, job=1),
    attempt(1, number=1_001), task("source[0]", 1), task("sum[0]", 1, state=HALF), task("sink[0]", 1),
    task("source[1]", 1), task("sum[1]", 1, state=HALF), task("sink[1]", 1),
]  # fmt: skip
"""One sum of 100 keys stored 9,000 bytes; two sums go on behind it."""

bad("no-less-per-subtask", "one of two has nearly all",
    *SPLIT_IN_TWO, ack_sent("sum[0]", 2, FileReference("chk-2/0", 8_800, 0)),
    ack_sent("sum[1]", 2, FileReference("chk-2/1", 400, 0)), completed(2), parallelism=1,
    faults=(FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 2}),))  # fmt: skip
near("no-less-per-subtask", "each of two has about half",
     *SPLIT_IN_TWO, ack_sent("sum[0]", 2, FileReference("chk-2/0", 5_000, 0)),
     ack_sent("sum[1]", 2, FileReference("chk-2/1", 4_400, 0)), completed(2), parallelism=1,
     faults=(FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 2}),))  # fmt: skip

# --- RESTORE: operator state of a sum at two subtasks, restored at as many, or at three -------------------------------

Elements = Sequence[tuple[int, ...]]
SPLIT, UNION, BROADCAST = "split-distribute", "union", "broadcast"
RECORDED = ((1, 2, 3), (4, 5))


def restored(mode: str, given: Elements, kept: Elements | None = None, recorded: Elements = RECORDED) -> list[Line]:
    """What two sums recorded, what two or three of them are given, and keep."""
    taken = [
        line
        for index, each in enumerate(recorded)
        for line in (snapshot(f"source[{index}]"),
                     snapshot(f"sum[{index}]", state=StateSummary(lists=(ListSummary("notes", mode, each),))),
                     snapshot(f"sink[{index}]"))
    ]  # fmt: skip
    starts = [
        line
        for index, each in enumerate(given if kept is None else kept)
        for line in (task(f"source[{index}]", 1),
                     task(f"sum[{index}]", 1, state=StateSummary(lists=(ListSummary("notes", mode, each),)),
                          given=(ListSummary("notes", mode, given[index]),)),
                     task(f"sink[{index}]", 1))
    ]  # fmt: skip
    wider = len(given) == 3
    return [submitted(), attempt(), *taken, completed(), (submitted("chk-1", 1, job=1),) if wider else (),
            attempt(1, number=1_001 if wider else 0), *starts]  # fmt: skip


bad, near = exhibits("RESTORE")

bad("list-lost", "the last element is given to nobody", restored(SPLIT, ((1, 2), (3, 4), ())), faults=(WIDER,))
bad("list-lost", "an element is given to two", restored(SPLIT, ((1, 2), (2, 3), (4, 5))), faults=(WIDER,))
near("list-lost", "list state is dealt out", restored(SPLIT, ((1, 2), (3, 4), (5,))), faults=(WIDER,))

bad("list-uneven", "all is given to the first", restored(SPLIT, ((1, 2, 3, 4, 5), (), ())), faults=(WIDER,))
bad("list-uneven", "elements are dealt out one by one", restored(SPLIT, ((1, 4), (2, 5), (3,))), faults=(WIDER,))
near("list-uneven", "another one is given one more", restored(SPLIT, ((5,), (1, 2), (3, 4))), faults=(WIDER,))

bad("union-incomplete", "union state is split", restored(UNION, RECORDED))
near("union-incomplete", "each is given all",
     restored(UNION, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5)), kept=((1, 3), (2, 4, 5))))  # fmt: skip

bad("union-multiplied", "each keeps all", restored(UNION, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5))))
near("union-multiplied", "three keep all together",
     restored(UNION, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5)), kept=((1, 3), (), (2, 4, 5))),
     faults=(WIDER,))  # fmt: skip

bad("copy-unknown", "a subtask is given no copy",
    restored(BROADCAST, ((7,), (7,), ()), recorded=((7,), (7,))), faults=(WIDER,))  # fmt: skip
near("copy-unknown", "each is given a copy",
     restored(BROADCAST, ((7,), (7,), (7,)), recorded=((7,), (7,))), faults=(WIDER,))  # fmt: skip
