"""What a wrong value is called: too much, where each number that is wrong is too high, and else a wrong value."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.harness.model.verdict import Damage
from holdfast.harness.oracles.damages import damage_of
from holdfast.harness.oracles.output.exact import ExactOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


@pytest.mark.parametrize(("too_high", "damage"), [((0,), Damage.TOO_MUCH), ((), Damage.WRONG_VALUE)])
def test_a_total_is_too_much_only_if_it_is_too_high(too_high: tuple[int, ...], damage: Damage) -> None:
    history = HISTORIES["exact/value-wrong/appended-total-too-high"]()
    history.inputs = replace(history.inputs, too_high=too_high)
    [anomaly] = ExactOracle().judge(history).anomalies
    assert damage_of("EXACT", anomaly) is damage
