"""What the harness is given may be broken: one sentence, the right exit code, no orphan."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.plan_file import write_plan
from holdfast.harness.model.jobs import REDUCED
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.abuse.conftest import Invoke

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
