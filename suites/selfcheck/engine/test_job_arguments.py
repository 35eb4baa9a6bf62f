"""`holdfast job run` where a cluster runs: what it cannot heed is refused, and the rest is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.harness import cli
from holdfast.harness.engine.job_cluster.client import ClusterClient

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
