"""Every default is written down a second time, by hand: a wrong one in the profile is not both question and answer."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from holdfast.fixtures.reference.protocol.configuration.effective_configuration import effective_configuration
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.harness.model.profile import FLINK_1_14, FLINK_2, OPTIONS, PROFILE
from holdfast.harness.oracles.configuration.configuration_model import ConfigurationModel
from holdfast.suites.conformance.samples import defaults
from holdfast.suites.conformance.submissions import submitted

OURS: Mapping[str, tuple[str, str]] = {
    "holdfast.guarantee": ("", "what a job claims: Flink asks for no claim"),
    "scan.startup.mode": ("earliest-offset", "as KafkaSource starts; tables on Kafka have group-offsets"),
    "source.connector": ("", "a source of ours, by name"),
    "source.correlation-ids": ("true", "of our queues; in Flink an argument of RMQSource"),
    "source.max-batch-records": ("65536", "our sources hand over batches of records"),
    "source.split-assignment": ("static", "our sources have splits without an enumerator, too"),
    "sink.connector": ("", "a sink of ours, by name"),
    "sink.database": ("embedded", "our databases"),
    "sink.delivery-guarantee": ("exactly-once", "our sinks promise what they can; tables on Kafka have at-least-once"),
    "taskmanager.network.memory.buffers-per-channel": ("8", "our buffers hold a batch; Flink has 2 of 32 kB"),
}
"""By key, the default of the reference runtime where no default of Flink is meant, and why."""


@pytest.mark.parametrize("version", [FLINK_1_14, FLINK_2])
def test_every_default_is_the_one_that_is_written_down(version: str) -> None:
    listed = {PROFILE: version, **defaults(version), **{key: value for key, (value, _) in OURS.items()}}
    assert listed.keys() == OPTIONS.keys()
    plan = submitted({PROFILE: version})
    reported = {setting.key: setting.value for setting in effective_configuration(configure(plan)).settings}
    derived = {key: expected.value for key, expected in ConfigurationModel(plan).settings.items()}
    assert reported == listed
    assert derived == listed


@pytest.mark.parametrize("version", [FLINK_1_14, FLINK_2])
def test_no_option_of_ours_is_listed_as_one_of_flink(version: str) -> None:
    assert defaults(version).keys() & {PROFILE, *OURS} == set()
