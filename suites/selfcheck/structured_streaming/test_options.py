"""No option of a plan is ignored, and what cannot be had is refused in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from holdfast.fixtures.systems.structured_streaming import options
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.spi.system import OptionUse

PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def plan(given: Mapping[str, str] = {}, job: Job = KEYED_SUM, parallelism: int = 2) -> Plan:
    workload = WorkloadSpec("synthetic")
    return Plan(system="spark", job=job, topology=Topology(parallelism), workload=workload, options=dict(given))


@pytest.mark.parametrize(
    ("key", "value", "use"),
    [
        ("execution.checkpointing.interval", "500 ms", OptionUse.EQUIVALENT),
        ("execution.checkpointing.mode", "EXACTLY_ONCE", OptionUse.EQUIVALENT),
        ("execution.checkpointing.mode", "AT_LEAST_ONCE", OptionUse.UNSUPPORTED),
        ("execution.checkpointing.num-retained", "3", OptionUse.EQUIVALENT),
        ("execution.checkpointing.incremental", "true", OptionUse.EQUIVALENT),
        ("state.backend.type", "rocksdb", OptionUse.EQUIVALENT),
        (PROVIDER, "some.Provider", OptionUse.APPLIED),
        ("restart-strategy.type", "fixed-delay", OptionUse.UNSUPPORTED),
        ("execution.checkpointing.timeout", "10 s", OptionUse.UNSUPPORTED),
    ],
)
def test_every_option_is_accounted_for(key: str, value: str, use: OptionUse) -> None:
    [account] = StructuredStreaming().account(plan({key: value}))
    assert (account.key, account.use) == (key, use)
    assert bool(account.equivalent) is (use is OptionUse.EQUIVALENT)


def test_a_stateless_pipeline_has_no_state_backend() -> None:
    [account] = StructuredStreaming().account(plan({"state.backend.type": "rocksdb"}, FORWARD))
    assert account.use is OptionUse.UNSUPPORTED


def test_equivalents_become_keys_of_spark() -> None:
    given = {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.num-retained": "7",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }
    assert options.configuration(given) == {
        PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.minBatchesToRetain": "7",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"state.backend.type": "forst"}, "state.backend.type is 'forst': use one of hashmap, rocksdb."),
        ({"execution.checkpointing.num-retained": "0"}, "num-retained is '0': use a whole number from 1."),
        ({"execution.checkpointing.incremental": "yes"}, "incremental is 'yes': use true or false."),
        ({"execution.checkpointing.interval": "soon"}, "'soon' is not a duration"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        StructuredStreaming().account(plan(given))


def test_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="parallelism is 3: a session has 2 workers, use 2"):
        StructuredStreaming().account(plan(parallelism=3))


def test_the_file_sink_promises_no_order() -> None:
    system = StructuredStreaming()
    assert Guarantee.KEY_ORDER in system.claims(plan()).output
    assert system.claims(plan(job=FORWARD)).output == {Guarantee.NO_LOSS, Guarantee.NO_DUPLICATE}


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no variant 'appends': known are appends-in-foreach-batch"):
        registry.system("spark+appends")
