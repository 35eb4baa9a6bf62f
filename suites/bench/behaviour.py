"""What stored plans lead to on the simulator, before and after a change that must not alter it.

    python -m holdfast.suites.bench.behaviour                 # run them, and name those that lead elsewhere
    python -m holdfast.suites.bench.behaviour --part 3/20     # every twentieth, from number 3 on
    python -m holdfast.suites.bench.behaviour --record        # store what they lead to now
    python -m holdfast.suites.bench.behaviour --draw          # store other plans, drawn as the swarm is today

2,000 plans lie in behaviour.jsonl.xz, each with the outcome of its run, what was found, digests of all verdicts, of the
committed output and of the events of each node without their times, and of the trace. Each mix of the benchmark has a
share of them. The comparison lists the plans that differ, field by field. It fails unless they differ in nothing, or
only in fields that are named by `--may`.

The first line of the file names the clauses and options that there were. A later clause that refutes nothing, and a
later option whose default leaves all as it was, make no difference.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, islice
from pathlib import Path

import msgspec

from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.plan import Plan
from holdfast.suites.bench import part
from holdfast.suites.bench.block import Behaviour, Scope, behaviour, run_judged, whole_scope
from holdfast.suites.bench.mixes import DEFINITIONS, shape_of

FILE = Path(__file__).with_name("behaviour.jsonl.xz")
SHARES = {"swarm": 1200, "a": 400, "b": 400}
"""Stored plans of each mix."""
FIELDS = Behaviour.__struct_fields__
SHOWN = 5
"""Plans that are named for each field that differs."""
_encoder = msgspec.json.Encoder(order="deterministic")


class Stored(msgspec.Struct, frozen=True):
    """A plan, and what it led to when it was stored.

    Attributes:
        mix: that it was drawn from.
        plan: as it was stored, so that code of any time reads it as it can.
        behaviour: what it led to.
    """

    mix: str
    plan: msgspec.Raw
    behaviour: Behaviour

    @property
    def name(self) -> str:
        """Its mix and its seed, such as `swarm 17`."""
        return f"{self.mix} {msgspec.json.decode(self.plan, type=_Drawn).draw_seed}"


class _Drawn(msgspec.Struct):
    draw_seed: int


def packed(scope: Scope, plans: Iterable[Stored]) -> bytes:
    """What a file of these holds, with the scope of their digests; equal plans give equal bytes."""
    lines = b"".join(_encoder.encode(each) + b"\n" for each in (scope, *plans))
    return lzma.compress(lines, preset=9 | lzma.PRESET_EXTREME)


def stored_scope() -> Scope:
    """That of the stored digests."""
    return msgspec.json.decode(_lines()[0], type=Scope)


def stored() -> list[Stored]:
    """The stored plans, mix by mix."""
    return [msgspec.json.decode(line, type=Stored) for line in _lines()[1:]]


def _lines() -> list[bytes]:
    return lzma.decompress(FILE.read_bytes()).splitlines()


def now(plan: Stored, scope: Scope) -> Behaviour:
    """What a stored plan leads to."""
    return behaviour(run_judged(msgspec.json.decode(plan.plan, type=Plan)), scope)


def drawn(mix: str) -> Iterator[Stored]:
    """Plans of a mix by seed, from 1 on, whose runs count for the benchmark."""
    for seed in count(1):
        plan = draw_plan(seed, DEFINITIONS[mix].mix)
        run = run_judged(plan)
        if not DEFINITIONS[mix].rejection(shape_of(run)):
            yield Stored(mix, msgspec.Raw(_encoder.encode(plan)), behaviour(run, whole_scope()))


def differences(before: Mapping[str, Behaviour], after: Mapping[str, Behaviour]) -> Mapping[str, list[str]]:
    """By field, the names of the plans in which it differs.

    Args:
        before: by name of the plan.
        after: the same plans in the same order.

    Raises:
        ValueError: the two are of different plans.
    """
    if list(before) != list(after):
        raise ValueError("what is compared was run on different plans: run both on the same ones.")
    return {
        field: [name for name, old in before.items() if getattr(old, field) != getattr(after[name], field)]
        for field in FIELDS
    }


def listed(found: Mapping[str, list[str]]) -> str:
    """Differences, a line for each field."""
    lines = []
    for field, names in found.items():
        named = f", such as {', '.join(names[:SHOWN])}" if names else ""
        lines.append(f"{field}: {len(names)} plans differ{named}\n")
    return "".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run stored plans, and print what differs from what they led to; or store it."""
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.suites.bench.behaviour",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", type=part, default=(0, 1), metavar="K/N", help="of the plans, every N-th from K on")
    parser.add_argument("--may", nargs="*", default=[], choices=FIELDS, help="fields that may differ")
    store = parser.add_mutually_exclusive_group()
    store.add_argument("--record", action="store_true", help="store what all plans lead to now")
    store.add_argument("--draw", action="store_true", help="store other plans, and what they lead to")
    given = parser.parse_args(arguments)
    if given.draw:
        plans = [each for mix, share in SHARES.items() for each in islice(drawn(mix), share)]
        FILE.write_bytes(packed(whole_scope(), plans))
        return 0
    first, parts = (0, 1) if given.record else given.part
    plans = stored()[first::parts]
    scope = whole_scope() if given.record else stored_scope()
    begun = time.process_time()
    after = {each.name: now(each, scope) for each in plans}
    took_s = time.process_time() - begun
    outcomes = Counter(each.outcome for each in after.values())
    found = differences({each.name: each.behaviour for each in plans}, after)
    counted = ", ".join(f"{times} {name}" for name, times in outcomes.items())
    sys.stdout.write(f"{len(plans)} runs, {took_s:.1f} s of processor time: {counted}\n{listed(found)}")
    if given.record:
        plans = [msgspec.structs.replace(each, behaviour=after[each.name]) for each in plans]
        FILE.write_bytes(packed(scope, plans))
        return 0
    return int(any(names and field not in given.may for field, names in found.items()))


if __name__ == "__main__":
    sys.exit(main())
