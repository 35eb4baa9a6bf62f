"""A cluster of Flink: what keeps it from being ready, which answers are refusals, and archived classes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.fixtures.services.processes.installation import missing_java
from holdfast.fixtures.systems.flink import cluster
from holdfast.fixtures.systems.flink import place as flink_place
from holdfast.fixtures.systems.flink import refusal as refusals
from holdfast.fixtures.systems.flink.cluster import MASTER, Cluster, FlinkProcess
from holdfast.fixtures.systems.flink.place import ClassArchive, Folder, Place, ThisMachine
from holdfast.fixtures.systems.flink.rest import Refused, Rest
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec
from holdfast.suites.selfcheck.started import Started

SCRIPT = """
import json, sys, time
path, *errors = sys.argv[1:]
with open(path.removeprefix("-Dlog.file="), "w") as log:
    log.write(json.dumps({"t": 1, "c": "o.Runner", "m": "Starting."}) + "\\n")
    for error in errors:
        log.write(json.dumps({"t": 2, "c": "o.Runner", "m": "Could not start.", "e": error}) + "\\n")
print("It ends.", file=sys.stderr)
time.sleep(0 if errors else 60)
"""
TAKEN = "o.RuntimeException: no start\n\tat o.Main\nCaused by: o.BindException: Address in use\n\tat o.Channel"


class Here(ThisMachine):
    """Where a program of ours is the Java machine."""

    archives = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def java(self) -> Sequence[str]:
        return [sys.executable, "-c", SCRIPT]

    def folder(self) -> Folder:
        return Folder(self._folder, lambda: None)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Here(tmp_path)


@pytest.fixture
def begun(place: Place) -> Iterator[dict[str, FlinkProcess]]:
    """A JobManager that lives, and a TaskManager that ends whenever it is started."""
    processes = {
        name: FlinkProcess(name, place, errors, place.folder().path)
        for name, errors in ((MASTER, []), ("taskmanager-0", [TAKEN]))
    }
    yield processes
    for process in processes.values():
        process.life.close()


def cluster_of(processes: Mapping[str, FlinkProcess]) -> Cluster:
    """One at whose JobManager nobody registers."""
    made = object.__new__(Cluster)
    vars(made).update(processes=processes, rest=SimpleNamespace(workers=lambda: 0))
    return made


def ended(process: FlinkProcess) -> FlinkProcess:
    while not process.life.dead:
        process.life.lines()
    return process


def test_the_last_error_of_a_log_is_why_it_ended(begun: Mapping[str, FlinkProcess]) -> None:
    assert ended(begun["taskmanager-0"]).last_words() == "o.BindException: Address in use"


def test_a_life_that_has_none_yet_has_that_of_the_one_before(place: Place, tmp_path: Path) -> None:
    errors = [TAKEN]
    process = FlinkProcess("taskmanager-0", place, errors, tmp_path)
    ended(process)
    errors.clear()
    process.start()
    assert process.last_error() == "o.BindException: Address in use"
    process.life.close()


def test_an_error_of_an_earlier_job_is_not_why_it_ended(place: Place, tmp_path: Path) -> None:
    process = FlinkProcess("taskmanager-0", place, [TAKEN], tmp_path)
    with (tmp_path / "taskmanager-0.0.log").open("a") as log:
        ended(process)
        log.write('{"t": 60000, "c": "o.Runner", "m": "Going on."}\n')
    assert process.last_words() == "It ends."
    process.life.close()


def test_who_logs_no_error_has_the_end_of_its_output(place: Place, tmp_path: Path) -> None:
    process = FlinkProcess("taskmanager-0", place, [""], tmp_path)
    assert ended(process).last_words() == "It ends."
    process.life.close()


def test_the_message_names_who_was_started_again_and_why(
    begun: Mapping[str, FlinkProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    def monotonic() -> float:
        return 0.0 if begun["taskmanager-0"].lives < 3 else cluster.START_LIMIT_S + 1

    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=monotonic, sleep=lambda _: None))
    with pytest.raises(
        OSError,
        match=r"within 180 s: 0 of 1 TaskManagers are registered, and taskmanager-0 ended 2 times, its last error is: "
        r"o\.BindException: Address in use\.",
    ):
        cluster_of(begun).await_workers(1)


def test_a_job_manager_that_ends_whenever_it_is_started_is_not_waited_for(place: Place, tmp_path: Path) -> None:
    master = FlinkProcess(MASTER, place, [TAKEN], tmp_path)
    with pytest.raises(OSError, match=r"JobManager ends whenever it is started: o\.BindException: Address in use"):
        cluster_of({MASTER: master}).await_workers(1)
    master.life.close()


def test_a_cluster_whose_processes_all_live_accuses_none(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    master = FlinkProcess(MASTER, place, [], tmp_path)
    monkeypatch.setattr(cluster, "START_LIMIT_S", 0.0)
    with pytest.raises(OSError, match=r"0 of 1 TaskManagers are registered, and none of its processes ended\."):
        cluster_of({MASTER: master}).await_workers(1)
    master.life.close()


def test_a_zookeeper_that_ends_is_not_waited_for(place: Place, tmp_path: Path) -> None:
    process = ended(FlinkProcess(cluster.ZOOKEEPER, place, [TAKEN], tmp_path))
    with pytest.raises(OSError, match=r"ZooKeeper ends when it is started: o\.BindException: Address in use"):
        cluster._await_zookeeper(1, process)
    process.life.close()


AT_EXIT = """
from pathlib import Path
from holdfast.fixtures.systems.flink import cluster
from holdfast.fixtures.systems.flink.place import THIS_MACHINE

class Cluster:
    def __init__(self, *given, place, **more):
        self.folder, self.remove = place.folder()

    def await_workers(self, wanted):
        pass

    def close(self):
        print(self.folder.exists())
        self.remove()
        print(self.folder.exists())

cluster.Cluster = Cluster
cluster.warm_cluster(Path("jars"), 1, 0, {})
"""


def test_a_cluster_that_is_kept_ends_before_its_folder_is_removed() -> None:
    said = subprocess.run([sys.executable, "-c", AT_EXIT], check=True, capture_output=True, text=True)
    assert said.stdout.split() == ["True", "False"]


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


@pytest.fixture
def class_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if reason := missing_java():
        pytest.skip(reason)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.usefixtures("class_cache")
def test_each_role_and_each_version_has_its_own() -> None:
    paths = {
        ClassArchive(Path(jars), Path("/job.jar"), role).path
        for jars in ("/flink-1", "/flink-2")
        for role in ("a", "b")
    }
    assert len(paths) == 4


@pytest.mark.usefixtures("class_cache")
def test_it_is_used_once_it_is_there() -> None:
    archive = ClassArchive(Path("/flink-1"), Path("/job.jar"), "taskmanager")
    assert "-XX:+RecordDynamicDumpInfo" in archive.options
    archive.path.parent.mkdir(parents=True, exist_ok=True)
    archive.path.touch()
    assert f"-XX:SharedArchiveFile={archive.path}" in archive.options


@pytest.mark.usefixtures("class_cache")
@pytest.mark.nightly
def test_of_a_process_that_is_no_java_none_is_made_and_nothing_is_left() -> None:
    archive = ClassArchive(Path("/flink-1"), Path("/job.jar"), "taskmanager")
    with Started("sleep", "60") as other:
        archive.make(other.pid)
    assert not archive.path.exists()
    assert list(archive.path.parent.glob("flink-*")) == []


@pytest.mark.usefixtures("class_cache")
def test_one_that_was_cut_off_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = ClassArchive(Path("/flink-1"), Path("/job.jar"), "taskmanager")
    archive.path.parent.mkdir(parents=True, exist_ok=True)
    jcmd = tmp_path / "jcmd"
    jcmd.write_text('#!/bin/sh\necho half > "$4"\nexit 1\n')
    jcmd.chmod(0o755)
    monkeypatch.setattr(flink_place, "tool_of_java", lambda name: str(jcmd))
    archive.make(1)
    assert not archive.path.exists()
    assert list(archive.path.parent.glob("flink-*")) == []
