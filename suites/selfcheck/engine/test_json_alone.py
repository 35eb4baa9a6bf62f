"""With --json standard output holds JSON and nothing else, whatever the system under test or a part writes there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from holdfast.harness.cli.application import Alone, app
from holdfast.harness.commands.reserved_output import reserve, restore, result_stream
from holdfast.suites.selfcheck.engine.test_help import COMMANDS

LOUD = """
import os, subprocess, sys, threading

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.systems.reference import ReferenceSystem


def shout(what):
    print("printed", what)
    sys.__stdout__.write(f"by the first stream {what}")
    sys.__stdout__.flush()
    os.write(1, f"from C {what}".encode())
    subprocess.run(["echo", "from a child process", what], check=True)


class Loud(ReferenceSystem):
    def __init__(self, variant=""):
        super().__init__(variant)
        shout("by the system")


class Backend(HashMapBackend):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        shout("by the backend")


shout("by the module")
"""
FLINK = "execution.checkpointing.interval: 1 s\n"


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["certify", "loud:Loud", "--tier", "sim", "--rule", "BAR-09", "--jobs", "1"], "certificate"),
        (["certify", "--state-backend", "loud:Backend", "--rule", "SBK-01"], "certificate"),
        (["config", "check", "flink-conf.yaml", "--system", "loud:Loud"], "settings"),
    ],
    ids=["system", "part", "configuration"],
)
@pytest.mark.share(2)
def test_nothing_but_json_is_printed(arguments: list[str], key: str, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    (tmp_path / "flink-conf.yaml").write_text(FLINK)
    command = [sys.executable, "-m", "holdfast.harness.cli", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=120)
    assert key in json.loads(done.stdout.decode("utf-8"))
    assert done.returncode == 0, done.stderr
    for written in ("printed by the module", "by the first stream", "from C", "from a child process"):
        assert written in done.stderr.decode()


def test_json_is_whole_utf_8_where_the_terminal_has_another_alphabet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-m", "holdfast.harness.cli", "config", "check", "flink-conf.yaml", "--json"]
    (tmp_path / "flink-conf.yaml").write_text("state.checkpoints.dir: file:///prüfstand\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, timeout=60)
    assert "file:///prüfstand" in {each["value"] for each in json.loads(done.stdout.decode("utf-8"))["settings"]}


def test_standard_output_is_as_before_afterwards(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    reserve()
    try:
        os.write(1, b"a part\n")
        sys.stdout.write("a part, too\n")
        result_stream().write("{}\n")
        result_stream().flush()
    finally:
        restore()
    assert sys.stdout is before
    os.write(1, b"someone else\n")
    out, error = capfd.readouterr()
    assert set(out.splitlines()) == {"{}", "someone else"}
    assert error.splitlines() == ["a part", "a part, too"]


def test_each_command_that_prints_json_reserves_standard_output() -> None:
    assert get_command(app)
    found = [each for each in COMMANDS.values() if any("--json" in parameter.opts for parameter in each.params)]
    assert len(found) >= 6
    for command in found:
        assert isinstance(command, Alone)
        assert any(parameter.name == "json" for parameter in command.params)
