"""Flink while its links are cut, slow, swallow everything or break (RULES E2E, REC, BAR)."""

from __future__ import annotations

from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.conformance import barriers
from holdfast.suites.conformance.flink.twins import NEEDS, control, flink, twin
from holdfast.suites.conformance.plans import case, with_needs
from holdfast.suites.conformance.processes import DECIDED, ON_THE_SIMULATOR

BETWEEN = Target(Role.CHANNEL, 1)
"""From the source of one TaskManager to the sum of the other."""
HELD_UP_MS, SILENT_MS = 1_500, 7_000
"""Less than the timeout of a heartbeat, and more."""
PASSES = (
    "Each committed row is what the oracle's model holds at its counts, the last ones hold the whole input, and what "
    "was visible once stays."
)


def link(kind: str, target: Target, duration_ms: int = HELD_UP_MS, **parameters: int | str) -> FaultSpec:
    """A fault of a link in the third checkpoint."""
    when = Schedule(after_checkpoint=2, at_event="checkpoint_triggered")
    return FaultSpec(kind, target, when, duration_ms, dict(parameters))


SWALLOWED = flink(link("black-hole", BETWEEN))
MESSAGES = (
    flink(link("cut", COORDINATOR)),
    flink(link("slow", COORDINATOR, delay_ms=300)),
    flink(link("black-hole", COORDINATOR, SILENT_MS)),
    flink(link("cut", COORDINATOR, SILENT_MS)),
)
BEHIND_BARRIERS = {
    "channel-order": ("CUT/channel-order",),
    "one-barrier": ("CUT/barrier-once", "CUT/emission-after-snapshot"),
    "alignment": ("CUT/processed-while-blocked",),
    "held-records": ("CUT/held-records",),
    "consistent-cut": ("CUT/source-position",),
}
"""Of the reference's cases, what decides."""

CASES = with_needs(
    case("flink/links-between-workers",
         "Does every record count once when the channel between two TaskManagers of Flink is impaired?",
         (flink(link("cut", BETWEEN)), flink(link("slow", BETWEEN, delay_ms=300)), SWALLOWED,
          flink(link("reset", BETWEEN, 0))),
         *DECIDED, tiers=(Tier.PROCESS,), needs=NEEDS, mutant_plan=ON_THE_SIMULATOR,
         method="A relay cuts it, slows it, swallows everything, or resets it, in the middle of a checkpoint.",
         passes=PASSES),
    case("flink/links-of-the-coordinator",
         "Does every record count once when Flink's JobManager and its TaskManagers do not reach each other?", MESSAGES,
         *DECIDED, tiers=(Tier.PROCESS,), needs=NEEDS, mutant_plan=ON_THE_SIMULATOR,
         method="A relay cuts their messages, for shorter or longer than a heartbeat may take, slows or swallows them.",
         passes=PASSES),
    *(twin(barriers.CASES, f"flink/barriers-{name}", flink(link("slow", BETWEEN, delay_ms=300)), *labels,
           method="One channel is slow.")
      for name, labels in BEHIND_BARRIERS.items()),
    control("keeps-in-field", SWALLOWED, "EXACT/row-wrong", "EXACT/counts-stepped-back",
            purpose="that keeps its sums in a field, when a channel swallows everything", name="links"),
)  # fmt: skip
