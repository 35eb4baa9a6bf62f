"""A fault of a channel acts at the relay before the TaskManager that sends, until it is undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdfast.fixtures.systems.flink.links import MovingLinks, unreached
from holdfast.harness.adapter.links import LinksOfTargets
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.conformance.flink.links import BETWEEN
from holdfast.suites.conformance.flink.twins import flink
from holdfast.suites.conformance.plans import WORKERS


class Scripted:
    """harness.adapter.links.Links, for which any order is a line."""

    def __init__(self) -> None:
        self.orders: list[tuple[Any, ...]] = []

    def __getattr__(self, verb: str) -> Any:
        return lambda *words: self.orders.append((verb, *words))


def moving(relay: Any, host: Callable[[Target], int]) -> tuple[MovingLinks, LinksOfTargets]:
    """Links that move, and how faults reach them."""
    links = MovingLinks(relay, str, flink(), host)
    return links, LinksOfTargets(lambda target: (links, str(target)))


def test_it_is_undone_where_it_was_done_though_the_sender_runs_elsewhere_now() -> None:
    relay, hosts = Scripted(), [2]
    links, faults = moving(relay, lambda worker: hosts[0] + worker.index)
    faults.cut(BETWEEN, "forward")
    faults.slow(COORDINATOR, 20)
    hosts[0] = 1
    assert not faults.whole(BETWEEN, "cut", "forward")
    faults.restore(BETWEEN, "cut", "forward")
    assert faults.whole(BETWEEN, "cut", "forward")
    links.heal()
    third, coordinator = str(Target(Role.WORKER, 2)), str(COORDINATOR)
    assert relay.orders == [
        ("act", third, "cut", "backward"),
        ("act", coordinator, "slow", 20),
        ("restore", third, "cut", "backward"),
        ("restore", coordinator, "slow", 20),
    ]


def test_equal_faults_that_overlap_are_undone_one_by_one() -> None:
    relay, hosts = Scripted(), [2]
    _, faults = moving(relay, lambda worker: hosts[0] + worker.index)
    faults.cut(BETWEEN)
    hosts[0] = 1
    faults.cut(BETWEEN)
    faults.restore(BETWEEN, "cut", "both")
    assert not faults.whole(BETWEEN, "cut", "both")
    faults.restore(BETWEEN, "cut", "both")
    assert faults.whole(BETWEEN, "cut", "both")
    places = [str(Target(Role.WORKER, index)) for index in (2, 1)]
    acts = [("act", place, "cut", "both") for place in places]
    assert relay.orders == [*acts, *(("restore", place, "cut", "both") for place in places)]


def test_all_faults_are_undone_for_the_next_run() -> None:
    relay = Scripted()
    links, faults = moving(relay, lambda worker: worker.index)
    faults.black_hole(BETWEEN)
    faults.black_hole(BETWEEN)
    links.heal()
    assert [order[0] for order in relay.orders] == ["act", "act", "restore", "restore"]
    assert faults.whole(BETWEEN, "black-hole")


def test_of_equal_faults_that_which_acts_is_undone_before_that_which_waits() -> None:
    relay, hosts = Scripted(), {0: 1, 1: 2}

    def host(worker: Target) -> int:
        if worker.index not in hosts:
            raise OSError(f"{worker} runs nothing at the moment.")
        return hosts[worker.index]

    _, faults = moving(relay, host)
    faults.slow(BETWEEN, 20)
    hosts.clear()
    faults.slow(BETWEEN, 20)
    faults.restore(BETWEEN, "slow", 20)
    assert [order[0] for order in relay.orders] == ["act", "restore"]
    assert not faults.whole(BETWEEN, "slow", 20)


def test_equal_faults_that_wait_are_forgotten_one_by_one() -> None:
    def nobody(worker: Target) -> int:
        raise OSError(f"{worker} runs nothing at the moment.")

    _, faults = moving(Scripted(), nobody)
    faults.cut(BETWEEN)
    faults.cut(BETWEEN)
    faults.restore(BETWEEN, "cut", "both")
    assert not faults.whole(BETWEEN, "cut", "both")
    faults.restore(BETWEEN, "cut", "both")
    assert faults.whole(BETWEEN, "cut", "both")


def test_it_waits_while_nobody_runs_the_sender_and_is_forgotten_when_it_is_undone_before() -> None:
    relay, hosts = Scripted(), dict[int, int]()

    def host(worker: Target) -> int:
        try:
            return hosts[worker.index]
        except KeyError:
            raise OSError(f"{worker} runs nothing at the moment.") from None

    links, faults = moving(relay, host)
    faults.slow(BETWEEN, 20)
    faults.slow(BETWEEN, 30)
    assert not faults.whole(BETWEEN, "slow", 20)
    faults.restore(BETWEEN, "slow", 30)
    assert relay.orders == []
    hosts[0] = hosts[1] = 2
    links.tend()
    links.tend()
    assert relay.orders == [("act", str(Target(Role.WORKER, 2)), "slow", 20)]
    assert faults.whole(BETWEEN, "slow", 30)


@pytest.mark.parametrize(("channel", "problem"), [(0, "within one"), (1, ""), (2, ""), (3, "within one")])
def test_only_what_leaves_a_task_manager_is_relayed(channel: int, problem: str) -> None:
    found = unreached(flink(), Target(Role.CHANNEL, channel))
    assert problem in found
    assert bool(found) is bool(problem)
    assert not unreached(flink(), WORKERS[0])
