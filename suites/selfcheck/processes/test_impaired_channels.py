"""Several faults on one channel."""

from __future__ import annotations

from holdfast.fixtures.reference.drivers.processes.control import Direction
from holdfast.fixtures.reference.drivers.processes.impaired_channels import ImpairedChannels

CHANNEL = "source[0]->sum[0]"


def test_a_delay_goes_on_when_a_cut_is_healed() -> None:
    channels = ImpairedChannels()
    channels.cut(CHANNEL, Direction.BOTH)
    channels.slow(CHANNEL, 50)
    assert list(channels.ways(CHANNEL)) == [(Direction.BOTH, True, 50)]
    channels.restore(CHANNEL, "cut")
    assert list(channels.ways(CHANNEL)) == [(Direction.BOTH, False, 50)]
    assert channels.whole(CHANNEL, "cut")
    assert not channels.whole(CHANNEL)
    channels.restore(CHANNEL, "slow")
    assert list(channels.ways(CHANNEL)) == [(Direction.BOTH, False, 0)]
    assert channels.whole(CHANNEL)


def test_of_two_cuts_the_last_heals() -> None:
    channels = ImpairedChannels()
    channels.cut(CHANNEL, Direction.FORWARD)
    channels.cut(CHANNEL, Direction.BACKWARD)
    channels.restore(CHANNEL, "cut")
    assert list(channels.ways(CHANNEL)) == [(Direction.FORWARD, False, 0), (Direction.BACKWARD, True, 0)]
    channels.restore(CHANNEL, "cut")
    assert channels.whole(CHANNEL)


def test_what_never_acted_is_healed_without_harm() -> None:
    channels = ImpairedChannels()
    channels.restore(CHANNEL)
    assert list(channels.ways(CHANNEL)) == [(Direction.BOTH, False, 0)]
