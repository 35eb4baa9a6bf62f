"""Several faults on one channel of real processes."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.fixtures.reference.drivers.processes.control import Direction, Impair
from holdfast.fixtures.reference.drivers.processes.controls.link import RelayedLinks
from holdfast.fixtures.reference.drivers.processes.controls.reach import Reach
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.harness.spi.controls import Acting
from holdfast.harness.spi.controls.link import BACKWARD, BOTH, FORWARD

CHANNEL = Target(Role.CHANNEL, 0)


class Relay:
    """Does what the last orders say; stands for the supervisor."""

    def __init__(self) -> None:
        self.acting = Acting()
        self.ways: dict[Direction, tuple[bool, int]] = {}
        self.touched = False
        self.told: list[int] = []

    def order(self, _: str, impair: Impair) -> bool:
        for direction in (Direction.FORWARD, Direction.BACKWARD):
            if impair.direction in (direction, Direction.BOTH):
                self.ways[direction] = impair.cut, impair.delay_ms
        return self.touched

    def struck(self, fault: int, what: str) -> None:
        self.told.append(fault)

    @property
    def cut(self) -> list[str]:
        """Directions that are."""
        return [direction.value for direction, (cut, _) in self.ways.items() if cut]

    @property
    def delays_ms(self) -> set[int]:
        return {delay_ms for _, delay_ms in self.ways.values()}


@pytest.fixture
def relay() -> Relay:
    return Relay()


@pytest.fixture
def controls(relay: Relay) -> RelayedLinks:
    topology = Topology()
    supervisor: Any = relay
    channels = frozenset(network_channels(KEYED_SUM, topology))
    return RelayedLinks(Reach(supervisor, KEYED_SUM, topology, 2), channels)


def test_a_delay_goes_on_when_a_cut_is_healed(controls: RelayedLinks, relay: Relay) -> None:
    controls.cut(CHANNEL)
    controls.slow(CHANNEL, 50)
    controls.restore(CHANNEL, "cut", BOTH)
    assert (relay.cut, relay.delays_ms) == ([], {50})
    assert controls.whole(CHANNEL, "cut", BOTH)
    assert not controls.whole(CHANNEL, "slow", 50)
    controls.restore(CHANNEL, "slow", 50)
    assert relay.delays_ms == {0}
    assert controls.whole(CHANNEL, "slow", 50)


@pytest.mark.parametrize(("healed", "left"), [(FORWARD, BACKWARD), (BACKWARD, FORWARD)])
def test_of_two_cuts_the_one_that_is_healed_ends(controls: RelayedLinks, relay: Relay, healed: str, left: str) -> None:
    controls.cut(CHANNEL, FORWARD)
    controls.cut(CHANNEL, BACKWARD)
    controls.restore(CHANNEL, "cut", healed)
    assert relay.cut == [left]
    assert controls.whole(CHANNEL, "cut", healed)
    assert not controls.whole(CHANNEL, "cut", left)
    controls.restore(CHANNEL, "cut", left)
    assert relay.cut == []


@pytest.mark.parametrize(("healed", "left"), [(700, 20), (20, 700)])
def test_of_two_delays_the_one_that_is_healed_ends(
    controls: RelayedLinks, relay: Relay, healed: int, left: int
) -> None:
    controls.slow(CHANNEL, 700)
    controls.slow(CHANNEL, 20)
    controls.restore(CHANNEL, "slow", healed)
    assert relay.delays_ms == {left}


def test_what_never_acted_is_healed_without_harm(controls: RelayedLinks, relay: Relay) -> None:
    controls.restore(CHANNEL, "cut", BOTH)
    assert relay.cut == []


@pytest.mark.parametrize("touched", [True, False])
def test_what_the_relay_did_is_recorded_for_the_fault_that_wanted_it(
    controls: RelayedLinks, relay: Relay, *, touched: bool
) -> None:
    relay.acting.fault = 3
    controls.slow(CHANNEL, 20)
    relay.touched, relay.acting.fault = touched, 5
    controls.cut(CHANNEL)
    assert relay.told == [3] * touched, "until the cut the channel was slow"
    controls.restore(CHANNEL, "cut", "both")
    assert relay.told == [3, 5] * touched
