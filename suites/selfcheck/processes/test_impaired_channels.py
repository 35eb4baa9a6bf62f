"""Several faults on one channel of real processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.reference.drivers.processes.controls.link import relayed_channels, watch
from holdfast.fixtures.reference.drivers.processes.controls.reach import Reach
from holdfast.fixtures.reference.drivers.processes.supervisor import Supervisor
from holdfast.harness.adapter.links import LinksOfTargets
from holdfast.harness.adapter.network.pipe import NOTHING, Impairments
from holdfast.harness.adapter.relay_process import RelayProcess
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.harness.spi.controls import Acting
from holdfast.harness.spi.controls.link import BACKWARD, BOTH, FORWARD

CHANNEL = Target(Role.CHANNEL, 0)
LIMIT_S = 10.0


class Relay:
    """harness.adapter.links.Relay, which does what the last order says; and the supervisor of the run.

    Attributes:
        listening: the channels that it carries.
        problem: what failed.
    """

    def __init__(self) -> None:
        self.acting = Acting()
        self.listening = dict.fromkeys(network_channels(KEYED_SUM, Topology()))
        self.ways = Impairments(NOTHING, NOTHING)
        self.touched = self.silent = False
        self.disturbed: list[int] = []
        self.problem = ""

    def impair(self, link: str, kind: str, wanted: Impairments) -> bool:
        if self.silent:
            raise OSError("the relay is silent")
        self.ways = wanted
        return self.touched

    def does(self, link: str, kind: str, wanted: Impairments) -> bool:
        return self.ways == wanted

    def reset(self, link: str) -> bool:
        return self.touched

    def struck(self, fault: int, what: str) -> None:
        assert what in self.listening
        self.disturbed.append(fault)

    def fail(self, problem: str) -> None:
        self.problem = problem

    @property
    def cut(self) -> list[str]:
        """Directions that are."""
        return [name for name, way in zip((FORWARD, BACKWARD), self.ways, strict=True) if way.cut]

    @property
    def delays_ms(self) -> set[int]:
        return {way.delay_ms for way in self.ways}


@pytest.fixture
def relay() -> Relay:
    return Relay()


@pytest.fixture
def controls(relay: Relay) -> LinksOfTargets:
    stands: Any = relay
    return LinksOfTargets(relayed_channels(Reach(stands, KEYED_SUM, Topology(), 2), stands))


def test_a_delay_goes_on_when_a_cut_is_healed(controls: LinksOfTargets, relay: Relay) -> None:
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
def test_of_two_cuts_the_one_that_is_healed_ends(
    controls: LinksOfTargets, relay: Relay, healed: str, left: str
) -> None:
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
    controls: LinksOfTargets, relay: Relay, healed: int, left: int
) -> None:
    controls.slow(CHANNEL, 700)
    controls.slow(CHANNEL, 20)
    controls.restore(CHANNEL, "slow", healed)
    assert relay.delays_ms == {left}


def test_what_never_acted_is_healed_without_harm(controls: LinksOfTargets, relay: Relay) -> None:
    controls.restore(CHANNEL, "cut", BOTH)
    assert relay.cut == []


@pytest.mark.parametrize("touched", [True, False])
def test_what_the_relay_did_is_recorded_for_the_fault_that_wanted_it(
    controls: LinksOfTargets, relay: Relay, *, touched: bool
) -> None:
    relay.acting.fault = 3
    controls.slow(CHANNEL, 20)
    relay.touched, relay.acting.fault = touched, 5
    controls.cut(CHANNEL)
    assert relay.disturbed == [3] * touched, "until the cut the channel was slow"
    controls.restore(CHANNEL, "cut", "both")
    assert relay.disturbed == [3, 5] * touched
    controls.reset(CHANNEL)
    assert relay.disturbed == [3, 5, 5] * touched


def test_a_relay_that_does_not_obey_is_a_problem_of_the_run(controls: LinksOfTargets, relay: Relay) -> None:
    relay.silent = True
    with pytest.raises(OSError, match="the relay is silent"):
        controls.cut(CHANNEL)
    assert relay.problem == "the relay is silent"


def test_a_channel_that_no_fault_of_the_plan_aims_at_has_no_relay(relay: Relay) -> None:
    stands: Any = relay
    controls = LinksOfTargets(relayed_channels(Reach(stands, KEYED_SUM, Topology(), 2), None))
    with pytest.raises(OSError, match=r"has no relay: no fault of the plan aims at it\."):
        controls.cut(CHANNEL)


def test_the_death_of_the_relay_is_a_problem_of_the_run(supervisor: Supervisor, tmp_path: Path) -> None:
    relay = RelayProcess({"source[0]->sum[1]": None}, tmp_path, tmp_path / "log")
    try:
        watch(supervisor, relay)
        os.kill(relay._child.pid, signal.SIGKILL)
        assert supervisor.wait_for(lambda: bool(supervisor.problem), LIMIT_S)
        assert supervisor.problem == "relay.0 ended: SIGKILL."
    finally:
        relay.kill()
