"""Every case that the reference runtime can be asked, on every tier of this machine; chaos has a room of its own."""

from __future__ import annotations

import pytest

from holdfast.harness.model.case import Case, Tier
from holdfast.harness.plugin import RunCase, case_parameters
from holdfast.suites.chaos import in_chaos

REFERENCE = "reference"


@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, lambda case: not in_chaos(case)))
def test_case(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)
