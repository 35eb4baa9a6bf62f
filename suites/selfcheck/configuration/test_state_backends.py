"""The state backend of a plan (SBK-09), state in the coordinator's memory (SBK-07), calls that set both (CFG-08)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.named_files import NamedFilesBackend
from holdfast.fixtures.reference.drivers.state_backends import state_backends
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.configuration.environment import (
    StreamExecutionEnvironment,
    failure_rate_restart,
    fs_state_backend,
)
from holdfast.fixtures.reference.protocol.configuration.submission import configure, effective_configuration
from holdfast.fixtures.reference.protocol.execution_graph import execution_graph
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model import events, profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import OptionUse, TierAware
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import plan, submitted
from holdfast.suites.conformance.samples import Sample, samples
from holdfast.suites.conformance.seed_samples import PROFILE

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


IN_MEMORY = {profile.STORAGE: "jobmanager", profile.INLINE_THRESHOLD: "0", **plans.TOLERANT}


def ran(options: Mapping[str, str]) -> tuple[Outcome, History]:
    run = run_plan(plans.plan(options=options), ReferenceSystem(), registry.toolbox())
    return run.outcome, run.history


def largest_bytes(history: History) -> int:
    return max(ack.inline_bytes for ack in history.of(events.AckSent))


def test_no_state_is_stored() -> None:
    outcome, history = ran(IN_MEMORY)
    assert outcome is Outcome.PASS
    assert largest_bytes(history) > 0
    assert all(not ack.files for ack in history.of(events.AckSent))
    assert any(ack.files for ack in ran({profile.INLINE_THRESHOLD: "0"})[1].of(events.AckSent))


def test_a_handle_above_the_limit_is_declined_by_name() -> None:
    fits_bytes = largest_bytes(ran(IN_MEMORY)[1])
    outcome, _ = ran({**IN_MEMORY, profile.MEMORY_LIMIT: f"{fits_bytes} b"})
    assert outcome is Outcome.PASS
    _, history = ran({**IN_MEMORY, profile.MEMORY_LIMIT: f"{fits_bytes - 1} b"})
    reasons = [declined.reason for declined in history.of(events.DeclineSent)]
    assert reasons
    assert f"has {fits_bytes} b, and {profile.MEMORY_LIMIT} allows {fits_bytes - 1} b" in reasons[-1]


SAMPLES = {sample.name: sample for sample in samples()}


def large_state(environment: StreamExecutionEnvironment) -> None:
    environment.set_restart_strategy(failure_rate_restart(3, 1_000, "5 min"))
    environment.disable_operator_chaining()
    environment.enable_checkpointing(1_000 * 60 * 15, "AT_LEAST_ONCE")
    environment.get_checkpoint_config().set_checkpoint_timeout(1_000 * 60 * 60)
    environment.get_checkpoint_config().set_min_pause_between_checkpoints(1_000 * 10)
    environment.get_checkpoint_config().enable_externalized_checkpoints("DELETE_ON_CANCELLATION")


def every_setting(environment: StreamExecutionEnvironment) -> None:
    environment.enable_checkpointing(1_000)
    config = environment.get_checkpoint_config()
    config.set_checkpointing_mode("EXACTLY_ONCE")
    config.set_min_pause_between_checkpoints(500)
    config.set_checkpoint_timeout(60_000)
    config.set_tolerable_checkpoint_failure_number(2)
    config.set_max_concurrent_checkpoints(1)
    config.enable_externalized_checkpoints("RETAIN_ON_CANCELLATION")
    config.enable_unaligned_checkpoints()
    config.set_checkpoint_storage("hdfs:///my/checkpoint/dir")
    environment.configure({"execution.checkpointing.checkpoints-after-tasks-finish.enabled": True})


def synchronous(environment: StreamExecutionEnvironment) -> None:
    environment.set_state_backend(fs_state_backend("file:///checkpoints", False))


@pytest.mark.parametrize(
    ("program", "sample"),
    [
        (large_state, SAMPLES["large-state"]),
        (every_setting, SAMPLES["every-setting"]),
        (synchronous, SAMPLES["fs-backend-synchronous"]),
    ],
    ids=lambda each: each.name if isinstance(each, Sample) else "",
)
def test_a_program_of_the_seeds(program: Callable[[StreamExecutionEnvironment], None], sample: Sample) -> None:
    environment = StreamExecutionEnvironment()
    program(environment)
    written = effective_configuration(configure(submitted({**PROFILE, **environment.options})))
    golden = effective_configuration(configure(submitted(PROFILE, *sample.program)))
    assert [(each.key, each.value) for each in written.settings] == [(each.key, each.value) for each in golden.settings]
    assert written.notes == golden.notes
