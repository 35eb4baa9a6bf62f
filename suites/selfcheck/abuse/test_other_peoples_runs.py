"""Runs that somebody else stored: nothing outside their folder is read, run or removed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from holdfast import suites
from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.files import write_atomically
from holdfast.harness.engine.artefacts.history_files import MANIFEST, OUTPUTS, RUN
from holdfast.harness.engine.artefacts.json_files import read_plan_file
from holdfast.harness.engine.artefacts.owner import OURS, Owner
from holdfast.harness.engine.artefacts.stored_run import open_run_folder, store_run
from holdfast.harness.engine.cases.results import broken_result
from holdfast.harness.engine.certification.begun import begun_now, identity_of, read_begun, write_begun
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.result_log import LoggedRun, ResultLog
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.plan_code import code_named_by
from holdfast.harness.model.case import Tier
from holdfast.harness.model.configuration import Call, ConfigurationFile
from holdfast.harness.model.history import Manifest
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.abuse.test_leaving import one_sentence
from holdfast.suites.selfcheck.marks import sweeps

GONE = msgspec.json.encode(Owner(2**22 + 5, 1, OURS))


def stored(folder: Path, system: str = "reference", **changes: Any) -> Path:
    """A run on the simulator, whose plan is said to be another one."""
    run = run_plan(plan(), registry.system("reference"), registry.toolbox())
    run.history.plan = replace(run.history.plan, system=system, **changes)
    return store_run(folder, run)


NAMES = ("planted:renamed", "spark+planted.py", "spark+./planted.py", "spark+planted:build", "json-lines+program")
COMMANDS = ("judge", "replay", "rerun", "pictures")
PERMITTED = [("judge", "json-lines+program"), ("pictures", "json-lines+program")]
"""To look a program up is not to run it."""


@pytest.mark.parametrize(("command", "system"), [pair for pair in product(COMMANDS, NAMES) if pair not in PERMITTED])
@pytest.mark.share(5)
def test_code_that_a_run_names_is_run_with_permission_only(
    command: str, system: str, planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored(tmp_path / "run", system)
    assert (
        execute([command, str(run), "--out", "out"] if command in ("rerun", "pictures") else [command, str(run)]) == 3
    )
    sentence = one_sentence(capsys)
    assert f"recorded on system {system!r}" in sentence
    assert "add --trust" in sentence
    assert not planted.exists()


@pytest.mark.parametrize("system", NAMES)
def test_code_that_only_a_plan_file_names_is_run_with_permission_only(
    system: str, planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plan of a stored run is such a file."""
    file = stored(tmp_path / "run", system) / "plan.json"
    assert execute(["run", str(file), "--out", "out"]) == 3
    sentence = one_sentence(capsys)
    assert f"plan.json: it names system {system!r}, whose code would be run" in sentence
    assert sentence.strip().endswith("look at that code, then add --trust, or name the system with --system.")
    assert not planted.exists()


@pytest.mark.parametrize("word", [["--trust"], ["--system", "planted:renamed"]])
def test_a_system_on_the_command_line_is_the_word_of_the_user(word: list[str], planted: Path, tmp_path: Path) -> None:
    file = stored(tmp_path / "run", "planted:renamed") / "plan.json"
    assert execute(["run", str(file), "--out", "out", *word]) == 0
    assert planted.exists()


def test_a_program_is_not_run_by_a_verdict(planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    execute(["judge", str(stored(tmp_path / "run", "json-lines+program"))])
    assert "PASS" in capsys.readouterr().out
    assert not planted.exists()


def test_with_permission_it_is_run(planted: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert execute(["judge", str(stored(tmp_path / "run", "planted:renamed")), "--trust"]) == 0
    assert planted.exists()
    assert "PASS" in capfd.readouterr().out


CODE = "planted:renamed"
IN_A_PLAN: dict[str, dict[str, Any]] = {
    "option": {"options": {"state.backend.type": CODE}},
    "older-option": {"options": {"state.backend": CODE}},
    "call": {"calls": (Call("set_state_backend", (CODE,)),)},
    "configure": {"calls": (Call("configure", ("state.backend.type", CODE)),)},
    "flat-file": {"configuration_file": ConfigurationFile("flink-conf.yaml", f"state.backend.type: {CODE}")},
    "nested-file": {"configuration_file": ConfigurationFile("config.yaml", f"state:\n  backend:\n    type: '{CODE}'")},
    "narrow-file": {"configuration_file": ConfigurationFile("config.yaml", f"state.backend.type:{CODE}")},
    "parameter": {
        "faults": (FaultSpec("submit", COORDINATOR, Schedule(after_checkpoint=1), 0, {"state_backend": CODE}),)
    },
}
"""Where a plan may name a state backend."""


@pytest.mark.parametrize("command", ["run", "replay", "rerun", "compare"])
@pytest.mark.parametrize("place", IN_A_PLAN)
@pytest.mark.share(11)
def test_code_that_stands_anywhere_in_a_plan_is_run_with_permission_only(
    command: str, place: str, planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = stored(tmp_path / "run", "reference", **IN_A_PLAN[place])
    words = {
        "run": [str(run / "plan.json"), "--system", "reference", "--out", "out"],
        "replay": [str(run)],
        "rerun": [str(run), "--times", "1", "--out", "out"],
        "compare": ["reference", "--tier", "sim", "--plans", str(run / "plan.json"), "--out", "out"],
    }
    assert execute([command, *words[command]]) == 3
    sentence = one_sentence(capsys)
    assert CODE in sentence
    assert "look at that code, then add --trust" in sentence
    assert not planted.exists()
    execute([command, *words[command], "--trust"])
    assert planted.exists() or place == "narrow-file"


def test_what_ships_with_holdfast_needs_no_permission() -> None:
    plans = [case.plan_for(1) for case in registry.cases()]
    plans += [read_plan_file(file) for file in (Path(suites.__file__).parent / "selfcheck/alarms").glob("*.json")]
    assert len(plans) > 50
    assert not [named for each in plans if (named := code_named_by(each))]
    assert not code_named_by(plan(options={"execution.checkpointing.dir": "s3://host:9000/path", "at": "host:9092"}))


@sweeps
@pytest.mark.parametrize("system", ["planted:renamed", "spark+planted.py"])
def test_a_sweep_runs_and_removes_nothing_without_permission(
    system: str, planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = replace(plan(), system=system)
    part = open_run_folder(tmp_path / "out" / "run", wanted)
    other = open_run_folder(tmp_path / "out" / "other", plan())
    for folder in (part, other):
        (folder / "owner.json").write_bytes(GONE)
    assert execute(["sweep", "out"]) == 3
    said = capsys.readouterr()
    assert f"the code of its system {system!r} would be run" in said.err
    assert said.err.count("\n") == 1
    assert "other.part: removed." in said.out
    assert part.is_dir()
    assert not planted.exists()
    assert execute(["sweep", "out", "--trust"]) == 0
    assert planted.exists()
    assert not part.exists()


def begun(folder: Path) -> Path:
    """A certification of the reference that was interrupted, and comes from somebody else."""
    (folder / "runs").mkdir(parents=True)
    request = Request(command="", system="reference", folder=folder, tiers=frozenset({Tier.SIM}))
    write_begun(folder, begun_now(request, identity_of(request)))
    return folder


@pytest.mark.parametrize("system", ["planted:renamed", "spark+planted.py"])
def test_going_on_runs_nothing_that_a_run_names_without_permission(
    system: str, planted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was left in the folder was swept, whatever code that named."""
    folder = begun(tmp_path / "theirs")
    part = open_run_folder(folder / "runs" / "left", replace(plan(), system=system))
    (part / "owner.json").write_bytes(GONE)
    assert execute(["report", str(folder)]) == 3
    assert f"the code of its system {system!r} would be run" in one_sentence(capsys)
    assert part.is_dir()
    assert not planted.exists()
    assert execute(["report", str(folder), "--trust"]) == 2
    assert planted.exists()
    assert not part.exists()


def test_going_on_removes_nothing_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All folders were removed of the one that `runs` was a link to."""
    folder, precious = begun(tmp_path / "theirs"), tmp_path / "precious"
    (precious / "work").mkdir(parents=True)
    (folder / "runs").rmdir()
    (folder / "runs").symlink_to(precious)
    assert execute(["report", str(folder)]) == 3
    assert "is a link; allowed is a folder" in one_sentence(capsys)
    assert (precious / "work").is_dir()
    (folder / "runs").unlink()
    (folder / "runs" / "no-run").mkdir(parents=True)
    (folder / "runs" / "linked").symlink_to(precious)
    (folder / "runs" / "notes.txt").write_text("somebody's")
    assert execute(["report", str(folder)]) == 2
    assert (precious / "work").is_dir()
    assert sorted(each.name for each in (folder / "runs").iterdir()) == ["linked", "notes.txt"]


@pytest.mark.parametrize(
    "changes",
    [{"id": "../../elsewhere"}, {"id": "/tmp/elsewhere"}, {"artefacts": "runs/../.."}, {"details": "/etc/passwd"}],
    ids=str,
)
def test_going_on_reads_and_writes_no_run_elsewhere(
    changes: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A smaller plan of a run was stored where its name led."""
    folder = begun(tmp_path / "theirs")
    identity = read_begun(folder)
    assert identity is not None
    named = replace(broken_result(plan(), Tier.SIM, "a/case", 1, ValueError("no")), **changes)
    with ResultLog(folder, identity.identity, "2026-11-20T00:00:00+00:00") as log:
        log.add(LoggedRun(1.0, named, named))
    assert execute(["report", str(folder)]) == 3
    assert re.search("is no name of a file in it|is said to lie elsewhere", one_sentence(capsys))


OWNERS = (
    None,
    b"",
    b"{}",
    b'{"pid":4194309,"start_time":1}',
    b'{"owner":"somebody","pid":4194309,"start_time":1}',
    b'{"owner":"holdfast","pid":123456789012345678901234567890,"start_time":1}',
    b'{"owner":"holdfast","pid":-1,"start_time":1}',
    b'{"owner":"holdfast","pid":0,"start_time":1}',
    b'{"owner":"holdfast","pid":"4194309","start_time":1}',
    b'\xff{"owner":"holdfast","pid":4194309,"start_time":1}',
    GONE[:-1],
)


@sweeps
@pytest.mark.parametrize("owner", OWNERS)
def test_a_folder_without_a_record_of_ours_is_not_swept(
    owner: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = tmp_path / ".download.part"
    part.mkdir()
    (part / "somebody's").write_text("work")
    if owner is not None:
        (part / "owner.json").write_bytes(owner)
    assert execute(["sweep", str(tmp_path)]) == 0
    assert f"{tmp_path}: nothing to sweep." in capsys.readouterr().out
    assert (part / "somebody's").read_text() == "work"


@sweeps
def test_a_folder_of_somebody_else_is_not_swept(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    part = open_run_folder(tmp_path / "run", plan())
    (part / "owner.json").write_bytes(GONE)
    os.chown(part, 12345, 12345)
    assert execute(["sweep", str(tmp_path)]) == 0
    assert part.exists()


@sweeps
def test_a_sweep_follows_no_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    work = precious / "work"
    work.mkdir(parents=True)
    (work / "events").write_text("not ours")
    (precious / "owner.json").write_bytes(GONE)
    out = tmp_path / "out"
    out.mkdir()
    (out / ".linked.part").symlink_to(precious, target_is_directory=True)
    part = open_run_folder(out / "run", plan())
    (part / "owner.json").write_bytes(GONE)
    for name in ("work", "control", "undo.jsonl"):
        (part / name).symlink_to(work)
    assert execute(["sweep", str(out)]) == 0
    assert not part.exists()
    assert (out / ".linked.part").is_symlink()
    assert (work / "events").read_text() == "not ours"


@sweeps
def test_an_owner_record_behind_a_link_is_none(tmp_path: Path) -> None:
    (tmp_path / "record").write_bytes(GONE)
    part = tmp_path / ".other.part"
    part.mkdir()
    (part / "owner.json").symlink_to(tmp_path / "record")
    assert execute(["sweep", str(tmp_path)]) == 0
    assert part.exists()


@sweeps
@pytest.mark.parametrize("kind", ["pipe", "folder", "nothing"])
def test_undos_that_are_no_file_are_swept_over(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = open_run_folder(tmp_path / "run", plan())
    (part / "owner.json").write_bytes(GONE)
    (part / "work").mkdir()
    {"pipe": os.mkfifo, "folder": Path.mkdir, "nothing": lambda path: None}[kind](part / "undo.jsonl")  # type: ignore[operator]
    assert execute(["sweep", str(tmp_path)]) == 0
    assert f"{part}: removed." in capsys.readouterr().out


FOREIGN_NAMES = ("../plan.json", "/etc/passwd", "..", ".", "", "a/../../plan.json", "nul\0", "x" * 5_000)


@pytest.mark.parametrize("name", FOREIGN_NAMES)
def test_a_manifest_names_nothing_elsewhere(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(tmp_path / "run")
    path = run / "history" / MANIFEST
    manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    added = replace(manifest.files[0], name=name)
    path.write_bytes(msgspec.json.encode(replace(manifest, files=(*manifest.files, added))))
    assert execute(["judge", str(run)]) == 3
    sentence = one_sentence(capsys)
    assert "record the run again" in sentence or "name the folder of a whole run" in sentence


def test_a_manifest_names_nothing_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(tmp_path / "run")
    path = run / "history" / MANIFEST
    manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    path.write_bytes(msgspec.json.encode(replace(manifest, files=manifest.files * 2)))
    assert execute(["judge", str(run)]) == 3
    assert "2 times" in one_sentence(capsys)


def linked(path: Path) -> None:
    elsewhere = path.parent.parent.parent / path.name
    shutil.move(path, elsewhere)
    path.symlink_to(elsewhere)


def replaced_by(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(path: Path) -> None:
        path.unlink()
        make(path)

    return replace


NO_FILES: dict[str, Callable[[Path], None]] = {
    "a link": linked,
    "a pipe": replaced_by(os.mkfifo),
    "a folder": replaced_by(Path.mkdir),
    "a device": replaced_by(lambda path: os.mknod(path, 0o020600, os.makedev(1, 5))),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize(
    "name", ["plan.json", "verdicts.json", *(f"history/{each}" for each in (MANIFEST, RUN, OUTPUTS))]
)
@pytest.mark.share(4)
def test_only_regular_files_of_a_run_are_read(
    kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "a device" and os.geteuid():
        pytest.skip("only root can make a device")
    run = stored(tmp_path / "runs" / "run")
    NO_FILES[kind](run / name)
    assert execute(["judge", str(run)]) == 3
    sentence = one_sentence(capsys)
    assert str(run / name) in sentence
    assert f"it is {kind}" in sentence


def test_a_history_elsewhere_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(tmp_path / "runs" / "run")
    shutil.move(run / "history", tmp_path / "history")
    (run / "history").symlink_to(tmp_path / "history", target_is_directory=True)
    assert execute(["judge", str(run)]) == 3
    assert "is a link" in one_sentence(capsys)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", NO_FILES)
def test_a_ledger_that_is_no_file_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if kind == "a device" and os.geteuid():
        pytest.skip("only root can make a device")
    ledger = tmp_path / "a" / "campaign" / "campaign.jsonl"
    ledger.parent.mkdir(parents=True)
    ledger.write_text("of somebody else, cut off")
    NO_FILES[kind](ledger)
    assert execute(["campaign", "reference", "--seeds", "1-1", "--out", str(ledger.parent)]) == 3
    assert f"it is {kind}" in one_sentence(capsys)
    if kind == "a link":
        assert (tmp_path / "campaign.jsonl").read_text() == "of somebody else, cut off"


def test_a_link_where_a_file_is_written_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("of somebody else")
    (tmp_path / ".plan.json.part").symlink_to(precious)
    write_atomically(tmp_path / "plan.json", b"{}")
    assert precious.read_text() == "of somebody else"
    assert (tmp_path / "plan.json").read_bytes() == b"{}"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("command", [["run"], ["config", "check"]])
def test_a_pipe_that_is_named_is_not_waited_for(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "flink-conf.yaml")
    assert execute([*command, str(tmp_path / "flink-conf.yaml")]) == 3
    assert "a pipe" in one_sentence(capsys)
