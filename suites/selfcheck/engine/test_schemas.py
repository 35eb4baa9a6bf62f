"""`holdfast schema`: what is really written is valid, and what is refused elsewhere is invalid, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from holdfast.fixtures.systems.json_lines.introduction import init_of
from holdfast.fixtures.systems.json_lines.messages import Ack, Ready, Records, encode
from holdfast.harness import cli
from holdfast.harness.engine.site import registry

PLAN = Path(__file__).parents[1] / "alarms" / "copy-of-a-trigger.json"


def validator(name: str, capsys: pytest.CaptureFixture[str]) -> jsonschema.Draft202012Validator:
    capsys.readouterr()
    assert cli.execute(["schema", name]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was kept."""
    folder = tmp_path_factory.mktemp("run")
    assert cli.execute(["run", str(PLAN), "--tier", "sim", "--out", str(folder)]) == 0
    [stored] = folder.iterdir()
    return stored


def one_of_each_kind(run: Path) -> dict[str, Any]:
    """Events by kind: validation is slow."""
    found: dict[str, Any] = {}
    for file in sorted((run / "history").glob("*.jsonl")):
        found |= {event["kind"]: event for event in map(json.loads, file.read_text().splitlines())}
    return found


def test_a_plan_is_valid(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = validator("plan", capsys)
    for file in (PLAN, run / "plan.json"):
        content = json.loads(file.read_text())
        plan.validate(content)
    assert not plan.is_valid({**content, "wokload": {}})
    assert not plan.is_valid({**content, "version": "1"})
    assert not plan.is_valid({key: value for key, value in content.items() if key != "workload"})


def test_results_are_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["certify", "reference", "--rule", "TRG-02", "--tier", "sim", "--runs", "1", "--out", str(tmp_path)]
    assert cli.execute(command) == 0
    results = validator("results", capsys)
    content = json.loads((tmp_path / "latest" / "results.json").read_text())
    assert content["runs"]
    results.validate(content)
    assert not results.is_valid({**content, "runs": 7})


def test_lines_of_a_history_are_valid(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = validator("history", capsys)
    events = one_of_each_kind(run)
    assert len(events) > 10
    for event in events.values():
        history.validate(event)
    assert not history.is_valid({**event, "kind": "no_such_kind"})


def test_messages_of_a_program_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    adapter = validator("adapter", capsys)
    for message in (init_of("/run/state", 2, 1 << 63), Records(1, 0, [("odd", 1), ("even", -2)])):
        adapter.validate(json.loads(encode(message)))
    for said in (Ready((0, 0)), Ack(1, 1)):
        adapter.validate(json.loads(msgspec.json.encode(said)))
    assert not adapter.is_valid({"type": "ack", "partition": 1})
    assert not adapter.is_valid({"type": "ack", "partition": 1, "offset": "1"})
    assert not adapter.is_valid({"type": "acknowledged", "partition": 1, "offset": 1})


def test_an_unknown_format_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["schema", "sofa"]) == cli.WRONG_USAGE
    assert capsys.readouterr().err == "holdfast: unknown format 'sofa'; known: adapter, history, plan, results.\n"
    assert registry.formats() == ("adapter", "history", "plan", "results")
