"""`holdfast new`: what it writes is certified as it stands, and its wrong twin is refuted by the rule that it names."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import metadata
from pathlib import Path

import pytest

from holdfast.harness import cli
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.distribution import DISTRIBUTION
from holdfast.harness.model.journal import Status, Title
from holdfast.suites.selfcheck.certify.written import certified, rule_of, statuses, written

PARTS = {
    "checkpoint-storage": "Storage",
    "file-system": "Files",
    "restart-strategy": "Strategy",
    "sink": "Sink",
    "source": "Source",
    "state-backend": "Backend",
}
LONG = pytest.mark.nightly
ALONE = ("--tier", "sim")
"""The kit, and no runtime."""
QUICK = ("restart-strategy", "sink", "source")
SLOW = ("checkpoint-storage", "file-system")


@pytest.mark.parametrize("kind", [*QUICK, "state-backend", *(pytest.param(kind, marks=LONG) for kind in SLOW)])
@pytest.mark.share(4)
def test_a_right_one_is_certified(kind: str, tmp_path: Path) -> None:
    code, journal = certified(written(kind, tmp_path), f"--{kind}", f"mine:{PARTS[kind]}", *ALONE)
    assert (code, journal.certificate.title) == (0, Title.CERTIFIED)
    assert not journal.certificate.missing


@pytest.mark.tier("process")
@LONG
def test_a_right_source_is_certified_in_the_runtime_too(tmp_path: Path) -> None:
    code, journal = certified(written("source", tmp_path), "--source", "mine:Source")
    assert (code, journal.certificate.title) == (0, Title.CERTIFIED)
    assert {tier.tier for tier in journal.tiers if tier.runs} == {Tier.SIM, Tier.PROCESS}


@pytest.mark.parametrize("kind", [*QUICK, "state-backend", *SLOW])
@pytest.mark.share(6)
def test_its_wrong_twin_is_refuted_by_the_rule_that_it_names(kind: str, tmp_path: Path) -> None:
    folder = written(kind, tmp_path)
    rule = rule_of(folder / "wrong_mine.py")
    code, journal = certified(folder, f"--{kind}", f"wrong_mine:Wrong{PARTS[kind]}", "--rule", rule, *ALONE)
    assert (code, journal.certificate.title) == (1, Title.REFUSED)
    assert statuses(journal, Status.FAIL) == {rule}
    code, journal = certified(folder, f"--{kind}", f"mine:{PARTS[kind]}", "--rule", rule, *ALONE)
    assert (code, statuses(journal, Status.PASS)) == (0, {rule})


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "restart-strategy" else LONG) for kind in PARTS]
)
def test_its_test_file_passes(kind: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=written(kind, tmp_path), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert re.search(r"\d+ passed", ended.stdout)


@pytest.mark.parametrize("kind", registry.scaffolds())
def test_nothing_of_a_template_is_left(kind: str, tmp_path: Path) -> None:
    files = [each for each in written(kind, tmp_path).rglob("*") if each.is_file()]
    assert {"README.md", "holdfast.yml"} <= {each.name for each in files}
    for file in files:
        text = file.read_text()
        assert "scaffolds" not in text
        assert not re.search(r"@[A-Z]+@", text), text


def refused(arguments: Sequence[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["new", *arguments]) == cli.WRONG_USAGE
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    refused(["sink", "mine", "--out", str(tmp_path / "mine")], "is there, and nothing is overwritten", capsys)
    assert list(tmp_path.rglob("*")) == [tmp_path / "mine"]


@pytest.mark.parametrize("name", ["json", "My", "my-sink", "1st", "holdfast", "", "class", "pytest"])
def test_a_name_that_no_module_of_ones_own_can_have_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(["sink", name, "--out", str(tmp_path / "new")], "cannot be the name of a module", capsys)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    refused(["sofa", "mine"], "unknown scaffold 'sofa'; known: checkpoint-storage", capsys)


def test_what_breaks_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(file: Path, text: str) -> int:
        raise OSError(28, "No space left on device", str(file))

    monkeypatch.setattr(Path, "write_text", no_room)
    assert cli.execute(["new", "sink", "mine", "--out", str(tmp_path / "mine")]) == cli.HARNESS_ERROR
    assert list(tmp_path.iterdir()) == []


OLDEST = metadata(DISTRIBUTION)["Requires-Python"].removeprefix(">=")
PYTHON = re.compile(r'python-version: "([^"]*)"')


@pytest.mark.parametrize("kind", registry.scaffolds())
def test_what_new_writes(kind: str, tmp_path: Path) -> None:
    [file] = written(kind, tmp_path).glob(".github/workflows/*.yml")
    assert PYTHON.findall(file.read_text()) == [OLDEST]
