"""No process outlives its deployment, whatever ends it."""

from __future__ import annotations

import os
import select
import sys
from contextlib import closing
from pathlib import Path

from holdfast.fixtures.systems.json_lines.deployment import JsonLinesDeployment
from holdfast.fixtures.systems.json_lines.system import JsonLines, persists_first
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls.process import ProcessControl
from holdfast.suites.selfcheck.started import Started
from holdfast.suites.selfcheck.systems.driving import LIMIT_MS, deployed, drive, records

WORKER = Target(Role.WORKER, 0)
DEPLOY = """
import sys
from pathlib import Path
from holdfast.fixtures.systems.json_lines.system import persists_first
from holdfast.suites.selfcheck.systems.driving import deployed, records
from holdfast.suites.selfcheck.systems.test_processes import until_alive

deployment = until_alive(deployed(persists_first(), records(), Path(sys.argv[1])))
print("alive", flush=True)
sys.stdin.read()
"""
LEAVES_A_CHILD = """
import json, pathlib, subprocess, sys
init = json.loads(sys.stdin.readline())
child = subprocess.Popen(["sleep", "600"])
pathlib.Path("child").write_text(str(child.pid))
print(json.dumps({"type": "ready", "version": 1, "positions": [0, 0]}), flush=True)
sys.stdin.read()
"""


def until_alive(deployment: JsonLinesDeployment) -> JsonLinesDeployment:
    while not deployment.controls[ProcessControl].alive(WORKER):
        assert deployment.now_ms < LIMIT_MS
        deployment.advance(deployment.now_ms + 20)
    return deployment


def children_of(parent: int) -> list[int]:
    children = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == parent:
                children.append(int(entry.name))
    return children


def ends(descriptor: int) -> bool:
    """Whether the process of a pidfd that was taken while it lived ends within the limit."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        return bool(poll.poll(LIMIT_MS))
    finally:
        os.close(descriptor)


def test_nothing_is_left_when_the_harness_is_killed(tmp_path: Path) -> None:
    with Started.python(DEPLOY, tmp_path) as harness:
        assert harness.read_line() == "alive"
        left = [os.pidfd_open(child) for child in children_of(harness.pid)]
    assert len(left) == 2, "program and reader"
    assert all(map(ends, left))


def test_nothing_is_left_when_the_deployment_is_closed(tmp_path: Path) -> None:
    before = set(children_of(os.getpid()))
    deployment = until_alive(deployed(persists_first(), records(), tmp_path))
    left = [os.pidfd_open(child) for child in set(children_of(os.getpid())) - before]
    deployment.close()
    deployment.close()
    assert len(left) == 2
    assert all(map(ends, left))
    assert set(children_of(os.getpid())) == before, "nobody was left unburied"


def test_a_paused_program_is_ended_too(tmp_path: Path) -> None:
    before = set(children_of(os.getpid()))
    deployment = until_alive(deployed(persists_first(), records(), tmp_path))
    deployment.controls[ProcessControl].pause(WORKER)
    assert not deployment.controls[ProcessControl].alive(WORKER)
    deployment.stop(audit=False)
    deployment.close()
    assert set(children_of(os.getpid())) == before


def test_what_a_program_started_dies_with_it(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LEAVES_A_CHILD)
    with closing(deployed(JsonLines(str(path)), records(), folder(tmp_path))) as deployment:
        until_alive(deployment)
        child = os.pidfd_open(int((tmp_path / "run" / "state" / "child").read_text()))
        deployment.controls[ProcessControl].kill(WORKER)
        assert ends(child)


def test_an_executable_of_any_kind_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "program"
    original = Path(persists_first.__code__.co_filename).parents[1] / "programs" / "persists_first.py"
    path.write_text(f"#!/bin/sh\nexec {sys.executable} {original}\n")
    path.chmod(0o755)
    recording = drive(JsonLines(str(path)), records(count=100), folder(tmp_path))
    assert recording.problem == ""
    assert recording.output.units


def folder(parent: Path) -> Path:
    made = parent / "run"
    made.mkdir()
    return made
