"""How large a plan may be: what is beyond would run for days, or would not fit into memory, and says nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.case import Tier
from holdfast.harness.model.job import Partitioning
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.plural import plural
from holdfast.harness.model.submitted_jobs import topologies
from holdfast.harness.oracles.output.settle_window import lengthened

DAY_MS = 86_400_000
LONGEST_DAYS: Mapping[Tier, int] = {Tier.SIM: 30}
"""By tier, how many days a time may last: those of the simulator pass in minutes. On each other tier it is one."""
MOST = 1_000_000_000
"""Of whatever else is counted."""
MOST_COPIES = 1_000
MOST_FAULTS = 1_000
MOST_CHANNELS = 1_000_000
"""Each is named, and most of them hold a buffer."""
_ANY = frozenset({"version", "draw_seed", "run_seed", "digest_key", "seed", "event_time_ms"})
"""Numbers that are no size."""


def check_sizes(plan: Plan, tier: Tier) -> None:
    """Refuse a plan that is too large to be run on a tier.

    Raises:
        UsageError: one sentence that names the field.
    """
    if len(plan.faults) > MOST_FAULTS:
        raise UsageError(f"faults has {len(plan.faults)} entries; allowed are at most {MOST_FAULTS}: remove some.")
    days = LONGEST_DAYS.get(tier, 1)
    longest = f"{days * DAY_MS}, which is {plural(days, 'day')} on tier {tier}"
    for place, value in _numbers("", msgspec.to_builtins(plan)):
        field = place.rpartition(".")[2]
        lasts = field.endswith("_ms")
        most = days * DAY_MS if lasts else MOST_COPIES if field == "copies" else MOST
        if field not in _ANY and abs(value) > most:
            allowed = longest if lasts else most
            raise UsageError(f"{place} is {value}; allowed is at most {allowed}: make it smaller.")
    _check_channels(plan)
    _check_lengthened(plan, days * DAY_MS, longest)


def _check_channels(plan: Plan) -> None:
    """Before they are counted by being listed."""
    shuffled = sum(edge.partitioning is not Partitioning.FORWARD for edge in plan.job.edges)
    for topology in topologies(plan):
        channels = shuffled * topology.parallelism**2
        if channels > MOST_CHANNELS:
            raise UsageError(
                f"topology.parallelism is {topology.parallelism}, which gives job {plan.job.name} {channels:,} "
                f"channels; allowed are at most {MOST_CHANNELS:,}: make it smaller."
            )


def _check_lengthened(plan: Plan, most_ms: int, longest: str) -> None:
    """Timeouts and delays that hold up output lengthen the run."""
    if plan.expected_end in (ExpectedEnd.REFUSED, ExpectedEnd.ACCEPTED):
        return  # Nothing runs.
    bounds = lengthened(plan)
    for field in ("liveness_ms", "settle_ms"):
        if (value := getattr(bounds, field)) > most_ms:
            raise UsageError(
                f"options and faults lengthen bounds.{field} to {value}, since output may change as late; allowed is "
                f"at most {longest}: make timeouts and delays shorter."
            )


def _numbers(place: str, value: Any) -> Iterator[tuple[str, int | float]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _numbers(f"{place}.{name}" if place else str(name), each)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _numbers(f"{place}[{index}]", each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, value
