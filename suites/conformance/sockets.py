"""A source that reads a socket, which cannot be read again (RULES E2E-01, E2E-04, E2E-05)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.process import kill
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REBALANCE
from holdfast.harness.model.lossy_jobs import over_sockets
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import AT_LEAST_ONCE, EVERYWHERE, WORKERS, case, decides, plan, with_needs
from holdfast.suites.conformance.submissions import Options, refused, submitted

EXACTLY, AT_LEAST, AT_MOST = ({"holdfast.guarantee": f"{name}-once"} for name in ("exactly", "at-least", "at-most"))
JOBS = tuple(map(over_sockets, (FORWARD, REBALANCE, KEYED_SUM)))
REPEATS: Options = {"sink.delivery-guarantee": "at-least-once"}
TOO_MUCH = [refused(claim, job=job) for job in JOBS for claim in (EXACTLY, AT_LEAST)]
TOO_MUCH += [refused(AT_MOST | weaker, job=JOBS[1]) for weaker in (AT_LEAST_ONCE, REPEATS)]
KEPT = [submitted(claim, job=job) for job in JOBS for claim in ({}, AT_MOST)]
BROKEN = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2))
LONG = {"records": 240}
"""Input comes in for longer than a restart takes, so that a socket goes on."""


def _crashed(number: int, claim: Options) -> Plan:
    return plan(*BROKEN, job=JOBS[number], options=claim, records=LONG)


CASES = with_needs(
    case("sockets/too-much", "Is a job that reads a socket refused when it claims to lose nothing?", TOO_MUCH,
         decides("E2E-05", "LOUD/accepted-bad-option", wrong="trusts-sockets"),
         decides("E2E-01", "LOUD/accepted-bad-option", wrong="trusts-sockets"),
         method="Jobs with such a source are submitted with a claim of exactly-once, and of at-least-once; and with a "
                "claim of at-most-once where their mode or their sink repeats.",
         passes="Each is refused."),
    case("sockets/kept",
         "May a job that reads a socket claim that it repeats nothing, and is no more than that claimed for it?", KEPT,
         decides("E2E-05", "CONFIG/claimed-too-much", wrong="trusts-sockets"),
         method="Such jobs are submitted with a claim of at-most-once, and with none.",
         passes="Each is accepted, and at-most-once is what is claimed."),
    case("sockets/at-most-once", "Does a job that reads a socket keep the claim of at-most-once?",
         [_crashed(number, AT_MOST) for number in (0, 1)],
         decides("E2E-04", "NOREPEAT/record-repeated", wrong="resends-after-restore"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="A worker and the coordinator are killed; what was read since the last checkpoint cannot be read "
                "again.",
         passes="No record has two rows; what is lost is reported."),
    case("sockets/loss-control", "Does a crash show the loss where a runtime lets such a job claim exactly-once?",
         replace(_crashed(1, EXACTLY), system="reference+trusts-sockets"), refutes=frozenset({"EXACT/input-missing"}),
         tiers=EVERYWHERE,
         method="The same kills, under a claim of exactly-once that is accepted.",
         passes="Records are missing from the output."),
)  # fmt: skip
