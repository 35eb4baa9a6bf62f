"""What a job may claim end to end: the least of its sources, its state and its sinks (RULES E2E-01)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.plans import AT_LEAST_ONCE, EVERYWHERE, WORKERS, case, decides, plan, with_needs
from holdfast.suites.conformance.submissions import Options, refused, submitted

ALIGNED: Options = {}
TWO_PHASE: Options = {"sink.delivery-guarantee": "exactly-once"}
AT_ONCE: Options = {"sink.delivery-guarantee": "at-least-once"}
EXACTLY: Options = {"holdfast.guarantee": "exactly-once"}
AT_LEAST: Options = {"holdfast.guarantee": "at-least-once"}
LATTICE = (
    (KEYED_SUM, ALIGNED, TWO_PHASE, EXACTLY),
    (KEYED_SUM, ALIGNED, AT_ONCE, AT_LEAST),
    (KEYED_SUM, AT_LEAST_ONCE, TWO_PHASE, AT_LEAST),
    (KEYED_SUM, AT_LEAST_ONCE, AT_ONCE, AT_LEAST),
    (FORWARD, AT_LEAST_ONCE, TWO_PHASE, EXACTLY),
    (FORWARD, AT_LEAST_ONCE, AT_ONCE, AT_LEAST),
)
"""Job, state, sink, and the most that they keep together; a job that never aligns is exactly-once in either mode."""
KEPT = [submitted(state | sink | claim, job=job) for job, state, sink, claim in LATTICE]
MODEST = [submitted(state | sink | AT_LEAST, job=job) for job, state, sink, _ in LATTICE]
UNCLAIMED = [submitted(state | sink, job=job) for job, state, sink, _ in LATTICE]
TOO_MUCH = [refused(state | sink | EXACTLY, job=job) for job, state, sink, most in LATTICE if most is AT_LEAST]
BROKEN = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2))

CASES = with_needs(
    case("claims/kept", "Is the least of sources, state and sinks what is claimed, and may a job claim it?",
         [*KEPT, *MODEST, *UNCLAIMED], decides("E2E-01", "CONFIG/claimed-too-much", wrong="claims-exactly-once"),
         method="Jobs with every pair of mode and sink are submitted, claiming the least of them, less, or nothing.",
         passes="Each is accepted, and no more is claimed than all of them keep."),
    case("claims/too-much", "Is a job refused that claims more than the least of sources, state and sinks?", TOO_MUCH,
         decides("E2E-01", "LOUD/accepted-bad-option", wrong="allows-any-claim"),
         method="Jobs that repeat, by their mode or by their sink, are submitted with a claim of exactly-once.",
         passes="Each is refused."),
    case("claims/tested", "Does a job keep what it was allowed to claim?",
         [plan(*BROKEN, job=job, options=state | sink | claim)
          for job, state, sink, claim in LATTICE
          if claim is EXACTLY],
         decides("E2E-01", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one"), tiers=EVERYWHERE,
         method="Jobs that claim exactly-once lose a worker and the coordinator.",
         passes="Every record takes effect once in the output."),
)  # fmt: skip
