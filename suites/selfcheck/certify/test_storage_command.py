"""`holdfast certify --checkpoint-storage`: a URI or a factory, a certificate, and an exit code that says which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from holdfast.fixtures.mutants.checkpoint_storages.streams import Overwrites
from holdfast.fixtures.storages.memory import MAX_STATE
from holdfast.harness import cli
from holdfast.harness.model.journal import Journal, Status, Title

WRONG = f"{Overwrites.__module__}:Overwrites"


def certified(arguments: Sequence[str], folder: Path) -> tuple[int, Journal]:
    code = cli.execute(["certify", "--checkpoint-storage", *arguments, "--out", str(folder)])
    return code, msgspec.json.decode((folder / "latest" / "results.json").read_bytes(), type=Journal)


def test_a_storage_is_found_by_its_uri(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, journal = certified(["memory://command", "--rule", "STO-03", "--rule", "STO-10"], tmp_path)
    verdict, first, *_ = capsys.readouterr().out.splitlines()
    assert (code, journal.subject, journal.certificate.title) == (0, "ST", Title.PARTIAL)
    assert verdict == "PARTIAL on sim  checkpoint-storage memory://command, 6 checks"
    assert first.split() == ["STO-03", "PASS", "3", "checks"]
    statuses = {each.rule.id: each.status for each in journal.rules}
    assert (statuses["STO-10"], statuses["STO-01"]) == (Status.PASS, Status.UNTESTED)


def test_one_with_room_for_short_files_alone_is_certified(tmp_path: Path) -> None:
    """Its only check of STO-06 that applies to everything wrote a longer file."""
    code, journal = certified(["memory://short-files", "--option", f"{MAX_STATE}=12000", "--rule", "STO-06"], tmp_path)
    assert (code, journal.certificate.title) == (0, Title.PARTIAL)


def test_a_wrong_one_is_refused_and_the_line_repeats_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = (tmp_path / "place").as_uri()
    option = "execution.checkpointing.write-buffer-size=100"
    code, journal = certified([WRONG, "--location", place, "--option", option, "--rule", "STO-02"], tmp_path / "out")
    out = capsys.readouterr().out
    assert (code, journal.certificate.title) == (1, Title.REFUSED)
    assert "    STO-02/exclusive: commit exclusive 'name' again, token b'first' returned FileReference" in out
    again = f"holdfast certify --checkpoint-storage {WRONG} --location {place} --option {option} --rule STO-02"
    assert f"    again: {again}\n" in out
    assert not list((tmp_path / "place").iterdir())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--checkpoint-storage", "gfs://cell/path"], "'gfs://cell/path' has no known scheme; known: file://"),
        (["--checkpoint-storage", "memory://a", "--location", "file:///b"], "leave out --location"),
        (["--checkpoint-storage", "memory://a", "--state-backend", "b:C"],
         "Both --state-backend and --checkpoint-storage are given"),
        (["--checkpoint-storage", "memory://a", "--option", "wrong"], "--option is 'wrong'; write KEY=VALUE."),
        (["--checkpoint-storage", "memory://a", "--rule", "SBK-01"], "unknown rule of the kit for checkpoint-storage"),
        (["reference", "--location", "file:///b"], "are for --checkpoint-storage"),
    ],
)  # fmt: skip
def test_misuse_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["certify", *arguments, "--out", str(tmp_path)]) == 3
    error = capsys.readouterr().err
    announced = error.count("; the report goes to ")  # A factory is loaded where its checks run.
    assert error.count("\n") == 1 + announced
    assert sentence in error.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_rules_name_the_kit_that_decides_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["rules", "STO-05"]) == 0
    wanted = "holdfast certify --checkpoint-storage module:factory --rule STO-05"
    assert wanted in " ".join(capsys.readouterr().out.split())
