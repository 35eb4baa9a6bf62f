"""`holdfast config check`: every option with its origin, and what is odd."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.model.configuration import EffectiveConfiguration, Origin

FILE = """\
restart-strategy:
  type: failure-rate
  failure-rate.max-failures-per-interval: 3
  failure-rate.failure-rate-interval: 1 s
  failure-rate.delay: 5 min
execution.checkpointing.intervall: 1 s
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(FILE)
    return path


def test_every_option_is_shown_with_its_origin(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["config", "check", str(file), "--set", "execution.checkpointing.timeout=1h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = {line.split()[0]: line.split()[1:] for line in lines}
    assert shown["restart-strategy.type"] == ["failure-rate", "file", "config.yaml:2"]
    assert shown["execution.checkpointing.timeout"] == ["3600000", "ms", "code"]
    assert shown["execution.checkpointing.interval"] == ["0", "ms", "default", "flink-2.x"]
    assert [line.partition(":")[0] for line in lines if line.startswith(("warning", "lint"))] == [
        "warning unknown-option",
        "lint failure-rate-never-reached",
    ]
    assert "was execution.checkpointing.interval meant?" in lines[-2]


def test_a_program_reads_the_same(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["config", "check", str(file), "--json"]) == 0
    told = msgspec.json.decode(capsys.readouterr().out, type=EffectiveConfiguration)
    assert {setting.key for setting in told.settings if setting.origin is Origin.FILE} == {
        "restart-strategy.type",
        "restart-strategy.failure-rate.max-failures-per-interval",
        "restart-strategy.failure-rate.failure-rate-interval",
        "restart-strategy.failure-rate.delay",
    }


def test_a_refused_file_is_one_sentence(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("restart-strategy:\n  type: sometimes\n")
    assert cli.execute(["config", "check", str(file)]) == cli.WRONG_USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "config.yaml: option restart-strategy.type = 'sometimes' cannot be read" in said.err
