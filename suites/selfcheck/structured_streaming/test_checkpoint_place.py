"""Where queries keep their progress: what is recorded of it, and when a job ends because of it."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.fixtures.systems.structured_streaming.messages import Ended, Placed, Progressed, QueryPlace
from holdfast.fixtures.systems.structured_streaming.query import Query
from holdfast.fixtures.systems.structured_streaming.reasons import uri_of
from holdfast.harness.model.events import CheckpointFolderSeen, JobStatus, JobSwitched, QueryStarted
from holdfast.suites.selfcheck.adapter.test_member import Clocked
from holdfast.suites.selfcheck.structured_streaming.test_query_upgrade import FIRST, FakeLog, FakeSession, begin, tell


class Standing:
    """A query that has been started."""

    def __init__(self, files: int = 3) -> None:
        self.session, self.recorder = FakeSession(), Clocked()
        log: Any = FakeLog(self.session)
        log.files = lambda: files
        session: Any = self.session
        self.query = Query(session, FIRST, log, "source[0]", self.recorder)
        begin(self.query, self.session, self.recorder)

    def places(self, *folders: str) -> None:
        named = tuple(QueryPlace(f"id-{n}", f"run-{n}", each, judged=not n) for n, each in enumerate(folders))
        tell(self.query, self.session, Placed(self.session.started.query, named))

    @property
    def failures(self) -> list[str]:
        switched = [event for event in self.events if isinstance(event, JobSwitched)]
        return [event.reason for event in switched if event.status is JobStatus.FAILED]

    @property
    def events(self) -> list[Any]:
        return [event for events in self.recorder.nodes.values() for event in events]


def test_two_queries_of_one_folder_end_the_job_and_what_follows_is_no_other_failure() -> None:
    standing = Standing()
    standing.places("file:/checkpoint", "file:///checkpoint/")
    [failure] = standing.failures
    assert failure == "two of its queries keep their progress in checkpoint: give each a folder of its own"
    tell(standing.query, standing.session, Ended(standing.session.started.query, "ValueError: stopped"))
    assert (len(standing.failures), standing.query.failed, standing.query.problem) == (1, True, "")
    started = [event for event in standing.events if isinstance(event, QueryStarted)]
    assert [(event.query, event.judged, event.start) for event in started] == [("id-0", True, 1), ("id-1", False, 1)]


@pytest.mark.parametrize("folders", [("file:///checkpoint",), ("file:/checkpoint", "file:/checkpoint/b")])
def test_a_folder_for_each_is_right(folders: tuple[str, ...]) -> None:
    standing = Standing()
    standing.places(*folders)
    assert (standing.query.failed, standing.query.problem) == (False, "")


def test_a_folder_that_nobody_reads_decides_nothing() -> None:
    standing = Standing()
    standing.places("file:/checkpoint/a", "file:/checkpoint/b")
    assert not standing.query.failed
    assert standing.query.problem.startswith("the query that build returns keeps its progress in checkpoint/a, and ")


@pytest.mark.parametrize("files", [0, 3])
def test_a_folder_with_nothing_in_it_behind_a_micro_batch_ends_the_job(files: int) -> None:
    standing = Standing(files)
    tell(standing.query, standing.session, Progressed(standing.session.started.query))
    assert standing.query.failed is (not files)
    [seen] = [event for event in standing.events if isinstance(event, CheckpointFolderSeen)]
    assert (seen.folder, seen.files) == ("file:/checkpoint", files)


def test_a_module_whose_own_error_keeps_it_from_starting_fails() -> None:
    """What the environment did to it decides nothing."""
    for error, failed in (("ValueError: no such column", True), ("ConnectException: refused", False)):
        session, recorder = FakeSession(), Clocked()
        log: Any = FakeLog(session)
        fake: Any = session
        query = Query(fake, FIRST, log, "source[0]", recorder)
        query.tend()
        tell(query, session, Ended(session.started.query, error))
        assert (query.failed, query.problem) == (failed, "" if failed else f"the pipeline cannot be started: {error}")


@pytest.mark.parametrize(
    ("folder", "uri"),
    [
        ("/runs/checkpoint/", "file:/runs/checkpoint"),
        ("file:///runs/checkpoint", "file:/runs/checkpoint"),
        ("s3a://bucket/run/checkpoint", "s3a:/bucket/run/checkpoint"),
    ],
)
def test_a_folder_has_one_uri(folder: str, uri: str) -> None:
    assert uri_of(folder) == uri
