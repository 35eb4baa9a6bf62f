"""The system under test sees what it needs of our environment, and none of the keys in it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from holdfast.harness.cli import execute
from holdfast.suites.selfcheck.abuse.conftest import Invoke
from holdfast.suites.selfcheck.abuse.invocation import LABEL, Invocation
from holdfast.suites.selfcheck.abuse.test_leaving import one_sentence

SECRET = "neither-shown-nor-passed-on"
SECRETS = {"HOLDFAST_S3_ACCESS_KEY": SECRET, "HOLDFAST_S3_SECRET_KEY": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET,
           "GITHUB_TOKEN": SECRET, "http_proxy": f"http://user:{SECRET}@proxy"}  # fmt: skip


def seen_below(running: Invocation) -> list[bytes]:
    """The environment of every process that a command has started."""
    return [
        Path(f"/proc/{process.pid}/environ").read_bytes() for process in running.living() if process.pid != running.pid
    ]


def ended(running: Invocation) -> None:
    running.send(signal.SIGINT)
    running.exit_code()
    assert running.left() == []


def test_no_process_of_the_reference_sees_a_key(invoke: Invoke, tmp_path: Path, paused_worker: Path) -> None:
    running = invoke("run", paused_worker, "--tier", "process", "--out", tmp_path / "out", environment=SECRETS)
    running.wait_until_one_is_paused()
    seen = seen_below(running)
    assert len(seen) > 4
    assert not any(SECRET.encode() in environment for environment in seen)
    assert all(b"PATH=" in environment for environment in seen)
    ended(running)


@pytest.mark.parametrize("named", [(), ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY")])
@pytest.mark.share(2)
def test_a_program_sees_what_was_named(
    named: tuple[str, ...], invoke: Invoke, tmp_path: Path, program_plan: Path
) -> None:
    program, seen = tmp_path / "program.sh", tmp_path / "seen"
    program.write_text(f"#!/bin/sh\nenv > {seen}.part; mv {seen}.part {seen}; exec sleep 60\n")
    program.chmod(0o755)
    what = ["run", program_plan, "--system", f"json-lines+{program}", "--out", tmp_path / "out"]
    options = [word for name in named for word in ("--env", name)]
    running = invoke(*what, *options, environment=SECRETS)
    running.wait_until(seen.exists)
    variables = dict(line.partition("=")[::2] for line in seen.read_text().splitlines())
    assert {name for name, value in variables.items() if SECRET in value} == set(named)
    assert {"PATH", "HOLDFAST_RUN", LABEL} <= set(variables)
    ended(running)


@pytest.mark.parametrize(
    ("name", "sentence"), [("NOT_SET_ANYWHERE", "no such variable is set"), ("KEY=value", "its value is not typed")]
)
def test_a_variable_that_is_none(name: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["certify", "reference", "--env", name, "--out", str(tmp_path / "out")]) == 3
    assert sentence in one_sentence(capsys)
