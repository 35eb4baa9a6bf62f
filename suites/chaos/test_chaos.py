"""Every case of this room, asked of the systems that it is about; `pytest suites/chaos -n 2 --require-tier=containers`.

With two processes each system has a stack of its own.
"""

from __future__ import annotations

import pytest

from holdfast.harness.model.case import Case, Tier
from holdfast.harness.plugin import AskCase, case_parameters
from holdfast.suites.chaos import in_chaos

REFERENCE, SPARK = "reference", "spark"


@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, in_chaos))
def test_the_reference(case: Case, tier: Tier, ask_case: AskCase) -> None:
    ask_case(REFERENCE, case, tier)


@pytest.mark.xdist_group("containers-of-structured-streaming")
@pytest.mark.parametrize(("case", "tier"), case_parameters(SPARK, in_chaos))
def test_structured_streaming(case: Case, tier: Tier, ask_case: AskCase) -> None:
    ask_case(SPARK, case, tier)
