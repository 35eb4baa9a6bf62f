"""A part that ends, crashes or hangs its process, prints or leaves something behind costs one check at most."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.harness import cli
from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.certification import apart_process, kit_run
from holdfast.harness.engine.certification.kit_run import KitRequest, KitRun
from holdfast.harness.engine.site.surroundings import part_surroundings
from holdfast.harness.label import variables_of
from holdfast.harness.model.journal import CaseResult, Status, Title
from holdfast.harness.spi.surroundings import PASSED_ON
from holdfast.suites.selfcheck.certify.ends import SECRET

ENDS = "holdfast.suites.selfcheck.certify.ends"
RULE = "INC-02"


def by_status(cases: tuple[CaseResult, ...]) -> dict[Status, list[CaseResult]]:
    """What checks say."""
    return {status: [each for each in cases if each.status is status] for status in Status}


def certified(part: str, out: Path) -> tuple[int, dict[Status, list[CaseResult]]]:
    """Exit code and checks of a part."""
    code = cli.execute(["certify", "--state-backend", f"{ENDS}:{part}", "--rule", RULE, "--out", str(out)])
    assert (out / "latest" / "report.html").stat().st_size
    journal = read_journal(out / "latest" / "results.json")
    return code, by_status(journal.cases)


@pytest.mark.parametrize(
    ("part", "what"),
    [
        ("Exits", "ended its process with exit code 0 in snapshot (subtask_backend.py:"),
        ("Crashes", "ended its process by SIGSEGV in snapshot (subtask_backend.py:"),
        ("Interrupts", "raised KeyboardInterrupt (ends.py:"),
        ("Leaves", "raised SystemExit: 0 (ends.py:"),
        ("Disturbs", "wrote into the connection of its process, or closed it"),
        ("DisturbsAtLength", "wrote into the connection of its process, or closed it"),
        ("DisturbsInPart", "wrote into the connection of its process, or closed it in snapshot (subtask_backend.py:"),
    ],
)
@pytest.mark.share(3)
def test_a_part_that_ends_its_process_fails_one_check(
    part: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ended with the exit code of the part, or by it, and had no report. It broke on what a part wrote into
    its connection, or waited for the rest of that for ever."""
    monkeypatch.setattr(apart_process, "MESSAGE_LIMIT_S", 2)
    code, checks = certified(part, tmp_path)
    assert code == 1
    assert checks[Status.FAIL]
    assert all(f"state-backend {ENDS}:{part} {what}" in each.reason for each in checks[Status.FAIL])
    assert checks[Status.PASS]
    assert not checks[Status.ERROR]


def test_a_part_that_hangs_is_lost_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit_run, "SILENCE_LIMIT_S", 4.0)
    code, checks = certified("Hangs", tmp_path)
    assert code == 2
    (lost,) = [each for each in checks[Status.INCONCLUSIVE] if "did not return" in each.reason][:1]
    assert lost.reason.startswith(
        f"state-backend {ENDS}:Hangs did not return within 4 s in snapshot (subtask_backend.py:"
    )
    assert checks[Status.PASS]


@pytest.mark.parametrize(
    ("part", "left"),
    [
        ("Prints", ""),
        ("Stays", ""),
        ("Terminates", ""),
        ("Forks", "a fork of its process"),
        ("ForksAndReturns", "a "),  # It may have come to its end by then.
        ("Detaches", "a fork of its process"),
    ],
)
@pytest.mark.share(3)
def test_what_a_part_leaves_behind_disturbs_nothing(part: str, left: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast.harness.cli", "certify", "--state-backend", f"{ENDS}:{part}"]
    mark = f"HOLDFAST_ENDING={tmp_path}".encode()
    done = subprocess.run(
        [*command, "--rule", RULE, "--json", "--out", str(tmp_path), "--env", "HOLDFAST_ENDING"],
        capture_output=True,
        env={**os.environ, "HOLDFAST_ENDING": str(tmp_path)},  # noqa: TID251 - marks every process of the command
        timeout=120,
        check=False,
    )
    assert done.returncode == (1 if left else 0), done.stderr.decode()
    result = json.loads(done.stdout)
    assert result["certificate"]["title"] == (Title.REFUSED if left else Title.PARTIAL)
    refuted = [each["reason"] for each in result["cases"] if each["status"] == Status.FAIL]
    assert len(refuted) == bool(left)
    assert all(reason.startswith(f"a child left: {left}") for reason in refuted)
    assert all(", started in snapshot (ends.py:" in reason for reason in refuted)
    others = {each["status"] for each in result["cases"]} - {Status.FAIL}
    assert Status.PASS in others
    assert others <= {Status.PASS, Status.NOT_APPLICABLE}
    assert [
        each for each in Path("/proc").iterdir() if each.name.isdigit() and mark in variables_of(int(each.name))
    ] == []


@pytest.mark.parametrize("named", [False, True])
def test_a_part_sees_no_variable_that_nobody_named(
    named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys of the user stood in its environment."""
    monkeypatch.setenv(SECRET, "a key")
    monkeypatch.setenv(PASSED_ON, "")
    command = ["certify", "--state-backend", f"{ENDS}:Peeks", "--rule", RULE, "--out", str(tmp_path)]
    assert cli.execute([*command, *(["--env", SECRET] if named else [])]) == int(named)


@pytest.mark.parametrize("named", [False, True])
def test_keys_of_a_store_reach_a_part_by_name_alone(
    named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They came along with the URI of a place."""
    monkeypatch.setenv("HOLDFAST_S3_SECRET_KEY", SECRET)
    monkeypatch.setenv(PASSED_ON, "")
    command = ["certify", "--sink", f"{ENDS}:peeking_sink", "--location", "s3://bucket/prefix", "--rule", "TPC-01"]
    code = cli.execute([*command, "--out", str(tmp_path), *(["--env", "HOLDFAST_S3_SECRET_KEY"] if named else [])])
    assert code == 1
    refuted = by_status(read_journal(tmp_path / "latest" / "results.json").cases)[Status.FAIL]
    assert refuted
    assert all(f"sees {'a key' if named else 'no key'}" in each.reason for each in refuted)


def test_our_storages_and_the_kit_have_the_keys_of_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_S3_SECRET_KEY", SECRET)
    assert part_surroundings("s3://bucket/prefix")["HOLDFAST_S3_SECRET_KEY"] == SECRET
    for named in ("mypkg:storage", "file:///tmp", "hdfs://host/path", "mine://place"):
        assert "HOLDFAST_S3_SECRET_KEY" not in part_surroundings(named)
    for factory, location in (("mypkg:storage", "s3://bucket"), ("s3://bucket", "")):
        assignment = KitRun(KitRequest("checkpoint-storage", factory, "", location=location)).assignment()
        assert assignment is not None
        assert assignment.store_keys == {"HOLDFAST_S3_SECRET_KEY": SECRET}
    assignment = KitRun(KitRequest("checkpoint-storage", "mypkg:storage", "")).assignment()
    assert assignment is not None
    assert assignment.store_keys == {}
