"""Every case that the reference runtime can be asked, on every tier of this machine; chaos has a room of its own."""

from __future__ import annotations

import pytest

from holdfast.harness.model.case import Case, Tier
from holdfast.harness.plugin import RunCase, case_parameters
from holdfast.suites.chaos import in_chaos

REFERENCE = "reference"


def not_in_chaos(case: Case) -> bool:
    return not in_chaos(case)


@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, not_in_chaos, [Tier.SIM]))
def test_on_the_simulator(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)


@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, not_in_chaos, [Tier.PROCESS]))
@pytest.mark.share(4)
def test_among_processes(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)


@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, not_in_chaos, [Tier.SPARK, Tier.CONTAINERS]))
@pytest.mark.nightly
def test_where_it_takes_long(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)
