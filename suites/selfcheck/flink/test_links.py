"""A fault of a channel acts at the relay before the TaskManager that sends, until it is undone."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.fixtures.systems.flink.links import RelayedLinks, unreached
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


def test_it_is_undone_where_it_was_done_though_the_sender_runs_elsewhere_now() -> None:
    relay, hosts = Scripted(), [2]
    links = RelayedLinks(relay, flink(), lambda worker: hosts[0] + worker.index)
    links.cut(BETWEEN, "forward")
    links.slow(COORDINATOR, 20)
    hosts[0] = 1
    assert not links.whole(BETWEEN, "cut", "forward")
    links.restore(BETWEEN, "cut", "forward")
    assert links.whole(BETWEEN, "cut", "forward")
    links.heal()
    third = Target(Role.WORKER, 2)
    assert relay.orders == [
        ("cut", third, "backward"),
        ("slow", COORDINATOR, 20),
        ("restore", third, "cut", "backward"),
        ("restore", COORDINATOR, "slow", 20),
    ]


def test_equal_faults_that_overlap_are_undone_one_by_one() -> None:
    relay, hosts = Scripted(), [2]
    links = RelayedLinks(relay, flink(), lambda worker: hosts[0] + worker.index)
    links.cut(BETWEEN)
    hosts[0] = 1
    links.cut(BETWEEN)
    links.restore(BETWEEN, "cut", "both")
    assert not links.whole(BETWEEN, "cut", "both")
    links.restore(BETWEEN, "cut", "both")
    assert links.whole(BETWEEN, "cut", "both")
    places = [Target(Role.WORKER, index) for index in (2, 1)]
    acts = [("cut", place, "both") for place in places]
    assert relay.orders == [*acts, *(("restore", place, "cut", "both") for place in places)]


def test_all_faults_are_undone_for_the_next_run() -> None:
    relay = Scripted()
    links = RelayedLinks(relay, flink(), lambda worker: worker.index)
    links.black_hole(BETWEEN)
    links.black_hole(BETWEEN)
    links.heal()
    assert [order[0] for order in relay.orders] == ["black_hole", "black_hole", "restore", "restore"]
    assert links.whole(BETWEEN, "black-hole")


def test_of_equal_faults_that_which_acts_is_undone_before_that_which_waits() -> None:
    relay, hosts = Scripted(), {0: 1, 1: 2}

    def host(worker: Target) -> int:
        if worker.index not in hosts:
            raise OSError(f"{worker} runs nothing at the moment.")
        return hosts[worker.index]

    links = RelayedLinks(relay, flink(), host)
    links.slow(BETWEEN, 20)
    hosts.clear()
    links.slow(BETWEEN, 20)
    links.restore(BETWEEN, "slow", 20)
    assert [order[0] for order in relay.orders] == ["slow", "restore"]
    assert not links.whole(BETWEEN, "slow", 20)


def test_equal_faults_that_wait_are_forgotten_one_by_one() -> None:
    def nobody(worker: Target) -> int:
        raise OSError(f"{worker} runs nothing at the moment.")

    links = RelayedLinks(Scripted(), flink(), nobody)
    links.cut(BETWEEN)
    links.cut(BETWEEN)
    links.restore(BETWEEN, "cut", "both")
    assert not links.whole(BETWEEN, "cut", "both")
    links.restore(BETWEEN, "cut", "both")
    assert links.whole(BETWEEN, "cut", "both")


def test_it_waits_while_nobody_runs_the_sender_and_is_forgotten_when_it_is_undone_before() -> None:
    relay, hosts = Scripted(), dict[int, int]()

    def host(worker: Target) -> int:
        try:
            return hosts[worker.index]
        except KeyError:
            raise OSError(f"{worker} runs nothing at the moment.") from None

    links = RelayedLinks(relay, flink(), host)
    links.slow(BETWEEN, 20)
    links.slow(BETWEEN, 30)
    assert not links.whole(BETWEEN, "slow", 20)
    links.restore(BETWEEN, "slow", 30)
    assert relay.orders == []
    hosts[0] = hosts[1] = 2
    links.tend()
    links.tend()
    assert relay.orders == [("slow", Target(Role.WORKER, 2), 20)]
    assert links.whole(BETWEEN, "slow", 30)


@pytest.mark.parametrize(("channel", "problem"), [(0, "within one"), (1, ""), (2, ""), (3, "within one")])
def test_only_what_leaves_a_task_manager_is_relayed(channel: int, problem: str) -> None:
    found = unreached(flink(), Target(Role.CHANNEL, channel))
    assert problem in found
    assert bool(found) is bool(problem)
    assert not unreached(flink(), WORKERS[0])
