"""A sweep is for a whole machine: a test that sweeps it runs beside none that leaves something to be swept."""

from __future__ import annotations

import pytest

sweeps = pytest.mark.xdist_group("containers")
"""Together with the tests of that tier, of which one leaves containers behind."""
