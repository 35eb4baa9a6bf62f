"""What the untouched runtime does on the plans that mutants are tried on."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.engine.swarm.mix import mix_for
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.directed_plans import REFERENCE, distinct_plans

EARLY = 40
"""So many drawn plans come before the directed ones: most mutants are refuted by them."""
TOO_LONG = "case long-runs/ten-thousand"
"""Its run takes 47 s of processor time, of which a mutant has 10 s for one run."""


class Expected(msgspec.Struct, frozen=True):
    """One plan, and what the untouched runtime did on it.

    Attributes:
        name: `seed 12`, or the case or mutant whose plan it is.
        plan: it.
        digest: of everything that was recorded and dispatched.
        events: a checksum of each event, in order.
        functions: of the mutated folder that were called, as `file::qualified name`.
    """

    name: str
    plan: Plan
    digest: bytes
    events: bytes
    functions: frozenset[str]


_encoder = msgspec.msgpack.Encoder(enc_hook=repr)


def digest_of(run: Run) -> bytes:
    """What tells two runs apart: each event with its time, what was dispatched, and every draw."""
    hasher = blake2b(run.trace_hash.encode(), digest_size=16)
    hasher.update(_encoder.encode(run.history.events))
    hasher.update(_encoder.encode(run.history.end))
    return hasher.digest()


def checksums(run: Run) -> bytes:
    """One number for each event."""
    return array("I", (crc32(_encoder.encode(event)) for event in run.history.events)).tobytes()


def first_difference(expected: bytes, run: Run) -> int:
    """The place of the first event that differs; where one of both ends, if none does."""
    was, now = array("I", expected), array("I", checksums(run))
    return next((place for place, (left, right) in enumerate(zip(was, now, strict=False)) if left != right),
                min(len(was), len(now)))  # fmt: skip


def measured(name: str, plan: Plan, root: Path, folder: str) -> Expected | None:
    """Run a plan on the untouched runtime; None if it does not pass it.

    Args:
        name: of the plan.
        plan: it.
        root: of the source tree.
        folder: below it, whose functions count.
    """
    called: set[Any] = set()
    sys.setprofile(lambda frame, event, argument: called.add(frame.f_code))
    try:
        run = run_plan(plan, registry.system(REFERENCE), registry.toolbox())
    finally:
        sys.setprofile(None)
    if run.outcome is Outcome.FAIL:
        return None
    functions = frozenset(
        f"{Path(code.co_filename).relative_to(root).as_posix()}::{code.co_qualname.partition('.<locals>')[0]}"
        for code in called
        if code.co_filename.startswith(str(root / folder))
    )
    return Expected(name, plan, digest_of(run), checksums(run), functions)


def plans_of(drawn: int, *, directed: bool) -> Iterator[tuple[str, Plan]]:
    """By name, what mutants are tried on.

    Args:
        drawn: how many are drawn from the swarm, from seed 1.
        directed: whether the plans that are made for something are run as well.
    """
    mix = mix_for(registry.system(REFERENCE))
    for seed in range(1, min(drawn, EARLY) + 1):
        yield f"seed {seed}", draw_plan(seed, mix)
    if directed:
        yield from ((name, plan) for name, plan in distinct_plans().items() if name != TOO_LONG)
    for seed in range(EARLY + 1, drawn + 1):
        yield f"seed {seed}", draw_plan(seed, mix)
