"""Every default is written down a second time, by hand: a wrong one in the profile is not both question and answer."""

from __future__ import annotations

import pytest

from holdfast.fixtures.reference.protocol.configuration.effective_configuration import effective_configuration
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.harness.model.profile import FLINK_1_14, FLINK_2, OPTIONS, PROFILE
from holdfast.harness.oracles.configuration.configuration_model import ConfigurationModel
from holdfast.suites.conformance.samples import defaults, own_defaults
from holdfast.suites.conformance.submissions import submitted


@pytest.mark.parametrize("version", [FLINK_1_14, FLINK_2])
def test_every_default_is_the_one_that_is_written_down(version: str) -> None:
    listed = {PROFILE: version, **defaults(version), **own_defaults()}
    assert listed.keys() == OPTIONS.keys()
    plan = submitted({PROFILE: version})
    reported = {setting.key: setting.value for setting in effective_configuration(configure(plan)).settings}
    derived = {key: expected.value for key, expected in ConfigurationModel(plan).settings.items()}
    assert reported == listed
    assert derived == listed


@pytest.mark.parametrize("version", [FLINK_1_14, FLINK_2])
def test_no_option_of_ours_is_listed_as_one_of_flink(version: str) -> None:
    assert defaults(version).keys() & {PROFILE, *own_defaults()} == set()
