"""What the reference does on drawn plans, before and after a change that must not alter it.

    python -m holdfast.suites.selfcheck.behaviour --seeds 1..1000 --out before.jsonl
    python -m holdfast.suites.selfcheck.behaviour --seeds 1..1000 --out after.jsonl --against before.jsonl

Each seed becomes one line: the digest of its plan, the outcome with every clause that refuted something, digests of
the committed output and of the events of each node without their times, and the trace hash. The comparison lists the
seeds that differ, field by field. It fails unless they differ in nothing, or only in fields that are named by `--may`.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.plans.digest import plan_digest
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.events import Event

SYSTEM = "reference"
SHOWN = 5
"""Seeds that are named for each field that differs."""
_encoder = msgspec.json.Encoder(order="deterministic")


class Behaviour(msgspec.Struct, frozen=True):
    """What one seed led to.

    Attributes:
        seed: that the plan was drawn from.
        plan: digest of the plan.
        outcome: of the run, then what made it inconclusive and each clause that refuted something.
        output: digest of the committed output.
        events: digest of what each node did, in the order of each node and without times.
        trace: hash of everything that was dispatched.
    """

    seed: int
    plan: str
    outcome: tuple[str, ...]
    output: str
    events: str
    trace: str


FIELDS = tuple(field for field in Behaviour.__struct_fields__ if field != "seed")


def behaviour(seed: int) -> Behaviour:
    """Draw the plan of a seed and run it on the simulator.

    Raises:
        RuntimeError: the run has left an exception that is being handled still, as only compiled code can: these pile
            up in a campaign.
    """
    plan = draw_plan(seed)
    run = run_plan(plan, registry.system(SYSTEM), registry.toolbox())
    if (left := sys.exc_info()[1]) is not None:
        raise RuntimeError(f"an exception is being handled behind the run of seed {seed}: {left!r}")
    clauses = sorted({anomaly.clause for verdict in run.verdicts for anomaly in verdict.anomalies})
    return Behaviour(
        seed=seed,
        plan=plan_digest(plan),
        outcome=(run.outcome, run.reason, *clauses),
        output=_digest(run.history.output),
        events=_digest(_by_node(run)),
        trace=run.trace_hash,
    )


def differences(before: Sequence[Behaviour], after: Sequence[Behaviour]) -> Mapping[str, list[int]]:
    """By field, the seeds in which it differs.

    Raises:
        ValueError: the two were recorded from different seeds.
    """
    if [each.seed for each in before] != [each.seed for each in after]:
        raise ValueError("the recordings have different seeds: record both from the same range.")
    return {
        field: [old.seed for old, new in zip(before, after, strict=True) if getattr(old, field) != getattr(new, field)]
        for field in FIELDS
    }


def read(path: Path) -> list[Behaviour]:
    """A recording."""
    return [msgspec.json.decode(line, type=Behaviour) for line in path.read_bytes().splitlines()]


def _by_node(run: Run) -> dict[str, list[Event]]:
    nodes: dict[str, list[Event]] = {}
    for event in run.history.events:
        nodes.setdefault(event.node, []).append(msgspec.structs.replace(event, time_ns=0))
    return nodes


def _digest(content: object) -> str:
    return hashlib.blake2b(_encoder.encode(content), digest_size=16).hexdigest()


def _range(text: str) -> range:
    first, _, last = text.partition("..")
    return range(int(first), int(last) + 1)


def main() -> int:
    """Record the seeds; where there is an earlier recording, print what differs from it."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__spec__.name}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=_range, required=True, help="first and last, such as 1..1000")
    parser.add_argument("--out", type=Path, required=True, help="file of this recording")
    parser.add_argument("--against", type=Path, help="an earlier recording of the same seeds")
    parser.add_argument("--may", nargs="*", default=[], choices=FIELDS, help="fields that may differ")
    given = parser.parse_args()
    recorded = []
    with given.out.open("wb") as out:
        for seed in given.seeds:
            recorded.append(behaviour(seed))
            out.write(_encoder.encode(recorded[-1]) + b"\n")
    outcomes = Counter(str(each.outcome[0]) for each in recorded)
    sys.stdout.write(f"{len(recorded)} runs: {', '.join(f'{n} {name}' for name, n in outcomes.items())}\n")
    if given.against is None:
        return 0
    found = differences(read(given.against), recorded)
    for field, seeds in found.items():
        named = f", such as {', '.join(map(str, seeds[:SHOWN]))}" if seeds else ""
        sys.stdout.write(f"{field}: {len(seeds)} seeds differ{named}\n")
    return int(any(seeds and field not in given.may for field, seeds in found.items()))


if __name__ == "__main__":
    sys.exit(main())
