"""What keeps subtasks busy, as whoever has the page mapped sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.controls.newest import BurdenedTasks
from holdfast.fixtures.reference.drivers.controls.targets import Targets
from holdfast.fixtures.reference.drivers.processes.shared_pages import Burdens
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls import NOBODY, Acting
from holdfast.suites.conformance.plans import plan

SUM, OTHER = Target(Role.TASK, 2), Target(Role.TASK, 3)
PLAN = plan()
TARGETS = Targets(PLAN.job, PLAN.topology, 2)


@pytest.mark.parametrize(("healed", "left"), [(20, 700), (700, 20)])
def test_one_burden_is_healed_and_the_other_goes_on(tmp_path: Path, healed: int, left: int) -> None:
    acting, page, worker = Acting(), Burdens(tmp_path, PLAN), Burdens(tmp_path, PLAN)
    tasks = BurdenedTasks(TARGETS, acting, page.burden)

    def seen(task: Target) -> tuple[int, int]:
        """How long a batch takes it by now, and for which fault."""
        subtask = TARGETS.subtask(task)
        return worker.get(subtask), worker.by(subtask)

    for fault, delay_ms in enumerate((20, 700)):
        acting.fault = fault
        tasks.slow(SUM, delay_ms)
        assert seen(SUM) == (delay_ms, fault)
    tasks.slow(OTHER, 5)
    by = {20: 0, 700: 1}
    acting.fault = by[healed]
    tasks.restore(SUM, healed)
    assert (seen(SUM), seen(OTHER)) == ((left, by[left]), (5, 1))
    assert tasks.whole(SUM, healed)
    acting.fault = by[left]
    assert not tasks.whole(SUM, left)
    tasks.restore(SUM, left)
    assert (seen(SUM), tasks.whole(SUM, left)) == ((0, NOBODY), True)
    acting.fault = 1
    assert not tasks.whole(OTHER, 5)


def test_what_is_no_subtask_is_refused() -> None:
    with pytest.raises(ValueError, match=r"this job has \d+ tasks"):
        TARGETS.subtask(Target(Role.TASK, 99))
    with pytest.raises(ValueError, match="this job has 2 workers"):
        TARGETS.process(Target(Role.WORKER, 2))
