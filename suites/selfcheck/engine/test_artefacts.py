"""Stored runs: what is written is what is read and fits its schema, and nothing can be cut or edited unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.systems.json_lines.introduction import init_of
from holdfast.fixtures.systems.json_lines.messages import Ack, Ready, Records, encode
from holdfast.harness import cli
from holdfast.harness.commands.reports import point_latest
from holdfast.harness.engine.artefacts.history_files import read_history, write_history
from holdfast.harness.engine.artefacts.json_files import plan_digest, read_journal, read_plan_file, write_journal
from holdfast.harness.engine.artefacts.record_files import read_inputs, write_inputs
from holdfast.harness.engine.artefacts.stored_run import (
    HISTORY,
    PARTS,
    close_run_folder,
    open_run_folder,
    read_run,
    store_run,
)
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.executor.run_folder import WORK
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import EXACTLY_ONCE, Claims
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    CheckpointCompleted,
    CheckpointTriggered,
    FaultInjected,
    FaultStruck,
    NodeDied,
    SnapshotTaken,
    StateSummary,
)
from holdfast.harness.model.history import FileDigest, History, Manifest, RunEnd
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.journal import RESULTS_VERSION
from holdfast.harness.model.records import (
    CommittedRows,
    FoldColumns,
    FoldRow,
    IdentityColumns,
    IdentityRow,
    InputLog,
    Output,
    Partition,
)
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.engine.scripted import Checkpoints, ScriptedSystem, plan, toolbox
from holdfast.suites.selfcheck.reports import journals

COLUMN = np.array([1, 0, 1], dtype=np.int64)
INPUTS = InputLog(
    ("", "never used", "ключ"),
    (Partition(COLUMN, COLUMN * -7, 2, starts_ms=5, records_per_second=3), Partition(COLUMN[:0], COLUMN[:0], 0)),
    first_offsets=(1, 0),
)
ROWS = (FoldRow("a", -3, (1, 0), 2**64 - 1), FoldRow("ключ", 2**40, (2, 5), 0))
COLUMNS = FoldColumns(("b", "a"), COLUMN, COLUMN * 5, np.arange(6).reshape(3, 2), COLUMN.astype(np.uint64))
FOLDED = Output(
    (
        CommittedRows("unit/1", 0, ROWS),
        CommittedRows("empty", 3, ()),
        CommittedRows("unit/1", 4, ROWS[:1], final=True),
        CommittedRows("columns", 5, COLUMNS),
    )
)  # fmt: skip
IDENTITIES = Output(
    (CommittedRows("u", 0, (IdentityRow(0, 1),)), CommittedRows("v", 1, IdentityColumns(COLUMN, COLUMN)))
)
EVENTS = [
    CheckpointTriggered(node="coordinator.0", sequence=0, checkpoint=1, participants=("source[0]",)),
    SnapshotTaken(node="worker-0.0", sequence=0, subtask="sum[0]", checkpoint=1, state=StateSummary(entries={"a": 1})),
    NodeDied(node="harness", sequence=0, dead_node="worker-0.0", cause="kill"),
    CheckpointCompleted(node="coordinator.0", sequence=1, checkpoint=1, positions=(3, 0)),
]
END = RunEnd(reached=True, healed_ns=5, ended_ns=9, faults_landed=(True, None, False))


def history(output: Output = FOLDED, **changes: Any) -> History:
    fields = {"claims": Claims(EXACTLY_ONCE), "inputs": INPUTS, "output": output, "events": EVENTS, "end": END}
    job = KEYED_SUM if output is FOLDED else FORWARD
    return History(plan(job=job), **{**fields, **changes})


def plain(content: History) -> dict[str, Any]:
    """A history in values that compare."""
    return {
        "claims": content.claims,
        "events": list(content.events),
        "end": content.end,
        "keys": content.inputs.keys,
        "first": content.inputs.first_offsets,
        "expected": (content.inputs.described, content.inputs.wrong),
        "partitions": [
            (each.key.tolist(), each.value.tolist(), each.preloaded, each.starts_ms, each.records_per_second)
            for each in content.inputs.partitions
        ],
        "units": [
            (each.name, each.poll, each.final, type(each.rows), list(each.rows)) for each in content.output.units
        ],
    }


@pytest.mark.parametrize(
    "content",
    [
        history(),
        history(IDENTITIES),
        history(IDENTITIES, inputs=InputLog(INPUTS.keys, INPUTS.partitions, described=True, wrong=((0, 1),))),
        history(events=EVENTS[::-1][2:]),
        history(events=[], output=Output(), inputs=InputLog((), ())),
    ],
    ids=["fold", "identities", "expected rows", "other order", "nothing"],
)
def test_a_history_survives_its_files(tmp_path: Path, content: History) -> None:
    write_history(tmp_path, content)
    assert plain(read_history(tmp_path, content.plan)) == plain(content)


def edited(path: Path, edit: Callable[[bytes], bytes]) -> None:
    content = path.read_bytes()
    changed = edit(content)
    assert changed != content
    path.write_bytes(changed)


@pytest.mark.parametrize(
    ("name", "edit", "sentence"),
    [
        ("manifest.json", lambda raw: raw[:40], "manifest.json: not whole JSON"),
        ("manifest.json", lambda raw: raw.replace(b'"version": 3', b'"version": 4'), "version 4 of a history is newer"),
        ("manifest.json", lambda raw: raw.replace(b'"files"', b'"filez"'), "unknown field 'filez'"),
        ("manifest.json", lambda raw: raw.replace(b'"plan_sha256": "', b'"plan_sha256": "0'), "another plan"),
        ("coordinator.0.jsonl", lambda raw: raw[:-5], "coordinator.0.jsonl:2: torn line of a node that did not die"),
        ("coordinator.0.jsonl", lambda raw: raw[raw.index(b"\n") + 1 :], ":1: event 1 of node 'coordinator.0' stands"),
        ("coordinator.0.jsonl", lambda raw: raw[: raw.index(b"\n") + 1], "188 bytes long, but 365 were written"),
        ("coordinator.0.jsonl", lambda raw: raw.replace(b"[3,0]", b"[2,0]"), "edited (SHA-256 differs"),
        ("coordinator.0.jsonl", lambda raw: raw.replace(b"positions", b"positionz"), ":2: "),
        ("coordinator.0.jsonl", lambda raw: raw.replace(b'"version":1', b'"version":9', 1), ":1: version 9 of"),
        ("coordinator.0.jsonl", lambda raw: raw.replace(b"checkpoint_completed", b"checkpoint_finished"), ":2: "),
        ("worker-0.0.jsonl", lambda raw: raw + b'{"kind":', "worker-0.0.jsonl: "),
        ("inputs.parquet", lambda raw: raw[:-9], "inputs.parquet: "),
        ("run.json", lambda raw: raw.replace(b'"reached":true', b'"reached":false'), "run.json: "),
    ],
    ids=range(14),
)  # fmt: skip
def test_what_was_cut_or_edited_is_refused_by_file_and_line(
    tmp_path: Path, name: str, edit: Callable[[bytes], bytes], sentence: str
) -> None:
    write_history(tmp_path, history())
    edited(tmp_path / name, edit)
    with pytest.raises(UsageError) as caught:
        read_history(tmp_path, history().plan)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_edited_manifest_is_refused_by_whoever_reads_the_run(tmp_path: Path) -> None:
    """What it says of the dead excuses torn lines, and is in no file that it has the digest of."""
    run = run_plan(plan(), ScriptedSystem(Checkpoints()), toolbox())
    folder = store_run(tmp_path / "run", run)
    assert read_run(folder)
    dead = b'"dead_nodes": ['
    edited(folder / "history/manifest.json", lambda raw: raw.replace(dead, dead + b'"worker-9.0"'))
    with pytest.raises(UsageError, match=r"manifest\.json: the content was edited \(SHA-256 differs from verdicts"):
        read_run(folder)


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    """A column says that it is text, and the file is whole: only whoever reads a value finds out."""
    path = tmp_path / "inputs.parquet"
    write_inputs(path, INPUTS)
    table = pq.read_table(path)
    damaged = pa.Array.from_buffers(pa.string(), len(table), pa.array([b"\xc2"] * len(table)).buffers())
    place = table.schema.get_field_index("key")
    pq.write_table(table.set_column(place, "key", damaged), path)
    with pytest.raises(UsageError, match=r"^here: not a Parquet file of this program \(.*Invalid UTF8"):
        read_inputs(path, "here")


def test_effects_in_a_history_of_the_version_before_name_no_fault() -> None:
    folder = Path(__file__).parents[2] / "findings" / "FLINK-38267"
    assert b'"version": 2' in (folder / "history" / "manifest.json").read_bytes()
    read = read_history(folder / "history", read_plan_file(folder / "plan.json"))
    assert [event.stamped for event in read.of(FaultInjected)] == [False] * len(read.plan.faults)
    assert not read.of(FaultStruck)
    assert all(read.end.faults_landed), "it is decided already"


def test_files_that_are_missing_or_unknown_are_refused(tmp_path: Path) -> None:
    write_history(tmp_path, history())
    (tmp_path / "worker-9.0.jsonl").write_bytes(b"")
    with pytest.raises(UsageError, match="the manifest does not name this file"):
        read_history(tmp_path, history().plan)
    (tmp_path / "worker-9.0.jsonl").unlink()
    (tmp_path / "outputs.parquet").unlink()
    with pytest.raises(UsageError, match=r"outputs\.parquet: cannot be read"):
        read_history(tmp_path, history().plan)


@pytest.mark.parametrize(("node", "accepted"), [("worker-0.0", True), ("coordinator.0", False)])
def test_only_a_dead_node_may_leave_a_torn_line(tmp_path: Path, node: str, accepted: bool) -> None:
    """Files of a runtime that writes its own history: the manifest was made afterwards, with the torn line in it."""
    import hashlib

    write_history(tmp_path, history())
    path = tmp_path / f"{node}.jsonl"
    path.write_bytes(path.read_bytes() + b'{"kind":"node_st')
    manifest = msgspec.json.decode((tmp_path / "manifest.json").read_bytes(), type=Manifest)
    digest = FileDigest(path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
    files = tuple(digest if file.name == path.name else file for file in manifest.files)
    (tmp_path / "manifest.json").write_bytes(msgspec.json.encode(msgspec.structs.replace(manifest, files=files)))
    if accepted:
        assert plain(read_history(tmp_path, history().plan)) == plain(history())
    else:
        with pytest.raises(UsageError, match=r"coordinator\.0\.jsonl:3: torn line"):
            read_history(tmp_path, history().plan)


def test_a_run_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    run = run_plan(plan(), ScriptedSystem(Checkpoints()), toolbox())
    begun = open_run_folder(tmp_path / "run-1", run.history.plan)
    assert begun.match(PARTS)
    assert not (tmp_path / "run-1").exists()
    folder = store_run(tmp_path / "run-2", run)
    assert {path.name for path in folder.iterdir()} == {"plan.json", "history", "verdicts.json"}
    content, stored = read_run(folder)
    assert plain(content) == plain(run.history)
    assert (stored.tier, stored.outcome, stored.verdicts, stored.trace_hash) == (
        Tier.SIM,
        run.outcome,
        run.verdicts,
        "h",
    )
    point_latest(folder)
    point_latest(folder)
    point_latest(folder.with_name("latest"))
    assert read_run(tmp_path / "latest")[1] == stored


def test_working_files_that_the_history_holds_are_stored_once(tmp_path: Path) -> None:
    """They were a fifth of what a certificate keeps on real tiers. What differs, or is a link, stays."""
    run = run_plan(plan(), ScriptedSystem(Checkpoints()), toolbox(), Tier.SIM)
    stored = store_run(tmp_path / "first", run) / HISTORY
    name, content = next((each.name, each.read_bytes()) for each in sorted(stored.glob("*.jsonl")))
    part = open_run_folder(tmp_path / "second", run.history.plan)
    places = {place: part / WORK / place for place in ("events", "elsewhere", "linked")}
    for place in places.values():
        place.mkdir(parents=True)
    (places["events"] / name).write_bytes(content)
    (places["events"] / "a.log").write_bytes(content)
    (places["elsewhere"] / name).write_bytes(content.replace(b"1", b"2"))
    (places["linked"] / name).symlink_to(stored / name)
    failed = msgspec.structs.replace(run, outcome=Outcome.INCONCLUSIVE)
    folder = close_run_folder(part, tmp_path / "second", failed)
    left = sorted(
        each.relative_to(folder / WORK).as_posix() for each in (folder / WORK).rglob("*") if not each.is_dir()
    )
    assert left == sorted(["events/a.log", f"elsewhere/{name}", f"linked/{name}"])
    assert (folder / HISTORY / name).read_bytes() == content
    read_run(folder)


def test_behind_a_link_no_working_file_is_removed(tmp_path: Path) -> None:
    run = run_plan(plan(), ScriptedSystem(Checkpoints()), toolbox(), Tier.SIM)
    stored = store_run(tmp_path / "first", run) / HISTORY
    part = open_run_folder(tmp_path / "second", run.history.plan)
    (part / WORK).symlink_to(stored)
    before = sorted(stored.iterdir())
    close_run_folder(part, tmp_path / "second", msgspec.structs.replace(run, outcome=Outcome.INCONCLUSIVE))
    assert sorted(stored.iterdir()) == before


def test_results_of_the_version_before_are_read_and_newer_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_journal(path, journals.partial())
    raw = msgspec.json.decode(path.read_bytes())
    old = {**raw, "version": RESULTS_VERSION - 1}
    for each in old["rules"]:
        del each["rule"]["why"]
        each["rule"]["sources"] = ["CheckpointListener contract"]
    path.write_bytes(msgspec.json.encode(old))
    read = read_journal(path)
    assert (read.version, bool(read.runs)) == (RESULTS_VERSION, True)
    assert {(each.rule.why, *(source.words for source in each.rule.sources)) for each in read.rules} == {
        ("", "CheckpointListener contract")
    }
    path.write_bytes(msgspec.json.encode({**raw, "version": RESULTS_VERSION + 1}))
    with pytest.raises(UsageError, match=rf"version {RESULTS_VERSION + 1} of a result is newer than {RESULTS_VERSION}"):
        read_journal(path)


def test_the_digest_of_a_plan_depends_on_its_content_alone() -> None:
    options = {"a": "1", "b": "2"}
    assert plan_digest(plan(options=options)) == plan_digest(plan(options=dict(reversed(options.items()))))
    assert plan_digest(plan(options=options)) != plan_digest(plan(options={**options, "b": "3"}))


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
