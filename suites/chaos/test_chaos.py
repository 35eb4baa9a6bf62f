"""Every case of this room, asked of the systems that it is about: `pytest suites/chaos -n 2`.
Flink's are left to its certificate, in `.ci/nightly`.

With two processes there are two stacks, and each is busy for about as long: Structured Streaming shares its own with a
few cases of the reference, which come first, because it takes all slots that are left.
"""

from __future__ import annotations

import pytest

from holdfast.harness.model.case import Case, Tier
from holdfast.harness.plugin import RunCase, case_parameters
from holdfast.suites.conformance import in_chaos

REFERENCE, SPARK = "reference", "spark"
BESIDE = ("chaos/fixed-delay", "chaos/zombie")
BY_NIGHT = (
    "chaos/at-least-once", "chaos/commit-on", "chaos/fixed-delay", "chaos/group-offsets", "chaos/queues",
    "chaos/slow-channel", "chaos/spark-file-sink", "chaos/spark-foreach-batch", "chaos/store-cut-off",
    "chaos/worked-example-aligned",
)  # fmt: skip
"""The longest, of which there are cases on other tiers, too."""
beside_structured_streaming = pytest.mark.xdist_group("containers-of-structured-streaming")


def by_night(case: Case) -> bool:
    return in_chaos(case) and case.id.startswith(BY_NIGHT)


def by_day(case: Case) -> bool:
    return in_chaos(case) and not case.id.startswith(BY_NIGHT)


def elsewhere(case: Case) -> bool:
    return by_day(case) and not case.id.startswith(BESIDE)


def beside(case: Case) -> bool:
    return by_day(case) and case.id.startswith(BESIDE)


@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, elsewhere))
def test_the_reference(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)


@pytest.mark.nightly
@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, by_night))
def test_the_reference_by_night(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)


@beside_structured_streaming
@pytest.mark.parametrize(("case", "tier"), case_parameters(REFERENCE, beside))
@pytest.mark.nightly
def test_the_reference_beside_it(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(REFERENCE, case, tier)


@beside_structured_streaming
@pytest.mark.parametrize(("case", "tier"), case_parameters(SPARK, by_day))
@pytest.mark.nightly
def test_structured_streaming(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(SPARK, case, tier)


@pytest.mark.nightly
@beside_structured_streaming
@pytest.mark.parametrize(("case", "tier"), case_parameters(SPARK, by_night))
def test_structured_streaming_by_night(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(SPARK, case, tier)
