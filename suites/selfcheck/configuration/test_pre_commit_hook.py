"""The hook that other repositories name in their `.pre-commit-config.yaml`."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast.suites

MANIFEST = Path(holdfast.suites.__path__[0]).parent / ".pre-commit-hooks.yaml"
RIGHT = {
    "conf/flink-conf.yaml": "execution.checkpointing.interval: 1 min\n",
    "deploy/flink-prod/config.yaml": "execution:\n  checkpointing:\n    interval: 1 min\n",
    "spark-defaults.conf": "spark.sql.streaming.checkpointLocation hdfs:///checkpoints\n",
}
WRONG = {
    "conf/flink-conf.yaml": "execution.checkpointing.intervall: 1 min\n",
    "deploy/flink-prod/config.yaml": "execution:\n  checkpointing:\n    intervall: 1 min\n",
    "spark-defaults.conf": "spark.sql.streaming.checkpointLocaton hdfs:///checkpoints\n",
}
OF_OTHERS = ("config.yaml", "site/config.yaml", "conf/config.yaml.orig", "flink-conf.yaml/readme.md", "app.conf")


@pytest.fixture(scope="module")
def hook() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    [found] = yaml.safe_load(MANIFEST.read_text())
    assert found["id"] == "holdfast-config-check"
    return dict(found)


def test_pre_commit_takes_the_manifest() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    assert [each["pass_filenames"] for each in clientlib.load_manifest(str(MANIFEST))] == [True]


def test_it_looks_at_files_of_flink_and_spark_alone(hook: dict[str, Any]) -> None:
    assert [name for name in (*RIGHT, *OF_OTHERS) if re.search(hook["files"], name)] == list(RIGHT)


def committed(hook: dict[str, Any], files: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The command that pre-commit runs for a commit of some files, which are behind its words."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    program, *words = shlex.split(hook["entry"])
    command = [str(Path(sys.executable).with_name(program)), *words, *files]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_right_files_pass_together(hook: dict[str, Any], tmp_path: Path) -> None:
    assert committed(hook, RIGHT, tmp_path).returncode == 0


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_among_right_ones_fails_and_is_named(name: str, hook: dict[str, Any], tmp_path: Path) -> None:
    done = committed(hook, {**RIGHT, name: WRONG[name]}, tmp_path)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    [warning] = [number for number, line in enumerate(lines) if line.startswith("warning unknown-option")]
    assert [line for line in lines[:warning] if line in RIGHT][-1] == name
