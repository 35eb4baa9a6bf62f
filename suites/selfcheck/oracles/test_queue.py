"""QUEUE, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.unaligned.queue import QueueOracle
from holdfast.suites.selfcheck.oracles.histories.queue import six_times_the_target_on_a_slow_link


def test_what_waits_for_a_slow_link_says_nothing_of_sizes() -> None:
    assert "queued-too-long" not in QueueOracle().judge(six_times_the_target_on_a_slow_link()).checked
