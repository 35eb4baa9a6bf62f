"""What the harness is given may be broken: one sentence, no orphan; and it sees of our environment what it needs."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes import spawner
from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.json_files import write_plan
from holdfast.harness.engine.certification import apart_process
from holdfast.harness.model.jobs import REDUCED
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.spi.errors import UnusableSystem
from holdfast.harness.spi.surroundings import python_path
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.abuse.conftest import Invoke
from holdfast.suites.selfcheck.abuse.invocation import LABEL, Invocation
from holdfast.suites.selfcheck.abuse.test_leaving import one_sentence

BROKEN = "holdfast.suites.selfcheck.abuse.broken"


def test_a_worker_that_dies_before_it_registers(invoke: Invoke, tmp_path: Path, any_plan: Path) -> None:
    out = tmp_path / "out"
    running = invoke("run", any_plan, "--system", f"{BROKEN}:WorkersDie", "--tier", "process", "--out", out)
    assert running.exit_code() == 2
    assert running.left() == []
    [sentence] = [line for line in running.said().splitlines() if line.startswith("INCONCLUSIVE: ")]
    assert "worker-" in sentence
    assert "ended before it registered: exit code 1 (ModuleNotFoundError: No module named 'holdfast.nowhere')" in (
        sentence
    )


def test_a_port_in_use(invoke: Invoke, tmp_path: Path, any_plan: Path) -> None:
    """Nobody has to name one: the coordinator takes a free port. If an adapter names one, it is heard what is wrong."""
    out = tmp_path / "out"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        running = invoke("run", any_plan, "--system", f"{BROKEN}:OnPort+{port}", "--tier", "process", "--out", out)
        assert running.exit_code() == 2
    assert running.left() == []
    assert f"Port {port} of 127.0.0.1 cannot be listened on (Address already in use): is it in use?" in running.said()


@pytest.mark.parametrize(
    ("system", "lines", "complaint"),
    [
        ("json-lines", "exec cat", 'sent \'{"type":"init"'),
        ("json-lines", "exec yes", "sent 'y', which is no message of the protocol"),
        (
            f"{BROKEN}:impatient",
            "exec sleep 1000",
            "sent nothing for 300 ms; due is a message that it is ready; it is taken",
        ),
        ("json-lines", "setsid sleep 1000 &\nread line\necho nonsense\nsleep 1000", "sent 'nonsense'"),
        (
            "json-lines",
            "echo out of luck >&2; exit 7",
            "ended before it sent ready, in life 1 (exit code 7: out of luck); it is taken",
        ),
    ],
)
@pytest.mark.share(5)
def test_a_program_that_is_of_no_use(
    invoke: Invoke, tmp_path: Path, program_plan: Path, system: str, lines: str, complaint: str
) -> None:
    program, out = tmp_path / "program.sh", tmp_path / "out"
    program.write_text(f"#!/bin/sh\n{lines}\n")
    program.chmod(0o755)
    running = invoke("run", program_plan, "--system", f"{system}+{program}", "--out", out)
    assert running.exit_code() == 2
    assert running.left() == []
    _, sentence, where = running.said().splitlines()
    assert sentence.startswith(f"INCONCLUSIVE: program {program} {complaint}")
    assert where.startswith("stored in ")


@pytest.mark.nightly
def test_an_output_folder_that_cannot_be_made(invoke: Invoke, tmp_path: Path, any_plan: Path) -> None:
    for command in (["certify", "reference"], ["run", any_plan]):
        refused = invoke(*command, "--out", any_plan / "below")
        assert refused.exit_code() == 3
        assert refused.said().count("\n") == 1
        assert "no folder can be made in it" in refused.said()


@pytest.mark.parametrize("tier", ["sim", "process"])
def test_a_value_that_is_refused_where_an_input_ends(
    tier: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An adapter may look at its options before it was asked whether it takes them."""
    wrong = plan(job=REDUCED, options={"execution.checkpointing.interval": "soon"}, expected_end=ExpectedEnd.FINISHED)
    write_plan(tmp_path / "plan.json", wrong)
    assert execute(["run", str(tmp_path / "plan.json"), "--tier", tier, "--out", str(tmp_path / "out")]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "execution.checkpointing.interval" in said.err


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


@pytest.fixture
def divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder whose name PYTHONPATH would take for two, and in which a module stands."""
    folder = tmp_path / "night of 12:30"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    return folder


@pytest.mark.parametrize("arguments", [["reference", "--tier", "sim"], ["--state-backend", "hashmap"]])
def test_a_folder_that_would_be_two_is_refused_before_anything_begins(
    arguments: list[str], divided: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["certify", *arguments, "--rule", "SBK-07", "--out", str(tmp_path / "out")]) == 3
    sentence = one_sentence(capsys)
    assert f"{str(divided)!r} is a folder of Python modules" in sentence
    assert "rename it, or start holdfast in another folder" in sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("divided")
def test_no_process_is_handed_a_folder_that_would_be_two() -> None:
    with pytest.raises(UnusableSystem, match="rename it"):
        apart_process.begin("", (), os.environ)
    with pytest.raises(UnusableSystem, match="rename it"):
        spawner._Root(())


def test_a_process_finds_modules_where_this_one_does(tmp_path: Path) -> None:
    assert python_path(["", "/one", str(tmp_path)]) == f"/one:{tmp_path}"
