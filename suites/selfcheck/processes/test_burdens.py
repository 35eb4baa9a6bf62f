"""What keeps subtasks busy, as whoever has the page mapped sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.burdens import Burdens
from holdfast.suites.conformance.plans import plan

SUM, OTHER = "sum[0]", "sum[1]"


@pytest.mark.parametrize(("healed", "left"), [(20, 700), (700, 20)])
def test_one_burden_is_healed_and_the_other_goes_on(tmp_path: Path, healed: int, left: int) -> None:
    supervisor, worker = (Burdens(tmp_path, plan()) for _ in range(2))
    for delay_ms in (20, 700):
        supervisor.take(SUM, delay_ms)
        assert worker.get(SUM) == delay_ms
    supervisor.take(OTHER, 5)
    supervisor.give_back(SUM, healed)
    assert (worker.get(SUM), worker.get(OTHER)) == (left, 5)
    assert (supervisor.act(SUM, healed), supervisor.act(SUM, left)) == (False, True)
    supervisor.give_back(SUM, left)
    assert (worker.get(SUM), supervisor.act(SUM, left), supervisor.act(OTHER, 5)) == (0, False, True)
