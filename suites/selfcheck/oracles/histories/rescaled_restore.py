"""Histories for RESTORE: a job goes on from checkpoint 1 at other subtasks, and its operator state."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model import events
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.histories.cut import COUNTING
from holdfast.suites.selfcheck.oracles.lines import (
    ack_sent, attempt, completed, content, in_flight, put_back, snapshot, submitted, task,
)  # fmt: skip

# --- RESTORE: a job of three subtasks for each vertex goes on from checkpoint 1 of one of two -------------------------


WIDER = FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 3})
LEFT, RIGHT = {"a": 3, "b": 4}, {"c": 5}
SPLITS = (((0, 4),), ((1, 6),), ())
PENDING = (("t",), ("u",), ())
BATCHES = (content("source[0]->sum[0]", 5, 6),)


def state(entries: dict[str, int]) -> events.StateSummary:
    """Each key with one record of its value."""
    return events.StateSummary(
        len(entries), len(entries), sum(entries.values()), sum(entries.values()), entries=entries
    )


def rescaled(
    *held: dict[str, int],
    splits: Sequence[tuple[tuple[int, int], ...]] = SPLITS,
    pending: Sequence[tuple[str, ...]] = PENDING,
    in_flight: Sequence[Line] = (),
    behind: Sequence[Line] = (),
) -> list[Line]:
    """What the three sums, sources and sinks start with."""
    taken = [
        line
        for index, entries in enumerate((LEFT, RIGHT))
        for line in (
            snapshot(f"source[{index}]", 1, *SPLITS[index]),
            snapshot(f"sum[{index}]", state=state(entries)),
            snapshot(f"sink[{index}]", pending=PENDING[index]),
        )
    ]
    starts = [
        line
        for index, entries in enumerate(held)
        for line in (
            task(f"source[{index}]", 1, positions=splits[index]),
            task(f"sum[{index}]", 1, state=state(entries)),
            task(f"sink[{index}]", 1, pending=pending[index]),
        )
    ]
    return [submitted(), attempt(), *taken, *in_flight, completed(), submitted("chk-1", 1, job=1),
            attempt(1, number=1_001) if held else (), *starts, *behind]  # fmt: skip


bad, near = exhibits("RESTORE", faults=(WIDER,))

bad("rescaled-state-differs", "a key is with nobody", rescaled({"a": 3}, {"b": 4}, {}))
bad("rescaled-state-differs", "a key has another value", rescaled({"a": 3}, {"b": 7}, {"c": 5}))
near("rescaled-state-differs", "each key is somewhere", rescaled({"a": 3}, {"b": 4}, {"c": 5}))


def copied(recorded: Sequence[int], held: Sequence[int]) -> list[Line]:
    """What the copies of broadcast state hold, by subtask, before and after."""
    taken = [
        snapshot(f"sum[{index}]", state=events.StateSummary(broadcast=events.BroadcastSummary(each, 0, 0)))
        for index, each in enumerate(recorded)
    ]
    others = [snapshot(f"{vertex}[{index}]") for vertex in ("source", "sink") for index in (0, 1)]
    starts = [
        task(
            f"{vertex}[{index}]",
            1,
            state=events.StateSummary(broadcast=events.BroadcastSummary(each, 0, 0)) if vertex == "sum" else None,
        )
        for index, each in enumerate(held)
        for vertex in ("source", "sum", "sink")
    ]
    return [submitted(), attempt(), *taken, *others, completed(), submitted("chk-1", 1, job=1),
            attempt(1, number=1_001), *starts]  # fmt: skip


bad("rescaled-state-differs", "copies of one cut differ", copied((7, 8), (7, 8, 8)))
bad("rescaled-state-differs", "a copy was recorded by nobody", copied((7, 8), (7, 8, 9)), options=COUNTING)
near("rescaled-state-differs", "copies differ where barriers are counted", copied((7, 8), (7, 8, 7)), options=COUNTING)

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
     rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN,),
              behind=(put_back("sum[2]", content("source[0]->sum[2]", 5, 6)),)))  # fmt: skip
SUMMED = (events.ChannelContent("source[0]->sum[0]", False, ((1, 5),), events.StateSummary(0, 3, 12, 7)),)
TAKEN_BY_KEY = in_flight("sum[0]", *SUMMED)


def part(index: int, records: int, value: int, digest: int) -> events.ChannelStateRestored:
    """What one of three sums puts back of three records."""
    state = events.StateSummary(0, records, value, digest)
    channels = (events.ChannelContent(f"source[0]->sum[{index}]", False, ((1, 0),), state),)
    return put_back(f"sum[{index}]", *channels)


bad("rescaled-in-flight", "two sums take up the same batch",
    rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN_BY_KEY,), behind=(part(0, 3, 12, 7), part(1, 3, 12, 7))))  # fmt: skip
near("rescaled-in-flight", "a batch is cut by key",
     rescaled(LEFT, RIGHT, {}, in_flight=(TAKEN_BY_KEY,), behind=(part(0, 2, 8, 4), part(1, 1, 4, 3))))  # fmt: skip

# A job with a mini-batch is submitted again, wider.
bad("held-back-moved", "a wider job takes up what was held back",
    submitted(), attempt(), snapshot("source[0]"), snapshot("buffer[0]"), snapshot("sum[0]"), snapshot("sink[0]"),
    snapshot("source[1]"), snapshot("buffer[1]"), snapshot("sum[1]"), snapshot("sink[1]"), completed(),
    submitted("chk-1", 1, job=1), attempt(1, number=1_001), job=MINI_BATCH)  # fmt: skip
near("held-back-moved", "a wider job refuses what was held back",
     submitted(), attempt(), snapshot("source[0]"), snapshot("buffer[0]"), snapshot("sum[0]"), snapshot("sink[0]"),
     snapshot("source[1]"), snapshot("buffer[1]"), snapshot("sum[1]"), snapshot("sink[1]"), completed(),
     submitted("chk-1", 1, job=1), job=MINI_BATCH)  # fmt: skip


def weighed(*sizes: int) -> list[Line]:
    """One sum of 100 keys stored 9,000 bytes; what the sums behind it store in their first checkpoint."""
    holding = events.StateSummary(100, 100, 100, 100)
    part_of = events.StateSummary(50, 50, 50, 50)
    width = len(sizes)

    def acknowledged(index: int, checkpoint: int, length: int) -> events.AckSent:
        file = events.FileReference(f"chk-{checkpoint}/{index}", length, 0)
        return ack_sent(f"sum[{index}]", checkpoint, file)

    return [submitted(), attempt(), snapshot("source[0]"), snapshot("sum[0]", state=holding), snapshot("sink[0]"),
            acknowledged(0, 1, 9_000), completed(), submitted("chk-1", 1, job=1), attempt(1, number=1_001),
            *(task(f"{vertex}[{index}]", 1, state=part_of if vertex == "sum" else None)
              for index in range(width)
              for vertex in ("source", "sum", "sink")),
            *(acknowledged(index, 2, size) for index, size in enumerate(sizes)), completed(2)]  # fmt: skip


bad("no-less-per-subtask", "one of two has nearly all",
    weighed(8_800, 400), parallelism=1,
    faults=(FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 2}),))  # fmt: skip
near("no-less-per-subtask", "each of two has about half",
     weighed(5_000, 4_400), parallelism=1,
     faults=(FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 2}),))  # fmt: skip

# --- RESTORE: operator state of a sum at two subtasks, restored at as many, or at three -------------------------------

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
