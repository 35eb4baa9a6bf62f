"""Marks that tests of several folders bear."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.harness.model.case import Tier

sweeps = pytest.mark.xdist_group("containers")
"""A sweep is for a whole machine. It runs together with the tests of that tier, of which one leaves containers behind,
and beside none that leaves something to be swept."""


def unless(lacking: str) -> pytest.MarkDecorator:
    """A test is skipped where something is lacking, which is said in one sentence."""
    return pytest.mark.skipif(bool(lacking), reason=lacking or "-")


def on(tier: Tier, lacking: str = "", name: str | None = None) -> Any:
    """A tier as an argument of a test.

    Args:
        tier: which.
        lacking: what else keeps the test from it; empty: nothing.
        name: of the argument, instead of the tier's.
    """
    return pytest.param(tier, marks=(pytest.mark.tier(tier.value), unless(lacking)), id=name)
