"""Jobs that users submit: who may ask the endpoint of a cluster, what it refuses, and which graph each job has."""

from __future__ import annotations

import json
import socket  # noqa: TID251 - sends what no client of HTTP does
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from holdfast.faults.user import command
from holdfast.fixtures.reference.drivers.processes.supervisor import Supervisor
from holdfast.harness import cli
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.job_cluster import endpoint as endpoints
from holdfast.harness.engine.job_cluster.client import ClusterClient
from holdfast.harness.engine.job_cluster.cluster import Cluster
from holdfast.harness.engine.job_cluster.endpoint import Endpoint
from holdfast.harness.engine.job_cluster.folder import VARIABLE, given_token, read_token, write_token
from holdfast.harness.engine.job_cluster.jobs import required
from holdfast.harness.engine.job_cluster.request_checks import LARGEST_BODY_BYTES
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import JobSubmitted, TaskStarted
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.submitted_jobs import ADDED, kept_for_the_latest_plan
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.spi.errors import UnusableSystem
from holdfast.harness.spi.surroundings import class_path
from holdfast.suites.conformance.plans import CHECKPOINTING, plan
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.replaced_runs import counting_run

TOKEN = "0123456789abcdef"
LIMIT_S = 30.0
VERTICES = ["source", "sum", "sink"]


class Asked:
    """Stands for a cluster: notes what it is asked to do, and does nothing."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def ask(self, request: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return request()

    def overview(self) -> dict[str, Any]:
        self.done.append(("overview",))
        return {"jobs": []}

    def run(self, asked: dict[str, int | str]) -> dict[str, Any]:
        self.done.append(("run", asked))
        return {"jobid": "b"}

    def savepoint(self, job: str, target: str, words: dict[str, int | str], command: str) -> dict[str, Any]:
        self.done.append((command, job, target, words))
        return {"request-id": "t"}

    def require(self, job: str, body: dict[str, Any]) -> dict[str, Any]:
        self.done.append(("require", required(body, VERTICES)))
        return {}

    def answered(self, job: str) -> dict[str, Any]:
        return {"answered": True}

    def requirements(self, job: str) -> dict[str, Any]:
        return {}

    def end(self) -> dict[str, Any]:
        self.done.append(("end",))
        return {}


class Stand:
    """An endpoint, and who sends to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cluster = Asked()
        self.endpoint = Endpoint(cast(Cluster, self.cluster), TOKEN, root)
        self.port = int(self.endpoint.address.rpartition(":")[2])

    def send(self, raw: bytes) -> tuple[int, str]:
        """Status of the answer, and its error; 0: it was closed without one."""
        with socket.create_connection(("127.0.0.1", self.port), LIMIT_S) as stream:
            stream.sendall(raw)
            answer = b""
            with suppress(OSError):  # It is closed by now, with more on its way than is read.
                stream.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError):
                while chunk := stream.recv(1 << 16):
                    answer += chunk
        if not answer:
            return 0, ""
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.0 "), answer
        content = json.loads(body)
        return int(head.split()[1]), content["errors"][0] if "errors" in content else ""

    def ask(
        self,
        body: object = b"",
        *,
        method: str = "POST",
        path: str = "/jobs",
        without: str = "",
        **headers: str,
    ) -> tuple[int, str]:
        """A request as it should be, but for what is given."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        all_headers = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Content-Length": str(len(content)),
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        all_headers.pop(without, None)
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in all_headers.items()), "", ""]
        return self.send("\r\n".join(lines).encode() + content)


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    made = Stand(tmp_path)
    with closing(made.endpoint):
        yield made


def test_a_request_as_it_should_be_is_taken(stand: Stand) -> None:
    inside = str(stand.root / "new" / "place")
    assert stand.ask({"parallelism": 3, "savepointPath": inside, "claimMode": "claim"}) == (202, "")
    assert stand.ask({"target-directory": f"file://{inside}"}, path="/jobs/a/savepoints") == (202, "")
    assert stand.ask({"targetDirectory": None, "drain": True, "formatType": "NATIVE"}, path="/jobs/a/stop") == (202, "")
    assert stand.ask(method="GET", Host=f"localhost:{stand.port}") == (200, "")
    assert stand.cluster.done == [
        ("run", {"path": inside, "claim_mode": "CLAIM", "parallelism": 3}),
        ("savepoint", "a", inside, {"format": "canonical"}),
        ("stop", "a", "", {"format": "native", "drain": 1}),
        ("overview",),
    ]


@pytest.mark.parametrize(
    ("headers", "status", "words"),
    [
        ({"without": "Authorization"}, 401, "Authorization is not the token of this cluster"),
        ({"Authorization": "Bearer 0123456789abcdeF"}, 401, "Authorization is not the token"),
        ({"Authorization": "Basic 0123456789abcdef"}, 401, "Authorization is not the token"),
        ({"Authorization": "Bearer \u00e9"}, 401, "Authorization is not the token"),
        ({"without": "Host"}, 403, "Host is ''; allowed is 127.0.0.1:"),
        ({"Host": "evil.example"}, 403, "Host is 'evil.example'; allowed is 127.0.0.1:"),
        ({"Origin": "http://evil.example"}, 403, "Origin is 'http://evil.example'; no page from elsewhere may ask"),
        ({"Origin": "null"}, 403, "Origin is 'null'"),
        ({"Content_Type": "text/plain"}, 415, "Content-Type is 'text/plain'; allowed is application/json"),
        ({"without": "Content-Type"}, 415, "Content-Type is ''"),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415, "Content-Type is"),
        ({"Content_Length": "-1"}, 400, "Content-Length is '-1'; allowed is 0 to 1048576 bytes"),
        ({"Content_Length": "1e3"}, 400, "Content-Length is '1e3'"),
        ({"Content_Length": "\u0663"}, 400, "Content-Length is"),
        ({"Content_Length": "9" * 5_000}, 400, "Content-Length is '99"),
        ({"Content_Length": str(LARGEST_BODY_BYTES + 1)}, 413, "Content-Length is '1048577'"),
        ({"Content_Length": "100"}, 400, "the body has 2 of 100 bytes of Content-Length"),
        ({"Transfer_Encoding": "chunked"}, 411, "Transfer-Encoding is not taken"),
    ],
)
def test_who_may_not_ask_is_told_why_and_nothing_is_done(
    stand: Stand, headers: dict[str, str], status: int, words: str
) -> None:
    answer = stand.ask({}, **headers)
    assert answer[0] == status
    assert answer[1].startswith(words)
    assert stand.ask({}, method="DELETE", path="/cluster", **headers) == answer
    assert stand.cluster.done == []


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/jobs", {"parallelism": -3}, "request: parallelism is -3: expected `int` >= 0."),
        ("/jobs", {"parallelism": 1 << 20}, "request: parallelism is 1048576: expected `int` <= 32768."),
        ("/jobs", {"parallelism": "2"}, 'request: parallelism is "2": expected `int | null`, got `str`.'),
        ("/jobs", {"claimMode": "MINE"}, "claimMode is 'MINE'; allowed are CLAIM, NO_CLAIM, LEGACY: use one."),
        ("/jobs", {"savepointPath": "/a\0b"}, "savepointPath is '/a\\x00b'; allowed is a whole path below"),
        ("/jobs", {"savepointPath": "relative"}, "savepointPath is 'relative'; allowed is a whole path below"),
        ("/jobs", {"savepointPath": "http://a/b"}, "savepointPath is 'http://a/b'; allowed is a whole path below"),
        ("/jobs", {"savepointPath": "/etc/passwd"}, "savepointPath is '/etc/passwd', which lies outside of"),
        ("/jobs", {"savepointPath": "/" + "a" * 5_000}, "savepointPath is '/aaaa"),
        ("/jobs", {"entryClass": "x"}, "request: unknown field 'entryClass' at the top level; allowed are"),
        ("/jobs", [], "request: the top level is []: expected `object`, got `array`."),
        ("/jobs", b"{", "request: not whole JSON"),
        ("/jobs", b"[" * 100_000, "request: the top level: expected `object`, got `array`, and behind it is no whole"),
        ("/jobs", b'{"parallelism":' * 50_000, "request: parallelism: expected `int | null`, got `object`, and"),
        ("/jobs", b"\xff", "request: not whole JSON"),
        ("/jobs/a/stop", {"drain": "yes"}, 'request: drain is "yes": expected `bool | null`, got `str`.'),
        ("/jobs/a/stop", {"formatType": "odd"}, "formatType is 'odd'; allowed are canonical, native: use one."),
        ("/jobs/a/savepoints", {"target-directory": "/x/../etc"}, "target-directory is '/x/../etc', which lies"),
    ],
)
def test_a_value_that_cannot_be_is_named_in_one_sentence(stand: Stand, path: str, body: object, words: str) -> None:
    status, error = stand.ask(body, path=path)
    assert status == 400
    assert error.startswith(words)
    assert stand.cluster.done == []


@pytest.mark.parametrize("bounds", [True, -1, 0, 1 << 70, "2", None, {"upperBound": True}])
def test_bounds_that_cannot_be_are_named_in_one_sentence(stand: Stand, bounds: object) -> None:
    body = {vertex: {"parallelism": bounds} for vertex in VERTICES}
    status, error = stand.ask(body, method="PUT", path="/jobs/a/resource-requirements")
    assert (status, error[:32]) == (400, "the bounds of vertex 'source' ar")


def test_a_link_leads_nowhere_else(stand: Stand) -> None:
    (stand.root / "link").symlink_to("/etc")
    status, error = stand.ask({"savepointPath": str(stand.root / "link" / "passwd")})
    assert (status, "lies outside of" in error) == (400, True)


@pytest.mark.parametrize(
    "raw", [b"\0\0\0", b"GET\r\n\r\n", b"BREW /jobs HTTP/1.1\r\n\r\n", b"GET /jobs HTTP/9.9\r\n\r\n"]
)
def test_what_is_no_request_is_answered_in_one_sentence(stand: Stand, raw: bytes) -> None:
    status, error = stand.send(raw)
    assert status in (400, 501, 505)
    assert error.endswith(": send one that a cluster takes.")


def test_who_says_nothing_keeps_nobody_out(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints._Handler, "timeout", 0.2)
    silent = [socket.create_connection(("127.0.0.1", stand.port), LIMIT_S) for _ in range(200)]
    for each in silent:
        each.settimeout(LIMIT_S)
        assert each.recv(1) == b""
        each.close()
    assert stand.ask(method="GET") == (200, "")


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    write_token(tmp_path, TOKEN)
    assert read_token(tmp_path / "token") == TOKEN
    (tmp_path / "token").chmod(0o640)
    with pytest.raises(UsageError, match=r"token: others can read it; .*: chmod 600 it\.$"):
        read_token(tmp_path / "token")


@pytest.mark.parametrize("content", ["", "short", "with spaces in it, but long", "x" * 257, "\u00e9" * 20])
def test_what_is_no_token_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    (file := tmp_path / "given").touch(0o600)
    file.write_text(content)
    with pytest.raises(UsageError, match="given: holds no token; allowed are 16 to 256"):
        given_token(file)
    monkeypatch.setenv(VARIABLE, content)
    if content:
        with pytest.raises(UsageError, match=r"^HOLDFAST_TOKEN: holds no token"):
            given_token(None)
    monkeypatch.setenv(VARIABLE, TOKEN)
    assert given_token(None) == TOKEN


RUNS = "a cluster runs 'keyed-sum' there, with the options of its start"


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Requests that a cluster with one job takes."""
    monkeypatch.chdir(tmp_path)
    requests: list[tuple[str, str]] = []

    def ask(_: ClusterClient, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        requests.append((method, path))
        if method == "POST":
            return {"jobid": "b"}
        return (
            {"jobs": [{"jid": "a", "name": "keyed-sum", "state": "FINISHED"}]}
            if path == "/jobs"
            else {"state": "RUNNING"}
        )

    monkeypatch.setattr(ClusterClient, "runs", True)
    monkeypatch.setattr(ClusterClient, "ask", ask)
    return requests


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["window-sum"], "program 'window-sum'"),
        (["-D", "a=b"], "-D"),
        (["keyed-sum", "-D", "a=b"], "-D"),
        (["window-sum", "-D", "a=b"], "program 'window-sum' and -D"),
    ],
)
def test_another_job_or_options_are_refused(
    words: list[str], given: str, sent: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["job", "run", "-d", *words]) == cli.WRONG_USAGE
    error = capsys.readouterr().err
    assert error == (f"holdfast: holdfast-jobs: {RUNS}; leave out {given}, or choose another folder with --folder.\n")
    assert ("POST", "/jobs") not in sent


@pytest.mark.parametrize("words", [[], ["keyed-sum"]])
def test_the_job_of_the_cluster_is_submitted_again(
    words: list[str], sent: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["job", "run", "-d", *words]) == 0
    assert ("POST", "/jobs") in sent
    assert capsys.readouterr().out == "Job has been submitted with JobID b\n"


RETAIN = {f"{CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
LEFT = "checkpoint_retained"


@pytest.mark.parametrize("tier", [Tier.SIM, pytest.param(Tier.PROCESS, marks=pytest.mark.tier("process"))])
@pytest.mark.parametrize(("next_edit", "runs_added"), [({}, [2]), ({"edit": "source->sum"}, [2, 3])])
def test_an_edited_program_is_that_of_one_job(
    next_edit: dict[str, int | str], runs_added: list[int], tier: Tier, tmp_path: Path
) -> None:
    thrice = plan(
        command("cancel", after_checkpoint=2),
        command("submit", {"edit": "source->sum"}, after_checkpoint=2, at_event=LEFT),
        command("cancel", after_checkpoint=20),
        command("submit", next_edit, after_checkpoint=20, at_event=LEFT),
        options=RETAIN,
    )
    # What they come to is not judged: oracles know the subtasks of the plan's own program. A run counts if it landed.
    unjudged = replace(registry.toolbox(), oracles=(ScriptedOracle("ALL"),))
    run = counting_run(thrice, registry.system("reference"), tier, tmp_path, tools=unjudged)
    assert all(run.history.end.faults_landed), run.reason
    job_of = Submissions(run.history).of
    started = run.history.of(TaskStarted)
    assert {job_of(event) for event in started} == {1, 2, 3}
    assert sorted({job_of(event) for event in started if event.subtask.startswith(ADDED)}) == runs_added


@pytest.mark.tier("process")
def test_a_job_that_begins_before_all_of_its_processes_is_the_work_of_its_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its coordinator told of it before the harness had recorded the effect: nothing had come of the fault."""
    replace_processes = Supervisor.replace

    def replace_slowly(supervisor: Supervisor, processes: Sequence[str]) -> None:
        replace_processes(supervisor, processes)
        assert supervisor.wait_for(lambda: any(isinstance(e, JobSubmitted) for e in supervisor.happened), LIMIT_S)

    monkeypatch.setattr(Supervisor, "replace", replace_slowly)
    again = plan(
        command("cancel", after_checkpoint=2),
        command("submit", after_checkpoint=2, at_event=LEFT),
        options=RETAIN,
    )
    run = counting_run(again, registry.system("reference"), Tier.PROCESS, tmp_path)
    assert all(run.history.end.faults_landed), run.reason


def test_a_fact_is_worked_out_once_while_the_plan_is_the_same() -> None:
    asked: list[int] = []

    @kept_for_the_latest_plan
    def seed(plan: Plan) -> int:
        asked.append(plan.draw_seed)
        return plan.draw_seed

    one, other = draw_plan(1), draw_plan(2)
    assert [seed(plan) for plan in (one, one, other, other, one)] == [1, 1, 2, 2, 1]
    assert asked == [1, 2, 1]


def test_java_finds_each_entry_or_is_not_started() -> None:
    """A job in such a folder was not found, and classes of another folder were."""
    assert class_path([Path("/a b/job.jar"), "/c/*", ""]) == "/a b/job.jar:/c/*"
    with pytest.raises(UnusableSystem, match=r"'/a:b/job.jar' is to be on the class path of Java, and ':' in its name"):
        class_path([Path("/a:b/job.jar")])
