"""A run of which a certificate has a line is made again and kept whole, or refused in one sentence."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.stored_run import read_run
from holdfast.suites.selfcheck.verification.sending import certificate, edit_results, edit_run

pytestmark = pytest.mark.xdist_group("keep")
"""One process makes the certificate for all."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("certificate"), 0, "reference --tier sim --rule RET-03 --jobs 1")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "sent"))


def line_alone(folder: Path) -> str:
    """The id of a run that was not kept."""
    (path,) = folder.glob("results-*.jsonl.gz")
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    names = [line["result"]["id"] for line in lines if line["type"] == "run"]
    return str(next(name for name in names if not (folder / "runs" / name).exists()))


def test_a_run_that_is_a_line_is_kept_whole_as_it_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = line_alone(folder)
    run = folder / "runs" / name
    assert execute(["replay", str(run)]) == 3
    assert execute(["keep", str(run)]) == 0
    assert f"kept in {run}; again: holdfast replay {run}\n" in capsys.readouterr().out
    assert read_run(run)[1].trace_hash
    assert execute(["replay", str(run)]) == 0
    assert execute(["judge", str(run)]) == 0
    assert execute(["verify", str(folder), "--replay", "0"]) == 0
    capsys.readouterr()
    assert execute(["keep", str(run)]) == 3
    assert f"run {name} is kept already, in {run}" in capsys.readouterr().err


def test_it_is_found_from_where_the_certificate_was_made(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast-out").mkdir()
    folder.rename(tmp_path / "holdfast-out" / "mine")
    monkeypatch.chdir(tmp_path)
    name = line_alone(Path("holdfast-out/mine"))
    assert execute(["keep", f"mine/runs/{name}"]) == 0
    assert Path("holdfast-out/mine/runs", name, "plan.json").is_file()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("trace_hash", "0", "does not come again as it was, its trace hash is another"),
        ("plan_digest", "0" * 64, "its case has another plan here; use the code that made it"),
        ("plan_number", -1, "its case is not known here, or gives it no number"),
        ("tier", "process", "took place on tier process, where none comes twice as it was: certify again with --keep"),
    ],
)
def test_what_cannot_be_made_again_is_refused_in_one_sentence(
    field: str, value: object, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = line_alone(folder)
    edit_run(folder, name, lambda run: run.update({field: value}))
    before = sorted((folder / "runs").iterdir())
    assert execute(["keep", str(folder / "runs" / name)]) == 3
    shown = capsys.readouterr().err
    assert words in shown
    assert shown.count("\n") == 1
    assert sorted((folder / "runs").iterdir()) == before


def test_a_system_that_is_not_known_here_is_not_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit_results(folder, lambda content: content.update(system="mine:System"))
    assert execute(["keep", str(folder / "runs" / line_alone(folder))]) == 3
    assert "system 'mine:System' is not registered here, and its code is not run without --trust" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("runs/none", "unknown run of"),
        ("none", "names no run of a certificate: write it as DIR/runs/ID"),
        ("nowhere/runs/none", "there is no results.json in it"),
    ],
)
def test_a_name_that_leads_to_no_line_is_refused(
    run: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["keep", str(folder / run)]) == 3
    assert words in capsys.readouterr().err


def test_nothing_is_kept_behind_a_link(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The certificate may be somebody else's."""
    name = line_alone(folder)
    (folder / "runs").rename(tmp_path / "elsewhere")
    (folder / "runs").symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").iterdir())
    assert execute(["keep", str(folder / "runs" / name)]) == 3
    assert sorted((tmp_path / "elsewhere").iterdir()) == before
    assert "link" in capsys.readouterr().err
