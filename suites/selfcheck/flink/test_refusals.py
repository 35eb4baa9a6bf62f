"""Answers of a JobManager: which are refusals of a job, and which are outages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.fixtures.systems.flink import refusal as refusals
from holdfast.fixtures.systems.flink.cluster import Cluster
from holdfast.fixtures.systems.flink.rest import Refused, Rest
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec

PLAN = Plan(system="flink", job=KEYED_SUM, workload=WorkloadSpec("synthetic"))
TRACE = (
    '{"errors":["Internal server error.","<Exception on server side:\\norg.Outer: it failed\\n\\tat org.A\\n%s'
    'End of exception on server side>"]}'
)


class Scripted:
    """A JobManager that gives one answer to everything."""

    def __init__(self) -> None:
        self.code, self.body, self.length = 200, b"{}", -1
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def do_GET(self) -> None:
                self.send_response(scripted.code)
                length = scripted.length if scripted.length >= 0 else len(scripted.body)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(scripted.body)

            def log_message(self, *words: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.rest = Rest(self.server.server_port)

    def submit(self) -> str:
        return self.rest.submit("jar", "Main", [], {}, 1)


@pytest.fixture
def master() -> Iterator[Scripted]:
    scripted = Scripted()
    yield scripted
    scripted.server.shutdown()
    scripted.server.server_close()


@pytest.mark.parametrize(
    ("code", "body", "sentence"),
    [
        (400, '{"errors":["no such option"]}', "no such option"),
        (500, TRACE % "Caused by: org.Inner: the value is bad\\n", "Flink refuses POST /jars/jar/run: org.Inner: the"),
        (500, TRACE % "", "run: org.Outer: it failed"),
    ],
)
def test_flink_refuses_with_a_reason(master: Scripted, code: int, body: str, sentence: str) -> None:
    master.code, master.body = code, body.encode()
    with pytest.raises(Refused, match=sentence):
        master.submit()


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (502, ""),
        (503, '{"errors":["Service temporarily unavailable due to an ongoing leader election."]}'),
        (504, ""),
        (500, ""),
        (500, TRACE % "Caused by: java.net.ConnectException: Connection refused\\nCaused by: org.Inner: no blob\\n"),
        (500, TRACE % "Caused by: java.util.concurrent.TimeoutException: Invocation timed out\\n"),
    ],
)
def test_an_outage_is_no_refusal(master: Scripted, code: int, body: str) -> None:
    master.code, master.body = code, body.encode()
    with pytest.raises(OSError, match=f"does not answer POST /jars/jar/run at the moment, code {code}") as raised:
        master.submit()
    assert not isinstance(raised.value, Refused)
    assert master.rest.status("job") == ""


def test_an_answer_without_a_job_is_no_submission(master: Scripted) -> None:
    master.code, master.body = 200, b"{}"
    with pytest.raises(OSError, match="names no job") as raised:
        master.submit()
    assert not isinstance(raised.value, Refused)


def test_what_is_required_of_a_job_is_read_back(master: Scripted) -> None:
    bounds = '{"parallelism":{"lowerBound":%d,"upperBound":%d}}'
    master.body = f'{{"a":{bounds % (2, 2)},"b":{bounds % (2, 2)}}}'.encode()
    assert master.rest.required("0a") == {2}
    master.body = f'{{"a":{bounds % (1, 2)},"b":{bounds % (3, 3)}}}'.encode()
    assert master.rest.required("0a") == {1, 2, 3}


@pytest.mark.parametrize("body", [b"[]", b'{"a":{}}', b'{"a":[]}', b'{"a":{"parallelism":{"upperBound":"many"}}}'])
def test_an_answer_without_bounds_requires_nothing(master: Scripted, body: bytes) -> None:
    master.body = body
    with pytest.raises(OSError, match="names no bounds"):
        master.rest.required("0a")


@pytest.mark.parametrize(("code", "body", "length"), [(200, b'{"state', 100), (200, b'{"state', -1), (500, b"x", 100)])
def test_an_answer_that_is_cut_off_is_an_outage(master: Scripted, code: int, body: bytes, length: int) -> None:
    master.code, master.body, master.length = code, body, length
    with pytest.raises(OSError, match="is not whole") as raised:
        master.submit()
    assert not isinstance(raised.value, Refused)
    assert master.rest.status("job") == ""


class ScriptedRest:
    """Takes a job, or raises; and the job has one status after the other, the last one for good."""

    def __init__(self, statuses: list[str], error: OSError | None = None) -> None:
        self.statuses, self.error, self.cancelled = statuses, error, False

    def submit(self, *words: object) -> str:
        if self.error is not None:
            raise self.error
        return "job"

    def status(self, job: str) -> str:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def cause(self, job: str) -> str:
        return "the backend is unknown"

    def cancel(self, job: str) -> None:
        self.cancelled = True


@pytest.fixture
def ended_job(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Filled when the cluster is ended."""
    ended_job: list[bool] = []
    monkeypatch.setattr(refusals, "end_warm_cluster", lambda: ended_job.append(True))
    monkeypatch.setattr(refusals, "_END_LIMIT_S", 0.05)
    monkeypatch.setattr(refusals, "_answers", {})
    return ended_job


def answer(rest: ScriptedRest) -> str:
    return refusals.refusal(PLAN, "2", lambda: cast("Cluster", SimpleNamespace(rest=rest, jar="jar")))


@pytest.mark.parametrize(
    ("rest", "sentence"),
    [
        (ScriptedRest([""], Refused("the mode is unknown")), "the mode is unknown"),
        (ScriptedRest(["CREATED", "FAILED"]), "Flink ends the job before it runs: the backend is unknown"),
        (ScriptedRest(["RUNNING", "CANCELED"]), ""),
        (ScriptedRest(["FINISHED"]), ""),
    ],
)
def test_a_job_is_refused_or_runs(rest: ScriptedRest, sentence: str, ended_job: list[bool]) -> None:
    assert answer(rest) == sentence
    assert not ended_job


@pytest.mark.parametrize(
    "rest", [ScriptedRest([""], OSError("connection refused")), ScriptedRest([""]), ScriptedRest(["INITIALIZING"])]
)
def test_a_job_without_an_answer_is_neither_and_ends_the_cluster(rest: ScriptedRest, ended_job: list[bool]) -> None:
    with pytest.raises(OSError, match=r"connection refused|neither runs nor refuses a job within"):
        answer(rest)
    assert ended_job
    assert not refusals._answers


def test_a_job_that_ends_before_it_is_cancelled_was_not_refused(ended_job: list[bool]) -> None:
    rest = ScriptedRest(["RUNNING", "FINISHED"])

    def late(job: str) -> None:
        raise Refused("it is over")

    rest.cancel = late  # type: ignore[method-assign]
    assert answer(rest) == ""
    assert not ended_job


def test_a_job_that_does_not_end_takes_its_cluster_along(ended_job: list[bool]) -> None:
    rest = ScriptedRest(["RUNNING"])
    assert answer(rest) == ""
    assert rest.cancelled
    assert ended_job
