"""Every case that applies to the reference runtime, on every tier of this machine; chaos has a room of its own."""

from __future__ import annotations

import pytest

from holdfast.harness.model.case import Case, Tier
from holdfast.harness.plugin import RunCase, case_parameters
from holdfast.suites.conformance import in_chaos

REFERENCE = "reference"
AT_LENGTH = {"long-runs/ten-thousand", "swarm/drawn-plans"}
"""They take longer than a hundred other cases, and a certificate of the reference asks them."""


def short(case: Case) -> bool:
    return not in_chaos(case) and case.id not in AT_LENGTH


def at_length(case: Case) -> bool:
    return case.id in AT_LENGTH


def not_in_chaos(case: Case) -> bool:
    return not in_chaos(case)


@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, short, [Tier.SIM]))
@pytest.mark.share(5)
def test_on_the_simulator(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)


@pytest.mark.parametrize(
    ("case", "tier"),
    [
        *case_parameters(REFERENCE, at_length, [Tier.SIM]),
        *case_parameters(REFERENCE, not_in_chaos, [Tier.PROCESS, Tier.SPARK, Tier.CONTAINERS]),
    ],
)
@pytest.mark.nightly
def test_where_it_takes_long(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)
