"""A source that reads a socket, which cannot be read again (RULES E2E-01, E2E-04, E2E-05)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.process import kill
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REBALANCE
from holdfast.harness.model.lossy_jobs import over_sockets
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import AT_LEAST_ONCE, EVERYWHERE, WORKERS, plan, with_needs
from holdfast.suites.conformance.submissions import Options, case_of, refused, submitted

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
    case_of(
        TOO_MUCH,
        Decision("E2E-05", "LOUD", ("accepted-bad-option",), "trusts-sockets"),
        Decision("E2E-01", "LOUD", ("accepted-bad-option",), "trusts-sockets"),
        id="sockets/too-much",
        purpose="Is a job that reads a socket refused when it claims to lose nothing?",
        method="Jobs with such a source are submitted with a claim of exactly-once, and of at-least-once; and with a "
        "claim of at-most-once where their mode or their sink repeats.",
        passes="Each is refused.",
    ),
    case_of(
        KEPT,
        Decision("E2E-05", "CONFIG", ("claimed-too-much",), "trusts-sockets"),
        id="sockets/kept",
        purpose="May a job that reads a socket claim that it repeats nothing, and is no more than that claimed for it?",
        method="Such jobs are submitted with a claim of at-most-once, and with none.",
        passes="Each is accepted, and at-most-once is what is claimed.",
    ),
    Case(
        id="sockets/at-most-once",
        purpose="Does a job that reads a socket keep the claim of at-most-once?",
        method="A worker and the coordinator are killed; what was read since the last checkpoint cannot be read again.",
        passes="No record has two rows; what is lost is reported.",
        decides=(Decision("E2E-04", "NOREPEAT", ("record-repeated",), "resends-after-restore"),),
        windows=(Window.RESTORED_STATE,),
        plan=[_crashed(number, AT_MOST) for number in (0, 1)],
        tiers=EVERYWHERE,
    ),
    Case(
        id="sockets/loss-control",
        purpose="Does a crash show the loss where a runtime lets such a job claim exactly-once?",
        method="The same kills, under a claim of exactly-once that is accepted.",
        passes="Records are missing from the output.",
        decides=(),
        plan=replace(_crashed(1, EXACTLY), system="reference+trusts-sockets"),
        expected=Outcome.FAIL,
        refutes=frozenset({"EXACT/input-missing"}),
        tiers=EVERYWHERE,
    ),
)
