"""`holdfast doctor SYSTEM`: how far a system comes, step by step, and an exit code that says whether it is enough."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.faults import FAULTS
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness import cli
from holdfast.harness.commands import doctor
from holdfast.harness.commands.doctor_system import brisk, last_lines
from holdfast.harness.engine.errors import ForeignError
from holdfast.harness.engine.site import registry
from holdfast.harness.model import profile
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, Plan, WorkloadSpec
from holdfast.harness.model.rule import Rule
from holdfast.harness.oracles.shared.options import milliseconds

PERSISTS_NOTHING = """#!/bin/sh
read -r init
echo '{"type":"ready","version":1,"positions":[0,0]}'
echo >&2 'I am ready, and will never acknowledge.'
exec cat > /dev/null
"""
ENDS = """#!/bin/sh
echo >&2 'no table here'
exit 3
"""
SAYS = ("protocol", "claims", "offers")
SAID_ITSELF = {"reference": (), "persists-first": SAYS}


def examined(system: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, str]]:
    code = cli.execute(["doctor", system])
    return code, {line[:11].strip(): line[11:] for line in capsys.readouterr().out.splitlines()}


def program(text: str, folder: Path) -> str:
    path = folder / "program"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"json-lines+{path}"


@pytest.mark.parametrize(
    ("absent", "words"),
    [
        ("", "services as plain processes are ready"),
        ("kafka, hdfs", "services as plain processes lack kafka, hdfs: holdfast services install"),
    ],
)
def test_services_without_docker_are_there_or_named_with_what_brings_them(
    absent: str, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "missing_parts", lambda: absent)
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.execute(["doctor"]) == 0
    assert f"no Docker       {words}\n" in capsys.readouterr().out


def test_what_is_plugged_in_is_counted_or_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.execute(["doctor"]) == 0
    shown = {line[:16].strip(): line[16:] for line in capsys.readouterr().out.splitlines()}
    assert shown["faults"] == str(len(FAULTS))
    assert shown["oracles"] == str(len(registry.toolbox().oracles))
    assert shown["rules"] == str(len(registry.rules()))
    assert shown["state backends"] == "hashmap, named-files, rocksdb"
    assert shown["storages"] == "file, hdfs, memory, oss, s3"
    assert {"sink", "source", "checkpoint-storage"} < set(shown["kits"].split(", "))
    assert not {"histories", "deviations", "cases"} & shown.keys()


def test_a_package_that_cannot_be_loaded_is_named_in_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> tuple[Rule, ...]:
        raise ForeignError("entry point 'mine' of holdfast.suites: no table")

    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setitem(doctor._COUNTED, "rules", broken)
    assert cli.execute(["doctor"]) == 0
    assert "rules           entry point 'mine' of holdfast.suites: no table\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("system", "progress"), [("reference", "first checkpoint after"), ("persists-first", "first acknowledgement after")]
)
@pytest.mark.share(2)
def test_a_right_system_comes_to_the_end(system: str, progress: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = examined(system, capsys)
    assert code == 0
    assert list(said) == ["loads", *SAID_ITSELF[system], "runs", "progress", "survives"]
    assert re.fullmatch(r"pass without a fault \(\d+ s\)", said["runs"])
    assert said["progress"].startswith(progress)
    assert said["survives"].startswith("pass with a kill")


def test_one_that_loses_its_input_does_not_survive(capsys: pytest.CaptureFixture[str]) -> None:
    """However long it lives before it is killed; it says what it claims and offers."""
    code, said = examined("json-lines+loses-at-least-once", capsys)
    assert code == 1
    assert said["protocol"] == "JSON lines, version 2"
    assert said["claims"] == "at-least-once"
    assert said["offers"] == "checkpoints"
    assert re.fullmatch(r"pass without a fault \(\d+ s\)", said["runs"])
    assert said["survives"].startswith("fail with a kill")
    assert "NOLOSS/input-lost" in said["survives"]


def test_one_that_ends_at_once_shows_its_last_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = examined(program(ENDS, tmp_path), capsys)
    assert code == 2
    assert list(said) == ["loads", *SAYS, "runs", "log"]
    assert said["protocol"] == "JSON lines, version 1, because it ended without an answer (no table here)"
    assert said["runs"].startswith("inconclusive without a fault")
    assert said["log"] == "no table here"


def test_one_that_never_acknowledges_has_nothing_to_recover_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = examined(program(PERSISTS_NOTHING, tmp_path), capsys)
    assert code == 2
    assert said["log"] == "I am ready, and will never acknowledge."
    assert "survives" not in said


def test_the_log_is_found_in_a_folder_of_logs_or_beside_others(tmp_path: Path) -> None:
    (tmp_path / "work/output").mkdir(parents=True)
    (tmp_path / "work/output/part-0.json").write_text("of the output\n")
    (tmp_path / "work/empty.log").touch()
    assert last_lines(tmp_path) == []
    (tmp_path / "work/driver.log").write_text("".join(f"line {number}\n" for number in range(5)))
    assert last_lines(tmp_path) == ["line 2", "line 3", "line 4"]
    (tmp_path / "work/logs").mkdir()
    later = tmp_path / "work/logs/worker-0"
    later.write_text("Caused by: boom\n\tat a.b.C(C.java:1)\n\t... 34 more\nended\n")
    os.utime(later, (2**31, 2**31))
    assert last_lines(tmp_path) == ["Caused by: boom", "ended"]


def test_a_rehearsal_takes_the_least_time() -> None:
    """Whatever a system would be rehearsed with: in two portions, and watched no longer than its options need."""
    slow = WorkloadSpec("synthetic", {"records": 300, "preloaded_percent": 20, "records_per_second": 80})
    plan = Plan(
        system="any", job=KEYED_SUM, workload=slow, options={profile.INTERVAL: "500 ms"}, bounds=Bounds(settle_ms=600)
    )
    quick = brisk(plan)
    partitions = Synthetic().generate(quick.workload.parameters, 1).partitions
    assert {(each.preloaded, each.records_per_second) for each in partitions} == {(30, 0)}
    assert milliseconds(quick, profile.INTERVAL, 0) <= quick.bounds.settle_ms < plan.bounds.settle_ms
    assert brisk(replace(plan, options={})).options == {}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["doctor", "collections:Counter"], "is a Counter without name, subject"),
        (["doctor", "holdfast.fixtures.sinks.memory:MemorySink"], "a system is made without arguments"),
        (["doctor", "nothing"], "unknown system 'nothing'"),
        (["certify", "--state-backend", "collections:Counter"], "is a class without describe, restore"),
        (["certify", "--checkpoint-storage", "collections:Counter"], "is a class without describe, claim"),
        (["certify", "--sink", "collections:Counter"], "is a class without describe, begin"),
        (["certify", "--source", "collections:Counter"], "is a class without describe, enumerator"),
        (["certify", "--restart-strategy", "collections:Counter"], "is a class without describe, failed"),
    ],
)
def test_a_class_that_is_none_of_ours_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(arguments) == cli.WRONG_USAGE
    error = capsys.readouterr().err
    assert sentence in error
    announced = error.count("; the report goes to ")  # A factory is loaded where its checks run.
    assert error.count("\n") == 1 + announced
