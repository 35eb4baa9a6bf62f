"""How long committed output may still change when no fault acts any more, as far as options and faults of a plan say.

Rules of this file:
- Only what a plan states counts. No run lasts as long as the default of a timeout.
- What can hold up output can do so in turn: a lost worker is noticed late, the restart waits, a checkpoint hangs until
  its timeout. So the times add up.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model import profile
from holdfast.harness.model.job import DELAYING, VertexKind
from holdfast.harness.model.plan import Bounds, Plan
from holdfast.harness.oracles.shared.options import interval_ms, milliseconds

TRANSACTION_TIMEOUT = "transaction.timeout.ms"
RESTART_DELAYS = (profile.FIXED_DELAY, profile.RATE_DELAY, profile.EXPONENTIAL_MAX)


class Blockage(NamedTuple):
    """What may hold up committed output: an option or a fault, and for how long."""

    option: str
    lasts_ms: int


def blockages(plan: Plan) -> list[Blockage]:
    """What the plan states that may hold up output after the heal, the longest first."""
    stated = (profile.HEARTBEAT_TIMEOUT, TRANSACTION_TIMEOUT, profile.TIMEOUT, *RESTART_DELAYS)
    found = [Blockage(option, milliseconds(plan, option, 0)) for option in stated] + _delays(plan)
    return sorted((each for each in found if each.lasts_ms), key=lambda each: -each.lasts_ms)


def needed_ms(plan: Plan) -> int:
    """How long after the heal what is missing may still come: every blockage, and the checkpoint that commits it."""
    return sum(each.lasts_ms for each in blockages(plan)) + _next_checkpoint_ms(plan)


def needed_after_end_ms(plan: Plan) -> int:
    """How long after the expected end output may still change: the job runs again by then, so no delay or timeout of a
    checkpoint is left. A missed heartbeat restarts it, and an open transaction hides what is behind it."""
    hidden_ms = milliseconds(plan, profile.HEARTBEAT_TIMEOUT, 0) + milliseconds(plan, TRANSACTION_TIMEOUT, 0)
    return hidden_ms + sum(each.lasts_ms for each in _delays(plan)) + _next_checkpoint_ms(plan)


def lengthened(plan: Plan) -> Bounds:
    """The bounds of a plan, with a settle window and a liveness phase that are long enough."""
    bounds = plan.bounds
    settle_ms = max(bounds.settle_ms, needed_after_end_ms(plan))
    return Bounds(bounds.safety_ms, max(bounds.liveness_ms, needed_ms(plan) - settle_ms), settle_ms)


def _delays(plan: Plan) -> list[Blockage]:
    """What was sent just before a heal still arrives as late as the fault made it."""
    return [Blockage(f"{spec.kind} {spec.target}", int(spec.parameters.get("delay_ms", 0))) for spec in plan.faults]


def _next_checkpoint_ms(plan: Plan) -> int:
    """What is held back just before a barrier is committed with the checkpoint after the next. So is what waits until
    a split is idle."""
    interval = interval_ms(plan)
    idleness_ms = max((source.idleness_ms for source in plan.job.of_kind(VertexKind.SOURCE)), default=0)
    held_back = [vertex.latency_ms for vertex in plan.job.of_kind(*DELAYING)] + [idleness_ms] * (idleness_ms > 0)
    return interval + sum(interval + each for each in held_back)
