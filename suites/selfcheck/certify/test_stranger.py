"""Backends that share nothing with ours pass the kit, also as the other one between which state moves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.harness.engine.site.program_share import fewer_programs
from holdfast.harness.model.status import Status
from holdfast.harness.spi.state import KeyedStateBackendFactory, Snapshot, StateEntry
from holdfast.suites.certify import state_backend
from holdfast.suites.selfcheck.certify.stranger import Rows, RowsSnapshot
from holdfast.suites.selfcheck.certify.written import unshrunk

FACTORY: KeyedStateBackendFactory = Rows
HERE = Rows.__module__.rpartition(".")[0]
test_on_sqlite = pytest.mark.nightly(state_backend.kit(f"{HERE}.stranger:Rows"))
test_on_rocksdict = pytest.mark.nightly(state_backend.kit(f"{HERE}.stranger_on_rocksdict:RocksDictBackend"))
test_on_duckdb = pytest.mark.nightly(state_backend.kit(f"{HERE}.stranger_on_duckdb:DuckDBBackend"))


def test_a_list_that_would_outgrow_the_declared_limit_is_merged_no_further() -> None:
    """On a night with this seed, a merge of 20 bytes into 4,096 was drawn, which it refused rightly."""
    [check] = [each for each in state_backend.CHECKS if each.id == "SBK-03/program"]
    [verdict] = state_backend.certify(Rows, checks=[check], seed=739950)
    assert verdict.status is Status.PASS, verdict.text


class Unsorted(Rows):
    """Its wrong twin: entries come as the database has them."""

    def new_snapshot(self, checkpoint: int) -> Snapshot:
        return _Unsorted(self, checkpoint)


class _Unsorted(RowsSnapshot):
    def entries(self) -> Iterator[StateEntry]:
        self.require_held()
        return (StateEntry(*row) for row in self.rows)


@pytest.mark.parametrize("rule", ["SBK-06", pytest.param("", marks=pytest.mark.nightly)], ids=["the rule", "all"])
def test_its_wrong_twin_is_refuted_by_the_checks_of_the_canonical_form(rule: str) -> None:
    checks = [each for each in state_backend.CHECKS if each.rule.startswith(rule)]
    with fewer_programs(1 / 8), unshrunk():
        refuted = [each for each in state_backend.certify(Unsorted, checks=checks) if each.status is Status.FAIL]
    assert {each.rule for each in refuted} == {"SBK-06"}
    assert {each.check.id for each in refuted} >= {"SBK-06/program", "SBK-06/another-backend"}


def test_a_backend_that_can_do_less_is_not_asked_to_take_what_it_cannot() -> None:
    [check] = [each for each in state_backend.CHECKS if each.id == "SBK-06/another-backend"]
    [verdict] = state_backend.certify(HashMapBackend, Rows, [check])
    assert (verdict.status, verdict.reason) == (
        Status.NOT_APPLICABLE,
        "the other backend, rows, does not declare timers, ttl",
    )
