"""CHAIN, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.barriers.chain import ChainOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


def test_of_tasks_alone_nothing_is_known_about_operators() -> None:
    assert not ChainOracle().applies(HISTORIES["chain/undecided/seen-as-tasks"]())
    assert ChainOracle().applies(HISTORIES["chain/operator-missing/heads-alone-take-snapshots"]())
