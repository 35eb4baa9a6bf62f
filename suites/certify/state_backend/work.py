"""What a drawn program does with tables, timers and time: each step is done to a job, beside the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.state import Flag, StateDescriptor, StateKind, Timer
from holdfast.suites.certify.programs import LENGTHS, MANY, NUMBERS, Step
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.checks.limits import LARGEST_TRIED
from holdfast.suites.certify.state_backend.content import (
    END_MS,
    FIRSTS,
    MOST_AT_ONCE,
    NAMES,
    NAMESPACES,
    PARTS,
    PASSED_MS,
    SCHEMES,
    SPREADS_MS,
    STEPS,
    TIMES_MS,
    Batch,
    value_of,
)
from holdfast.suites.certify.state_backend.job import Job
from holdfast.suites.certify.state_backend.live import MERGED, Live
from holdfast.suites.certify.state_backend.model import REFUSED, TIMER_KINDS, Refused

SHORT_LENGTHS = (0, 1, 2, 16, 100)
LIMITS = (1, 2, 3, 10, 64, 100, 1_000, 5_000)
GROUP_ORDER = (0, 0, 3, 1)
MOST_STATES, MOST_SCANS, MOST_SPREAD = 10, 300, 260
MOST_BYTES = 1 << 21
"""Of one call; and of all calls of a program, if they come to more, the rest is short."""
MOST_VALUES = 12_000
"""Of one program, written or stored: what is more is left out."""


class Spot(NamedTuple):
    """Where a call goes to."""

    live: Live
    state: str
    kind: StateKind
    group: int
    namespace: bytes


class Work:
    """One program. Each number of a step is taken modulo what there is to choose from; of 0 it is the simplest.

    Args:
        bench: of this program alone.
        widths: numbers of subtasks.
        counts: of keys of a batch, of which a program begins with few.
    """

    def __init__(self, bench: Bench, widths: Sequence[int], counts: Sequence[int]) -> None:
        self.bench = bench
        self.widths = widths
        self.counts = counts
        self.job: Job
        self.namespaces: list[bytes] = []
        self.batches: list[Batch] = []
        self.written = self.written_bytes = 0
        self.left = MOST_VALUES

    def make(self, step: Step) -> None:
        """A step."""
        if not hasattr(self, "job"):
            width, place, first, small = step.numbers if step.verb == "begin" else (0,) * NUMBERS
            self.job = Job(self.bench, self.widths[width % len(self.widths)], place, first, small=small % 2 == 1)
        if step.verb != "begin":
            getattr(self, step.verb)(*step.numbers)

    # ---------------------------------------------------------------- what a program has
    def state(self, kind: int, name: int, *_: int) -> None:
        """One more is registered, whose name may be that of a state that is there and a sign more."""
        self._registered(self.bench.states[kind % len(self.bench.states)], name)

    def _registered(self, like: StateDescriptor, name: int) -> StateDescriptor:
        free = [each for each in NAMES if each not in self.job.descriptors]
        made = replace(like, name=free[name % len(free)])
        self.job.register(made)
        return made

    def namespace(self, which: int, *_: int) -> None:
        """One more is used."""
        if len(each := NAMESPACES[which % len(NAMESPACES)]) <= self.bench.limits["max_namespace_bytes"]:
            self.namespaces.append(each)

    def batch(self, scheme: int, first: int, count: int, times: int) -> None:
        """Some keys more are used."""
        self.batches.append(
            Batch(
                list(SCHEMES)[scheme % len(SCHEMES)],
                FIRSTS[first % len(FIRSTS)],
                self.counts[count % len(self.counts)],
                STEPS[first // 8 % len(STEPS)],
                TIMES_MS[times % len(TIMES_MS)],
                SPREADS_MS[times // 16 % len(SPREADS_MS)],
            )
        )

    def _spot(self, at: int, of: Callable[[StateKind], bool]) -> Spot:
        """A place in a state of such a kind, which is registered if there is none."""
        at, number = divmod(at, MOST_STATES)
        if states := self.job.states(of):
            state = states[number % len(states)]
        else:
            state = self._registered(next(each for each in self.bench.states if of(each.kind)), 0)
        at, place = divmod(at, len(GROUP_ORDER))
        group = self.job.groups[GROUP_ORDER[place]]
        namespace = self.namespaces[at % len(self.namespaces)] if self.namespaces else b""
        return Spot(self.job.owner(group), state.name, state.kind, group, namespace)

    def _table(self, at: int) -> Spot:
        return self._spot(at, lambda kind: kind not in TIMER_KINDS)

    def _held(self, at: int) -> tuple[Spot, list[bytes]]:
        """A place with values, where there is one, and its keys."""
        some = [(live, space) for live in self.job.lives for space in sorted(live.model.values)
                if space[0] in live.registered]  # fmt: skip
        if not some:
            return self._table(at), []
        live, space = some[at % len(some)]
        return Spot(live, space[0], live.model.descriptors[space[0]].kind, *space[1:]), sorted(live.model.values[space])

    def _batch(self, of: int) -> tuple[Batch, slice]:
        batches = self.batches or [Batch()]
        return batches[of % len(batches)], PARTS[of // len(batches) % len(PARTS)]

    def _keys(self, of: int, kind: StateKind) -> list[bytes]:
        batch, part = self._batch(of)
        keys = batch.keys(kind, self.bench.limits["max_key_bytes"])[part]
        return keys if len(keys) <= self.left else keys[:3]

    def _pairs(self, keys: Sequence[bytes], kind: StateKind, length: int) -> list[tuple[bytes, bytes]]:
        """Values that are new; one key twice, where there are several."""
        room = MOST_BYTES if self.written_bytes < 2 * MOST_BYTES else 64 * len(keys)
        length = min(length, room // max(len(keys), 1), max(self.bench.limits["max_value_bytes"] - 4, 0))
        self.written_bytes += length * len(keys)
        self.left -= len(keys)
        first, self.written = self.written, self.written + len(keys) + 1
        twice = keys[:1] if len(keys) > 1 else []
        return [(key, value_of(first + number, length, kind)) for number, key in enumerate([*keys, *twice])]

    # ---------------------------------------------------------------- tables
    def put(self, at: int, of: int, length: int, again: int) -> None:
        """Of short values most times; or values as they are there."""
        live, state, kind, group, namespace = self._table(at)
        lengths = (*SHORT_LENGTHS, *SHORT_LENGTHS, *LENGTHS)
        if again % 5 == 1:
            (live, state, kind, group, namespace), keys = self._held(at)
            held = live.model.values.get((state, group, namespace), {})
            live.put(state, group, namespace, [(key, held[key][0]) for key in keys[: MANY[-1]]])
        else:
            pairs = self._pairs(self._keys(of, kind), kind, lengths[length % len(lengths)])
            live.put(state, group, namespace, pairs)

    def merge(self, at: int, of: int, length: int, times: int) -> None:
        """Several times, if little."""
        if Flag.MERGE not in self.bench.flags:
            return
        live, state, kind, group, namespace = self._spot(at, MERGED.__contains__)
        keys = self._keys(of, kind)
        for _ in range(1 + times % (3 if len(keys) < 20 else 1)):
            pairs = self._pairs(keys, kind, SHORT_LENGTHS[length % len(SHORT_LENGTHS)])
            live.merge_if_it_fits(state, group, namespace, pairs)

    def remove(self, at: int, of: int, *_: int) -> None:
        """Some of what is there, or something else."""
        (live, state, kind, group, namespace), held = self._held(at)
        keys = held[PARTS[of // 4 % len(PARTS)]] if of % 4 else self._keys(of // 4, kind)
        live.remove(state, group, namespace, [*keys, *keys[:1]])

    def clear(self, at: int, *_: int) -> None:
        """A place where something is."""
        (live, state, _kind, group, namespace), _held = self._held(at)
        live.clear(state, group, namespace)

    def spread(self, at: int, of: int, length: int, how: int) -> None:
        """One value in each of many namespaces; of some it is removed, or cleared."""
        live, state, kind, group, _ = self._table(at)
        longest = min(self.bench.limits["max_namespace_bytes"], 1 << 12)
        names = [each for each in self._keys(of, StateKind.VALUE)[:MOST_SPREAD] if len(each) <= longest]
        keys = Batch().keys(kind, self.bench.limits["max_key_bytes"])
        for number, namespace in enumerate(names if keys else ()):
            live.put(state, group, namespace, self._pairs(keys, kind, SHORT_LENGTHS[length % len(SHORT_LENGTHS)]))
            if number % 3 == 1 and how % 2:
                live.clear(state, group, namespace)
            elif number % 3 == 1:
                live.remove(state, group, namespace, keys)

    def get(self, at: int, of: int, *_: int) -> None:
        """In another order, what is missing and what comes twice among them."""
        live, state, kind, group, namespace = self._table(at)
        keys = self._keys(of, kind)
        live.get(state, group, namespace, [*keys[::-1], b"missing", *keys[:2]])

    def scan(self, at: int, of: int, count: int, how: int) -> None:
        """Some of one place, each from another key on; they stay open."""
        live, state, kind, group, namespace = self._table(at)
        bounds = sorted(self._keys(of, kind)) or [b""]
        for number in range((1, 1, 1, 3, 17, 65)[count % 6]):
            if len(self.job.scans) >= MOST_SCANS:
                return
            start = bounds[(number + how // 4) % len(bounds)] if how % 2 else b""
            end = bounds[-1 - (number + how // 64) % len(bounds)] if how // 2 % 2 else None
            scan = live.scan(state, group, namespace, start, end)
            scan.take(number % 3)
            self.job.scans.append(scan)

    def finish_scans(self, *_: int) -> None:
        while self.job.scans:
            self.bench.hit("drawn-scan")
            self.job.scans.pop().finish()

    def compare(self, *_: int) -> None:
        """Everything."""
        for live in self.job.lives:
            live.compare()

    def change(self, at: int, of: int, number: int, _: int) -> None:
        """A little: a value is written, and one is removed; of timers one is new, and the first one fires."""
        (live, state, kind, group, namespace), held = self._held(at)
        if keys := held or self._keys(of, kind):
            live.put(state, group, namespace, self._pairs([keys[number % len(keys)]], kind, 16))
            live.remove(state, group, namespace, [keys[(number + len(keys) // 2) % len(keys)]])
        if number % 2 and Flag.TIMERS in self.bench.flags:
            live, state, kind, group, namespace = self._spot(at, TIMER_KINDS.__contains__)
            live.add_timers(state, [Timer(number, group, namespace, key) for key in keys[:1]])
            live.poll(state, number, 1)

    def exchange(self, at: int, of: int, times: int, length: int) -> None:
        """A long value becomes another one of its length, where one is there; a list grows piece by piece."""
        (live, state, kind, group, namespace), held = self._held(at)
        if kind is StateKind.LIST and Flag.MERGE in self.bench.flags:
            for _ in range(1 + times % 3):
                pairs = self._pairs((held or self._keys(of, kind))[:1], kind, 16)
                live.merge_if_it_fits(state, group, namespace, pairs)
            return
        long = [(live, space, key) for live in self.job.lives for space, values in sorted(live.model.values.items())
                for key, (value, _) in sorted(values.items())
                if space[0] in live.registered and len(value) > max(SHORT_LENGTHS)]  # fmt: skip
        if long and times % 4:
            live, (state, group, namespace), key = long[at % len(long)]
            kind = live.model.descriptors[state].kind
            size = len(live.model.values[state, group, namespace][key][0])
            live.put(state, group, namespace, self._pairs([key], kind, size))
        else:
            keys = (held or self._keys(of, kind))[:1]
            live.put(state, group, namespace, self._pairs(keys, kind, LENGTHS[length % len(LENGTHS)]))

    # ---------------------------------------------------------------- timers
    def timers(self, at: int, of: int, what: int, limit: int) -> None:
        """Some are registered, or deleted, or fire."""
        if Flag.TIMERS not in self.bench.flags:
            return
        live, state, kind, group, namespace = self._spot(at, TIMER_KINDS.__contains__)
        keys, (batch, _) = self._keys(of, kind), self._batch(of)
        self.left -= len(keys)
        times = (max(min(batch.at_ms + batch.spread_ms * number, END_MS), -END_MS - 1) for number in range(len(keys)))
        timers = [Timer(at_ms, group, namespace, key) for at_ms, key in zip(times, keys, strict=True)]
        if what % 4 < 3:
            live.add_timers(state, [*timers[::-1], *timers[:1]])
        if what % 4 == 1:
            for each in self.namespaces:
                live.add_timers(state, [replace(timer, namespace=each) for timer in timers])
        elif what % 4 == 2:
            live.delete_timers(state, [*timers[what // 4 % 3 :: 2], *timers[:1], Timer(77, group, namespace, b"none")])
        elif what % 4 == 3:
            until_ms = timers[len(timers) // 2].at_ms if timers and what // 4 % 3 else TIMES_MS[what // 4 % 12]
            live.poll(state, until_ms - (what // 64 % 4 == 1 and until_ms > -END_MS), LIMITS[limit % len(LIMITS)])

    # ---------------------------------------------------------------- time
    def wait(self, which: int, how: int, *_: int) -> None:
        """Some time, or until the last moment of a value and until it is gone."""
        ahead = sorted({(end, space, key) for live in self.job.lives for space, held in live.model.values.items()
                        for key, (_, end) in held.items() if end > self.bench.now_ms})  # fmt: skip
        if not ahead or how % 3 == 1:
            self.bench.now_ms += PASSED_MS[which % len(PASSED_MS)]
            return
        end_ms, (state, group, namespace), key = ahead[which % len(ahead)]
        live = self.job.owner(group)
        for self.bench.now_ms in (end_ms - 1, end_ms):
            if state in live.registered:
                live.get(state, group, namespace, [key])
            if how % 3 == 2:
                self.compare()
        self.bench.hit("expired")

    # ---------------------------------------------------------------- what is refused
    def refuse(self, at: int, of: int, what: int, _: int) -> None:
        """The last of a batch is refused, and nothing of it is there."""
        how = ("key", "value", "namespace", "function", "timer")[what % 5]
        if how == "timer":
            self._refuse_timers(at, of)
            return
        if how == "function" and (
            Flag.MERGE not in self.bench.flags or self.bench.limits["max_value_bytes"] < len(REFUSED)
        ):
            return
        live, state, kind, group, namespace = (
            self._spot(at, StateKind.REDUCING.__eq__) if how == "function" else self._table(at)
        )
        table, now_ms, keys = live.table(state), self.bench.now_ms, self._keys(of, kind)
        if what // 5 % 2 and kind is not StateKind.MAP:
            number = (MANY[3], MOST_AT_ONCE)[what // 10 % 2]
            keys = Batch(number=number).keys(kind, self.bench.limits["max_key_bytes"])
        pairs = self._pairs(keys, kind, 1)
        if how == "function":
            key = keys[0] if keys else b"k"
            pairs += [(key, b"there"), (key, REFUSED)]
            live.refuses(f"merge({state!r}, {group}, {len(pairs)} pairs, of which its function refuses the last)",
                         Refused, lambda: table.merge(group, namespace, pairs, now_ms=now_ms))  # fmt: skip
        elif (longest := self.bench.limits[f"max_{how}_bytes"]) <= LARGEST_TRIED:
            long = b"x" * (longest + 1)
            pairs.append({"key": (long, b""), "value": (b"x", long)}.get(how, (b"x", b"")))
            there = long if how == "namespace" else namespace
            live.refuses(f"put({state!r}, {group}, {len(pairs)} pairs, the {how} of the last of which is too long)",
                         Full, lambda: table.put(group, there, pairs, now_ms=now_ms))  # fmt: skip
        live.get(state, group, namespace, keys)

    def _refuse_timers(self, at: int, of: int) -> None:
        """The key of the last one is too long; it would be the first to fire."""
        if Flag.TIMERS not in self.bench.flags or (longest := self.bench.limits["max_key_bytes"]) > LARGEST_TRIED:
            return
        live, state, kind, group, namespace = self._spot(at, TIMER_KINDS.__contains__)
        service, batch = live.timer_service(state), [Timer(1, group, namespace, key) for key in self._keys(of, kind)]
        batch.append(Timer(-END_MS, group, namespace, b"x" * (longest + 1)))
        live.refuses(f"register({state!r}, {len(batch)} timers, the key of the last of which is too long)",
                     Full, lambda: service.register(batch))  # fmt: skip
        live.same(f"first timer of {state}", service.first(), live.model.first(state))

    def stray(self, at: int, of: int, timed: int, _: int) -> None:
        """Values or timers of a key group of another subtask."""
        of_timers = timed % 2 == 1 and Flag.TIMERS in self.bench.flags
        live, state, kind, group, namespace = self._spot(at, TIMER_KINDS.__contains__) if of_timers else self._table(at)
        foreign = live.groups.stop if live.groups.stop < self.bench.max_parallelism else live.groups.start - 1
        keys, now_ms = self._keys(of, kind), self.bench.now_ms
        if of_timers:
            batch = [*(Timer(1, group, namespace, key) for key in keys), Timer(1, foreign, namespace, b"k")]
            live.refuses(f"register({state!r}, {len(batch)} timers, of which the last is of key group {foreign})",
                         RuntimeError, lambda: live.timer_service(state).register(batch))  # fmt: skip
            live.same(f"first timer of {state}", live.timer_service(state).first(), live.model.first(state))
        else:
            live.refuses(f"put({state!r}, {foreign}, ...)", RuntimeError,
                         lambda: live.table(state).put(foreign, namespace, [(b"k", b"")], now_ms=now_ms))  # fmt: skip
