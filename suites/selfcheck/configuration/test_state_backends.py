"""Which state backend a plan gets, and what is said where it gets none (RULES SBK-09)."""

from __future__ import annotations

from contextlib import closing

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.named_files import NamedFilesBackend
from holdfast.fixtures.reference.drivers.state_backends import state_backends
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.execution_graph import execution_graph
from holdfast.harness.engine.site import registry
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Topology
from holdfast.harness.spi.system import OptionUse, TierAware
from holdfast.suites.conformance.plans import plan

GRAPH = execution_graph(KEYED_SUM, Topology(parallelism=1), chaining=False)
TASK = GRAPH.tasks["sum[0]"]
FACTORY = "holdfast.fixtures.backends.named_files:NamedFilesBackend"


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ({}, HashMapBackend),
        ({profile.INCREMENTAL: "true"}, HashMapBackend),
        ({profile.BACKEND: "rocksdb"}, HashMapBackend),
        ({profile.BACKEND: "rocksdb", profile.INCREMENTAL: "true"}, NamedFilesBackend),
        ({profile.BACKEND: FACTORY}, NamedFilesBackend),
    ],
)
def test_options_stand_for_a_factory(options: dict[str, str], made: type) -> None:
    assert state_backends(REFERENCE.configure(plan(options=options))).keyed is made


def test_a_changelog_wraps_whatever_is_chosen() -> None:
    chosen = state_backends(REFERENCE.configure(plan(options={profile.CHANGELOG: "true"})))
    with closing(chosen.of(TASK, GRAPH, attempt=1).keyed()) as backend:
        assert backend.describe().name == "hashmap+changelog"


def test_rocksdb_is_accounted_for_as_what_takes_its_part() -> None:
    accounts = registry.system("reference").account(plan(options={profile.BACKEND: "rocksdb"}))
    assert {each.key: each.use for each in accounts}[profile.BACKEND] is OptionUse.EQUIVALENT


@pytest.mark.parametrize(
    ("backend", "tier", "said"),
    [
        ("nowhere:Backend", Tier.SIM, "cannot be loaded"),
        ("rocksdb", Tier.CONTAINERS, "the images of workers have not"),
        ("rocksdb", Tier.PROCESS, ""),
        ("rocksdb", Tier.SIM, ""),
        ("hashmap", Tier.PROCESS, ""),
    ],
)
def test_a_plan_whose_backend_cannot_be_had_does_not_apply(backend: str, tier: Tier, said: str) -> None:
    system = registry.system("reference")
    assert isinstance(system, TierAware)
    objection = system.objection(plan(options={profile.BACKEND: backend}), tier)
    assert said in objection
    assert bool(objection) == bool(said)
