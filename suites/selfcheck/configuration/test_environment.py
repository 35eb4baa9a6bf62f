"""The calls of the source documents, as a program: they come to what the same calls in a plan come to (CFG-08)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.fixtures.reference.protocol.configuration.effective_configuration import effective_configuration
from holdfast.fixtures.reference.protocol.configuration.environment import (
    StreamExecutionEnvironment,
    failure_rate_restart,
    fs_state_backend,
)
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.suites.conformance.samples import Sample, samples
from holdfast.suites.conformance.seed_samples import PROFILE
from holdfast.suites.conformance.submissions import submitted

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
