"""`holdfast certify --state-backend` and `--checkpoint-storage`: rules, certificate, and exit code."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from holdfast.fixtures.backends import blocks
from holdfast.fixtures.backends.hashmap import HashMapBackend, HashMapSnapshot
from holdfast.fixtures.backends.snapshot_files import require_cover
from holdfast.fixtures.backends.table import Cell, Stored
from holdfast.fixtures.mutants.checkpoint_storages.streams import Overwrites
from holdfast.fixtures.storages.memory import MAX_STATE
from holdfast.harness import cli
from holdfast.harness.engine.certification.kit_run import KitRequest, KitRun
from holdfast.harness.model.journal import Journal, Status, Title
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.state import Cancelled, Manifest, SnapshotKind
from holdfast.harness.spi.storage import CheckpointStreamFactory
from holdfast.suites.selfcheck.printed_commands import commands_by_file, paste

HASHMAP = "holdfast.fixtures.backends.hashmap:HashMapBackend"
WRONG = "holdfast.fixtures.mutants.state_backends.restores:TakesAnySchema"


class InlineSnapshot(HashMapSnapshot):
    """Everything is in the manifest."""

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> Manifest:
        content = [(group, blocks.encoded(cells)) for group, cells in self.full_content()]
        return msgspec.structs.replace(self.backend.manifest(self, ()), opaque=msgspec.msgpack.encode(content))


class InlineBackend(HashMapBackend):
    """Right, and without a file: no operation of a storage can be met by a write, or fail."""

    def make_snapshot(self, checkpoint: int, kind: SnapshotKind) -> HashMapSnapshot:
        return InlineSnapshot(self, checkpoint, kind)

    def loaded(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory) -> Iterator[tuple[Cell, Stored]]:
        require_cover(parts, self.context.key_groups)
        for part in parts:
            for group, block in msgspec.msgpack.decode(part.opaque, type=list[tuple[int, bytes]]):
                if group in self.context.key_groups:
                    yield from ((cell, stored) for cell, stored in blocks.decoded(group, block) if stored is not None)


def certified(arguments: Sequence[str], folder: Path) -> tuple[int, Journal]:
    code = cli.execute(["certify", *arguments, "--out", str(folder)])
    return code, msgspec.json.decode((folder / "latest" / "results.json").read_bytes(), type=Journal)


def one_dated(folder: Path) -> Path:
    """The folder of the only report below one."""
    (found,) = folder.glob("2*")
    return found


def test_a_right_backend_is_certified_rule_by_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, journal = certified(["--state-backend", HASHMAP], tmp_path)
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert code == 0
    checks = len(journal.cases)
    assert shown.err.startswith(f"state-backend {HASHMAP}: {checks} checks; the report goes to {one_dated(tmp_path)}")
    assert len(lines) <= 30
    assert (journal.subject, journal.certificate.title) == ("SB", Title.CERTIFIED)
    assert any(line.split() == ["SBK-04", "PASS", "8", "checks"] for line in lines)
    assert lines[0] == f"CERTIFIED on sim  state-backend {HASHMAP}, {len(journal.cases)} checks"
    assert lines[-1].startswith("Report: ")
    statuses = {each.rule.id: each.status for each in journal.rules}
    assert statuses["SBK-08"] is Status.NOT_APPLICABLE
    assert {statuses[rule] for rule in ("SBK-01", "SBK-02", "SBK-03", "SBK-05", "SBK-06")} == {Status.PASS}
    assert {path.name for path in (tmp_path / "latest").iterdir()} >= {"report.html", "junit.xml", "summary.md"}


def test_a_wrong_one_is_refused_with_its_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, journal = certified(["--state-backend", WRONG, "--rule", "SBK-04"], tmp_path)
    out = capsys.readouterr().out
    assert (code, journal.certificate.title) == (1, Title.REFUSED)
    assert "SBK-04  FAIL            5 checks of 8\n" in out
    assert "    SBK-04/incompatible: register another kind: it raised nothing; Incompatible is right.\n" in out
    assert f"    again: holdfast certify --state-backend {WRONG} --rule SBK-04\n" in out
    assert [each.rules for each in journal.findings] == [("SBK-04",)] * 5
    report = (tmp_path / "latest" / "report.html").read_text()
    assert "it raised nothing; Incompatible is right." in report
    assert "SBK-04/incompatible" in (tmp_path / "latest" / "junit.xml").read_text()
    assert next(each for each in journal.rules if each.rule.id == "SBK-01").reason == "none of its checks was chosen"


def test_every_file_names_the_command_that_is_printed_and_it_works_from_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part lies in the folder where it was certified, which is not where its report lies."""
    module, _, name = WRONG.partition(":")
    (tmp_path / "my_backend.py").write_text(f"from {module} import {name}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code, journal = certified(["--state-backend", f"my_backend:{name}", "--rule", "SBK-04"], Path("my reports"))
    printed = f"holdfast certify --state-backend my_backend:{name} --rule SBK-04"
    assert code == 1
    assert f"    again: {printed}\n" in capsys.readouterr().out
    report = one_dated(tmp_path / "my reports")
    named = commands_by_file(report)
    wanted = [f"cd ../.. && {printed}"] * len(journal.findings)
    assert {file: commands == wanted for file, commands in named.items()} == dict.fromkeys(named, True), named
    done = paste(wanted[0], report)
    assert (done.returncode, "SBK-04  FAIL" in done.stdout) == (1, True), done.stderr


def test_a_command_about_a_name_that_is_known_everywhere_stays_where_it_is(tmp_path: Path) -> None:
    request = KitRequest("state-backend", "hashmap", "", seed=7)
    assert request.again("SBK-04", "../..").line_in_report() == (
        "holdfast certify --state-backend hashmap --rule SBK-04 --seed 7"
    )
    stored = KitRequest("sink", "files", "", location="file:///a b", options={"mode": "x"})
    assert stored.again("TPC-08", "../..").line_in_report() == (
        "cd ../.. && holdfast certify --sink files --location 'file:///a b' --option mode=x --rule TPC-08"
    )
    assert stored.again("TPC-08", "../..").line("out").startswith("holdfast certify --sink files")


def test_what_was_not_met_is_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, journal = certified(
        ["--state-backend", "holdfast.suites.selfcheck.certify.test_command:InlineBackend", "--area", "ASY"], tmp_path
    )
    assert (code, journal.certificate.title) == (2, Title.INCONCLUSIVE)
    assert "no run hit snapshot-overlapped-a-write" in capsys.readouterr().out


def test_an_interrupted_kit_says_so_and_passes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = KitRun.restore

    def restore(run: KitRun, check: KitCheck) -> None:
        before(run, check)
        if len(run.checks) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(KitRun, "restore", restore)
    code, journal = certified(["--state-backend", HASHMAP, "--seed", "7"], tmp_path)
    assert (code, journal.interrupted, journal.seed) == (128 + signal.SIGINT, "SIGINT", 7)
    assert journal.certificate.title is Title.INCONCLUSIVE
    assert journal.cases[0].case == "SBK-01/many-keys"
    assert Status.PASS in {each.status for each in journal.cases}
    assert not {each.status for each in journal.rules} & {Status.PASS, Status.FAIL}
    assert "SBK-01  INCONCLUSIVE    interrupted by SIGINT before all of its checks had run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reference", "--state-backend", HASHMAP], "Both SYSTEM and --state-backend are given"),
        (["--state-backend", "no.such:Backend"], "'no.such:Backend' cannot be loaded"),
        (["--state-backend", HASHMAP, "--rule", "BAR-01"], "unknown rule of the kit for state-backend 'BAR-01'"),
        (["--state-backend", HASHMAP, "--area", "BAR"], "unknown area of the kit for state-backend 'BAR'"),
        (["--state-backend", HASHMAP, "--jobs", "2"], "--jobs is for a system; a kit runs each of its checks once"),
        (["--state-backend", HASHMAP, "--budget", "1s"], "--budget is for a system"),
        (["--checkpoint-storage", "gfs://cell/path"], "'gfs://cell/path' has no known scheme; known: file://"),
        (["--checkpoint-storage", "memory://a", "--location", "file:///b"], "leave out --location"),
        (
            ["--checkpoint-storage", "memory://a", "--state-backend", "b:C"],
            "Both --state-backend and --checkpoint-storage are given",
        ),
        (["--checkpoint-storage", "memory://a", "--option", "wrong"], "--option is 'wrong'; write KEY=VALUE."),
        (["--checkpoint-storage", "memory://a", "--rule", "SBK-01"], "unknown rule of the kit for checkpoint-storage"),
        (["reference", "--location", "file:///b"], "are for --checkpoint-storage"),
    ],
)
def test_misuse_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(["certify", *arguments, "--out", str(tmp_path)]) == 3
    error = capsys.readouterr().err
    lines = [line for line in error.splitlines() if "the report goes to" not in line]
    assert len(lines) == 1
    assert sentence in lines[0]
    assert list(tmp_path.iterdir()) == []


def test_rules_name_the_kit_that_decides_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["rules", "SBK-03"]) == 0
    assert "holdfast certify --state-backend module:factory --rule SBK-03" in " ".join(capsys.readouterr().out.split())
    assert cli.execute(["rules", "STO-05"]) == 0
    wanted = "holdfast certify --checkpoint-storage module:factory --rule STO-05"
    assert wanted in " ".join(capsys.readouterr().out.split())
    assert cli.execute(["rules", "BAR-03"]) == 0
    assert "--state-backend" not in capsys.readouterr().out


OVERWRITING = f"{Overwrites.__module__}:Overwrites"


def test_a_storage_is_found_by_its_uri(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, journal = certified(
        ["--checkpoint-storage", "memory://command", "--rule", "STO-03", "--rule", "STO-10"], tmp_path
    )
    verdict, first, *_ = capsys.readouterr().out.splitlines()
    assert (code, journal.subject, journal.certificate.title) == (0, "ST", Title.PARTIAL)
    assert verdict == "PARTIAL on sim  checkpoint-storage memory://command, 6 checks"
    assert first.split() == ["STO-03", "PASS", "3", "checks"]
    statuses = {each.rule.id: each.status for each in journal.rules}
    assert (statuses["STO-10"], statuses["STO-01"]) == (Status.PASS, Status.UNTESTED)


def test_one_with_room_for_short_files_alone_is_certified(tmp_path: Path) -> None:
    """Its only check of STO-06 that applies to everything wrote a longer file."""
    code, journal = certified(
        ["--checkpoint-storage", "memory://short-files", "--option", f"{MAX_STATE}=12000", "--rule", "STO-06"], tmp_path
    )
    assert (code, journal.certificate.title) == (0, Title.PARTIAL)


def test_a_wrong_one_is_refused_and_the_line_repeats_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = (tmp_path / "place").as_uri()
    option = "execution.checkpointing.write-buffer-size=100"
    code, journal = certified(
        ["--checkpoint-storage", OVERWRITING, "--location", place, "--option", option, "--rule", "STO-02"],
        tmp_path / "out",
    )
    out = capsys.readouterr().out
    assert (code, journal.certificate.title) == (1, Title.REFUSED)
    assert "    STO-02/exclusive: commit exclusive 'name' again, token b'first' returned FileReference" in out
    again = f"holdfast certify --checkpoint-storage {OVERWRITING} --location {place} --option {option} --rule STO-02"
    assert f"    again: {again}\n" in out
    assert not list((tmp_path / "place").iterdir())
