"""`holdfast job` with real processes: the command lines of seeds/004 behind the program name, and what goes wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.job_cluster.client import ClusterClient
from holdfast.harness.engine.job_cluster.jobs import DONE, PENDING, required
from holdfast.harness.model.events import RescaleAccepted, RescaleRefused

PATIENCE_S = 120
"""For a command, on a machine that is busy with others."""


class Shell:
    """Where somebody types."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def holdfast(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command of `holdfast job`."""
        return subprocess.run(
            [sys.executable, "-m", "holdfast.harness.cli", "job", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def prints(self, *words: str) -> str:
        """What a command prints that must work."""
        done = self.holdfast(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refuses(self, *words: str) -> str:
        """What a command says that must not work."""
        done = self.holdfast(*words)
        assert done.returncode == 3, done.stdout
        return done.stderr

    def answer(self, method: str, path: str, body: dict[str, Any] | None = None) -> str:
        """What the endpoint says to a request that it refuses."""
        with pytest.raises(UsageError) as refused:
            ClusterClient(self.folder / "holdfast-jobs").ask(method, path, body)
        return str(refused.value)

    def asks(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """What the endpoint answers to a request that it takes."""
        return ClusterClient(self.folder / "holdfast-jobs").ask(method, path, body)

    def states(self) -> list[tuple[str, str]]:
        """(job, state) as the endpoint tells them."""
        cluster = self.folder / "holdfast-jobs"
        address = json.loads((cluster / "endpoint.json").read_text())["address"]
        token = (cluster / "token").read_text().strip()
        asked = Request(f"{address}/jobs", headers={"Authorization": f"Bearer {token}"})
        with urlopen(asked, timeout=PATIENCE_S) as answer:
            return [(job["jid"], job["state"]) for job in json.loads(answer.read())["jobs"]]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path)
    yield made
    made.holdfast("end-cluster")


def test_the_command_lines_of_the_seed(shell: Shell) -> None:
    shell.prints("run", "-d")
    (job, state), *_ = shell.states()
    assert state == "RUNNING"

    printed = shell.prints("savepoint", job, "target")
    assert Path(printed.removeprefix("Savepoint completed. Path: ").strip()).parent == shell.folder / "target"

    printed = shell.prints("stop", "--savepointPath", "target", job)
    savepoint = Path(printed.removeprefix("Savepoint completed. Path: ").strip())
    assert {"_metadata"} < {file.name for file in savepoint.iterdir()}
    assert shell.states() == [(job, "FINISHED")]

    elsewhere = shell.folder / "elsewhere"
    shutil.move(savepoint, elsewhere)
    shell.prints("run", "-s", str(elsewhere), "-n", "-d")
    (_, _), (resumed, state) = shell.states()
    assert state == "RUNNING"

    assert "does not cancel with a savepoint: stop it with one" in shell.refuses("cancel", "-s", "target", resumed)
    assert "Could not find a job with ID 0" in shell.refuses("savepoint", "0")
    assert (
        shell.answer("POST", f"/jobs/{job}/stop") == f"job {job} is FINISHED: only a running job has savepoints taken."
    )
    assert shell.answer("POST", "/jobs") == f"job {resumed} is RUNNING: stop or cancel it first."
    odd = shell.answer("POST", f"/jobs/{resumed}/savepoints", {"formatType": "odd"})
    assert odd == "formatType is 'odd'; allowed are canonical, native: use one."
    outside = shell.answer("POST", f"/jobs/{resumed}/savepoints", {"target-directory": "/nowhere"})
    assert outside.startswith(f"target-directory is '/nowhere', which lies outside of {shell.folder}, the root")
    assert shell.answer("POST", f"/jobs/{resumed}/stop", {"targetDirectory": "/a\0b"}).startswith(
        f"targetDirectory is '/a\\x00b'; allowed is a whole path below {shell.folder}"
    )
    cluster = shell.folder / "holdfast-jobs"
    assert (cluster / "token").stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match=r"^Authorization is not the token of this cluster"):
        ClusterClient(cluster, "0" * 64).ask("DELETE", "/cluster")
    [_, (still, state)] = shell.states()
    assert (still, state) == (resumed, "RUNNING")
    assert "no request that a cluster takes" in shell.answer("PATCH", "/jars")


@pytest.mark.nightly
def test_a_job_is_cancelled_and_a_path_that_leads_nowhere_is_named(shell: Shell) -> None:
    shell.prints("run", "-d")
    (job, _), *_ = shell.states()
    shell.prints("cancel", job)
    assert "nowhere/_metadata cannot be read" in shell.refuses("run", "-s", "nowhere", "-d")
    assert [state for _, state in shell.states()] == ["CANCELED", "FAILED"]


@pytest.mark.nightly
def test_in_1_14_a_job_is_cancelled_with_a_savepoint_and_goes_on_from_it(shell: Shell) -> None:
    shell.prints("run", "-d", "-D", "holdfast.profile=flink-1.14")
    (job, _), *_ = shell.states()
    assert "which knows no resource requirements" in shell.answer(
        "PUT", f"/jobs/{job}/resource-requirements", bounds(1)
    )
    printed = shell.prints("cancel", "-s", "target", job)
    savepoint = printed.partition("Savepoint stored in ")[2].strip().rstrip(".")
    assert Path(savepoint).parent == shell.folder / "target"
    assert shell.states() == [(job, "CANCELED")]
    shell.prints("run", "-s", savepoint, "-d")
    assert [state for _, state in shell.states()] == ["CANCELED", "RUNNING"]


def test_without_a_cluster_there_is_nobody_to_ask(shell: Shell) -> None:
    assert "no cluster runs there" in shell.refuses("list")


def bounds(upper: int, lower: int = 1, *vertices: str) -> dict[str, Any]:
    """The body of a request for resource requirements."""
    return {
        vertex: {"parallelism": {"lowerBound": lower, "upperBound": upper}}
        for vertex in vertices or ("source", "sum", "sink")
    }


@pytest.mark.nightly
def test_a_running_job_goes_on_at_another_parallelism(shell: Shell) -> None:
    shell.prints("run", "-d", "-p", "2")
    (job, _), *_ = shell.states()
    path = f"/jobs/{job}/resource-requirements"
    assert shell.asks("GET", path) == bounds(2)

    assert shell.asks("PUT", path, bounds(1)) == {}
    assert shell.asks("GET", path) == bounds(1)
    ClusterClient(shell.folder / "holdfast-jobs").wait_for_state(job, "RUNNING")
    assert {vertex["parallelism"] for vertex in shell.asks("GET", f"/jobs/{job}")["vertices"]} == {1}

    assert shell.asks("PUT", path, bounds(9)) == {}, "as many as there are slots"
    ClusterClient(shell.folder / "holdfast-jobs").wait_for_state(job, "RUNNING")
    assert {vertex["parallelism"] for vertex in shell.asks("GET", f"/jobs/{job}")["vertices"]} == {2}
    assert "3 subtasks at least are too many: the cluster has 2 slots" in shell.answer("PUT", path, bounds(3, 3))
    shell.prints("cancel", job)
    assert "only a running job is rescaled" in shell.answer("PUT", path, bounds(1))


VERTICES = ("source", "sink")


def body(**bounds: tuple[Any, Any]) -> dict[str, Any]:
    return {
        vertex: {"parallelism": {"lowerBound": lower, "upperBound": upper}} for vertex, (lower, upper) in bounds.items()
    }


def test_all_vertices_with_the_same_bounds_are_taken() -> None:
    wanted = required(body(source=(1, 4), sink=(1, 4)), VERTICES)
    assert (wanted.lower, wanted.upper, wanted.state) == (1, 4, PENDING)


def test_the_lower_bound_is_one_where_nobody_gives_it() -> None:
    upper = {"parallelism": {"upperBound": 3}}
    assert required({"source": upper, "sink": upper}, VERTICES).lower == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (body(source=(1, 4)), "vertex 'sink' is missing: name each of source, sink."),
        (body(source=(1, 4), sink=(1, 4), map=(1, 4)), "the job has no vertex 'map': name each of source, sink."),
        (body(source=(1, 4), sink=(1, 2)), "vertex 'sink' is to have 1 to 2 subtasks, and 'source' 1 to 4 subtasks"),
        (body(source=(3, 2), sink=(3, 2)), "with 1 <= lowerBound <= upperBound"),
        (body(source=(0, 2), sink=(0, 2)), "with 1 <= lowerBound <= upperBound"),
        (body(source=(1, "2"), sink=(1, "2")), "the bounds of vertex 'source' are"),
        ({"source": 4, "sink": 4}, "the bounds of vertex 'source' are 4; write"),
    ],
)
def test_what_is_none_is_refused_in_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as refused:
        required(given, VERTICES)
    assert said in str(refused.value)


def test_the_job_answers() -> None:
    accepted, refused = (required(body(source=(1, 4), sink=(1, 4)), VERTICES) for _ in range(2))
    accepted.observe(RescaleAccepted(parallelism=4))
    refused.observe(RescaleRefused(parallelism=4, reason="there is a reason."))
    assert (accepted.state, accepted.refusal) == (DONE, "")
    assert (refused.state, refused.refusal) == (DONE, "there is a reason.")
    accepted.observe(RescaleRefused(parallelism=4, reason="of another request."))
    assert not accepted.refusal
