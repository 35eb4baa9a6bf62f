"""CHAIN, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.barriers.chain import ChainOracle
from holdfast.suites.selfcheck.oracles.histories.chain import heads_alone_take_snapshots, seen_as_tasks


def test_of_tasks_alone_nothing_is_known_about_operators() -> None:
    assert not ChainOracle().applies(seen_as_tasks())
    assert ChainOracle().applies(heads_alone_take_snapshots())
