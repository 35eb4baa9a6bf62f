"""Behind its own kit: what is certified takes its part in the reference runtime, whose processes are killed.

The cases are those of a conformance suite, on `reference+CONTRACT=FACTORY`, judged by oracles that see input and output
alone. A kit names the cases, and what of a run cannot be had with what is certified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.cases.case_status import case_not_run
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.lease import Lease
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult
from holdfast.harness.model.status import Status
from holdfast.harness.spi.kit import KitCheck


def plugged_in(contract: str, factory: str, location: str) -> str:
    """The runtime with what is certified, as a user types it."""
    return f"reference+{contract}={factory}" + (f"@{location}" if location else "")


def tried_under_faults(
    system: str,
    cases: Sequence[Case],
    checks: Set[str],
    *,
    seed: int,
    supplied: Sequence[str],
    why_not: str,
    known: bool = True,
    not_for: Mapping[str, str] = {},
    tier: Tier = Tier.PROCESS,
) -> Iterator[KitCheck]:
    """Each case as a check.

    Args:
        system: as of `plugged_in`.
        cases: each decides one rule.
        checks: ids of those that are run; empty: all.
        seed: of the runs.
        supplied: what of the judgement rests on its author's word.
        why_not: why none can be tried; empty: each is.
        known: whether that is so; else each is inconclusive.
        not_for: by id of a case, why it alone does not apply.
        tier: that those run on which have it; others run on the simulator.
    """
    untried = why_not or lacking(tier)
    for case in cases:
        if checks and _id(case) not in checks:
            continue
        on = _tier(case, tier)
        if reason := untried or not_for.get(case.id, ""):
            status = Status.NOT_APPLICABLE if known else Status.INCONCLUSIVE
            result = case_not_run(case, on, status, reason)
        else:
            with Lease("kit") as folder:
                result = run_case(system, case, on, first_seed=seed or 1, folder=folder)
        yield _told(case, result, tuple(supplied), on)


def listed_cases(cases: Sequence[Case]) -> tuple[KitCheck, ...]:
    """As the command line knows them before they run."""
    return tuple(
        KitCheck(_id(case), case.purpose, case.decides[0].rule, Status.UNTESTED, tier=_tier(case, Tier.PROCESS))
        for case in cases
    )


def _tier(case: Case, wanted: Tier) -> Tier:
    return wanted if wanted in case.tiers else Tier.SIM


def _id(case: Case) -> str:
    return f"{case.decides[0].rule}/{case.id.partition('/')[2]}"


def _told(case: Case, result: CaseResult, supplied: tuple[str, ...], tier: Tier) -> KitCheck:
    rule = case.decides[0].rule
    return KitCheck(
        _id(case),
        case.purpose,
        rule,
        result.status,
        result.reason,
        tuple(result.rule_reasons.values()) if result.status is Status.FAIL else (),
        supplied,
        tier=tier,
    )
