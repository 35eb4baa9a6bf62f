"""QUEUE, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.unaligned.queue import QueueOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


def test_what_waits_for_a_slow_link_says_nothing_of_sizes() -> None:
    assert (
        "queued-too-long"
        not in QueueOracle().judge(HISTORIES["queue/undecided/six-times-the-target-on-a-slow-link"]()).checked
    )
