"""Orders to the file system under Flink's checkpoints, and what it writes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.orders import (
    OF_STORAGE,
    PUBLISH,
    WRITE,
    Orders,
    SlowTasks,
    obeyed,
    subtask_in,
    unsupported,
)
from holdfast.harness.model.events import StorageFailed, StorageSlowed
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls.absence import TargetAbsent


def test_each_order_is_for_one_call_or_for_all_and_undone_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    orders = Orders(folder)
    orders.fail(WRITE, 2, after_effect=False)
    orders.slow(PUBLISH, 200, 0)
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{PUBLISH}.200.all-2",
        f"{WRITE}.fail.0",
        f"{WRITE}.fail.1",
    ]
    (folder / f"{WRITE}.fail.0").unlink()  # As a call that obeys.
    assert not orders.whole(WRITE)
    orders.restore(WRITE)
    assert orders.whole(WRITE)
    assert not orders.whole(PUBLISH, delay_ms=200)
    orders.restore(PUBLISH, delay_ms=200)
    orders.restore(PUBLISH, delay_ms=200)
    assert not list(folder.iterdir())


def test_equal_orders_for_all_calls_that_overlap_are_undone_one_by_one(tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    orders = Orders(folder)
    for _ in range(2):
        orders.slow(PUBLISH, 200, 0)
    orders.restore(PUBLISH, delay_ms=200)
    assert len(list(folder.iterdir())) == 1
    assert not orders.whole(PUBLISH, delay_ms=200)
    orders.restore(PUBLISH, delay_ms=200)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(("given", "name"), [((True, False), "after_effect"), ((False, True), "answer_lost")])
def test_a_parameter_that_it_does_not_have_is_named(given: tuple[bool, bool], name: str) -> None:
    problem = unsupported(WRITE, after_effect=given[0], answer_lost=given[1])
    assert problem.startswith(f"{name} is 1: Flink's storage")


@pytest.mark.parametrize(("operation", "after_effect"), [("pre-commit", False), (WRITE, True)])
def test_what_it_cannot_do_is_not_done(tmp_path: Path, operation: str, after_effect: bool) -> None:
    orders = Orders(tmp_path / "orders")
    with pytest.raises(TargetAbsent, match="Flink's storage"):
        orders.fail(operation, 1, after_effect=after_effect)
    assert orders.whole(operation)


def test_a_line_is_a_refusal_or_a_delay() -> None:
    path = "/run/checkpoints/70ef/chk-12/a0b1"
    refused = obeyed(Line(t=0.0, c=OF_STORAGE, m=f"{WRITE} fail {path}"))
    assert isinstance(refused, StorageFailed)
    assert (refused.operation, refused.path, refused.checkpoint, refused.injected) == (WRITE, path, 12, True)
    slowed = obeyed(Line(t=0.0, c=OF_STORAGE, m=f"{WRITE} 300 {path}"))
    assert isinstance(slowed, StorageSlowed)
    assert slowed.delay_ms == 300
    with pytest.raises(ValueError, match="writes 'nonsense'"):
        obeyed(Line(t=0.0, c=OF_STORAGE, m="nonsense"))


def test_a_sum_is_slow_by_an_order_of_its_own_and_nothing_else_is(tmp_path: Path) -> None:
    tasks = SlowTasks(Orders(tmp_path / "orders"), Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic")))
    sum_1 = Target(Role.TASK, 3)
    tasks.slow(sum_1, 50)
    assert [path.name for path in (tmp_path / "orders").iterdir()] == ["process-sum[1].50.all-0"]
    assert not tasks.whole(sum_1, 50)
    tasks.restore(sum_1, 50)
    assert tasks.whole(sum_1, 50)
    assert not list((tmp_path / "orders").iterdir())
    with pytest.raises(TargetAbsent, match="operators by key alone can be slow"):
        tasks.slow(Target(Role.TASK, 0), 50)
    reported = obeyed(Line(t=0.0, c=OF_STORAGE, m="process-sum[1] 50 sum[1]"))
    assert isinstance(reported, StorageSlowed)
    assert (subtask_in(reported), reported.delay_ms) == ("sum[1]", 50)
