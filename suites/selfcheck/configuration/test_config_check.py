"""`holdfast config check`: every option with its origin, and what is odd."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.commands.configuration import ODD
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
    arguments = ["config", "check", str(file), "--all", "--set", "execution.checkpointing.timeout=1h"]
    assert cli.execute(arguments) == ODD
    lines = capsys.readouterr().out.splitlines()
    shown = {line.split()[0]: line.split()[1:] for line in lines}
    assert shown["restart-strategy.type"] == ["failure-rate", "file", "config.yaml:2"]
    assert shown["execution.checkpointing.timeout"] == ["3600000", "ms", "code"]
    assert shown["execution.checkpointing.interval"] == ["0", "ms", "default", "flink-2.x"]
    odd = [line for line in lines if line.startswith(("warning", "lint"))]
    assert [line.partition(":")[0] for line in odd] == ["warning unknown-option", "lint failure-rate-never-reached"]
    assert "was execution.checkpointing.interval meant?" in odd[0]


def test_ten_lines_say_what_it_comes_to(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["config", "check", str(file)]) == ODD
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 10
    assert lines[0].startswith("checkpoints off: execution.checkpointing.interval is not set")
    assert "3 failures in 1 s, a restart after 5 min" in lines[3]


SHIPPED = """\
# A comment.
env:
  java:
    opts:
      all: --add-exports=java.base/sun.net.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
jobmanager:
  bind-host: localhost
  rpc:
    address: localhost
    port: 6123
  memory.process.size: 1600m
  execution:
    failover-strategy: region
taskmanager:
  numberOfTaskSlots: 1
parallelism:
  default: 1
# execution:
#   checkpointing:
#     interval: 3min
rest:
  address: localhost
  # port: 8081
state.backend.rocksdb.localdir: /data/rocksdb
"""
"""Of such lines is the `config.yaml` that Flink 1.20 and 2.x ship."""
SHIPPED_FLAT = """\
env.java.opts.all: --add-exports=java.base/sun.net.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
jobmanager.rpc.address: localhost
jobmanager.bind-host: localhost
jobmanager.memory.process.size: 1600m
# execution.checkpointing.interval: 3min
jobmanager.execution.failover-strategy: region
parallelism.default: 1
"""
"""And of such ones the older `flink-conf.yaml`."""


@pytest.mark.parametrize(("name", "text", "more"), [("config.yaml", SHIPPED, 6), ("flink-conf.yaml", SHIPPED_FLAT, 2)])
def test_options_of_other_parts_of_a_cluster_are_no_mistake(
    name: str, text: str, more: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / name).write_text(text)
    assert cli.execute(["config", "check", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("warning", "lint"))] == []
    [others] = [line for line in lines if line.startswith("info other-options")]
    assert re.search(rf"env\.java\.opts\.all, .* and {more} more: of other parts of the cluster", others)


def test_a_former_key_is_told_its_new_name(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("state.checkpoints.dir: file:///c\nexecution.checkpointing.interval: 10 s\n")
    assert cli.execute(["config", "check", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "in Flink 2.x state.checkpoints.dir is execution.checkpointing.dir." in shown
    file.write_text("holdfast.profile: flink-1.14\nstate.checkpoints.dir: file:///c\n")
    assert cli.execute(["config", "check", str(file)]) == 0
    assert "former-keys" not in capsys.readouterr().out


DEPLOYMENT = """apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
spec:
  flinkVersion: v1_20
  flinkConfiguration:
    taskmanager.numberOfTaskSlots: "2"

    execution.checkpointing.interval: 10s
    execution.checkpointing.max-concurrent-checkpoints: "2"
    execution.checkpointing.min-pause: 5s
  podTemplate:
    spec:
      containers:
        - {name: main, args: [a, b]}
"""


def test_a_deployment_of_kubernetes_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deployment.yaml"
    file.write_text(DEPLOYMENT)
    assert cli.execute(["config", "check", str(file), "--all"]) == ODD
    shown = capsys.readouterr().out
    assert re.search(r"^execution\.checkpointing\.interval +10000 ms +file deployment\.yaml:8$", shown, re.MULTILINE)
    assert "warning pause-with-concurrency: " in shown
    file.write_text(DEPLOYMENT.replace("flinkConfiguration", "flinkSettings"))
    assert cli.execute(["config", "check", str(file)]) == cli.WRONG_USAGE
    assert "stand below its one line `flinkConfiguration:`, and there are 0" in capsys.readouterr().err


def test_a_program_reads_the_same(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["config", "check", str(file), "--json"]) == ODD
    printed = msgspec.json.decode(capsys.readouterr().out, type=EffectiveConfiguration)
    assert {setting.key for setting in printed.settings if setting.origin is Origin.FILE} == {
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
