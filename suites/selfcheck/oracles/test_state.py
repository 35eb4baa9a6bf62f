"""STATE: what it leaves undecided."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.harness.model.history import History
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, WINDOW_SUM
from holdfast.harness.oracles.barriers.state import StateOracle
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.histories.open_windows import (
    no_watermark,
    one_subtask_of_windows_unread,
    outlived_under_at_least_once,
)
from holdfast.suites.selfcheck.oracles.histories.state import (
    one_subtask_unread,
    repeated_under_at_least_once,
    unaligned,
)

ORACLE = StateOracle()


@pytest.mark.parametrize(
    "tell",
    [
        one_subtask_unread,
        repeated_under_at_least_once,
        unaligned,
        no_watermark,
        one_subtask_of_windows_unread,
        outlived_under_at_least_once,
    ],
)
def test_what_it_leaves_undecided(tell: Callable[[], History]) -> None:
    verdict = ORACLE.judge(tell())
    assert not verdict.anomalies
    assert not verdict.checked.keys() & {"state-extra", "state-missing", "key-wrong", "window-outlives"}


@pytest.mark.parametrize(("job", "applies"), [(KEYED_SUM, True), (FORWARD, False), (WINDOW_SUM, True)])
def test_it_has_something_to_say_about_sums_only(job: Job, applies: bool) -> None:
    assert ORACLE.applies(story(job=job)) is applies
    assert not ORACLE.applies(story(job=job, claimed=frozenset()))
