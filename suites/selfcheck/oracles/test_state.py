"""STATE: what it leaves undecided."""

from __future__ import annotations

import pytest

from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, WINDOW_SUM
from holdfast.harness.oracles.barriers.state import StateOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES, story

ORACLE = StateOracle()


@pytest.mark.parametrize(
    "name",
    [
        "one-subtask-unread",
        "repeated-under-at-least-once",
        "unaligned",
        "no-watermark",
        "one-subtask-of-windows-unread",
        "outlived-under-at-least-once",
    ],
)
def test_what_it_leaves_undecided(name: str) -> None:
    verdict = ORACLE.judge(HISTORIES[f"state/undecided/{name}"]())
    assert not verdict.anomalies
    assert not verdict.checked.keys() & {"state-extra", "state-missing", "key-wrong", "window-outlives"}


@pytest.mark.parametrize(("job", "applies"), [(KEYED_SUM, True), (FORWARD, False), (WINDOW_SUM, True)])
def test_it_has_something_to_say_about_sums_only(job: Job, applies: bool) -> None:
    assert ORACLE.applies(story(job=job)) is applies
    assert not ORACLE.applies(story(job=job, claimed=frozenset()))
