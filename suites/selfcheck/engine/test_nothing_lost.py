"""Whatever breaks while a system is certified, what is finished is reported."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.harness import cli
from holdfast.harness.commands import folders, progress
from holdfast.harness.engine.artefacts.journal_file import read_journal
from holdfast.harness.engine.certification import result_log
from holdfast.harness.engine.certification.result_log import ResultLog
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model.journal import Journal, Status, Title
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify.state_backend.registered import StateBackendKit

SMALL = ("certify", "reference", "--tier", "sim", "--rule", "RST-01", "--rule", "SBK-09", "--jobs", "1", "--out")


def certified(folder: Path) -> tuple[int, Journal]:
    """Exit code and report of a certification that runs a few simulator cases and one kit."""
    code = cli.execute([*SMALL, str(folder)])
    for name in ("report.html", "junit.xml", "summary.md"):
        assert (folder / "latest" / name).stat().st_size
    return code, read_journal(folder / "latest" / "results.json")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (ValueError("a kit of somebody"), "a kit of somebody"),
        (SystemExit(0), "SystemExit: 0"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, BaseException) else "",
)
def test_a_kit_that_raises_loses_nothing(
    error: BaseException, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Iterator[KitCheck]:
        raise error

    monkeypatch.setattr(StateBackendKit, "certify", broken)
    code, journal = certified(tmp_path)
    assert code == 4
    assert {each.status for each in journal.cases} >= {Status.PASS}
    (subject,) = [each for each in journal.subjects if each.subject == "SB"]
    assert subject.title is Title.INCONCLUSIVE
    assert subject.errors
    assert any(words.lower() in sentence.lower() for sentence in subject.missing)


def test_a_kit_that_is_not_there_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate ended without a report, where a kit could not be loaded behind all runs."""

    def absent(contract: str) -> object:
        raise UsageError(f"kit {contract!r} cannot be loaded.")

    monkeypatch.setattr(registry, "kit", absent)
    code, journal = certified(tmp_path)
    assert code == 4
    assert journal.runs
    assert any("cannot be loaded" in sentence for each in journal.subjects for sentence in each.missing)


def test_a_full_disk_is_one_sentence_and_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each run that could not be stored was an error of its own, and the report came to nothing."""
    left = iter([1 << 40] * 2)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: Usage(next(left, 0)))
    code, journal = certified(tmp_path)
    assert code == 4
    assert journal.certificate.title is Title.INCONCLUSIVE
    assert sum(each.runs_passed for each in journal.cases) == 2
    errors = capsys.readouterr().err
    assert f"holdfast: the harness broke: {journal_folder(tmp_path)}: No space left on device; make room" in errors
    assert errors.count("No space left on device") == 1
    assert "Traceback" not in errors


def test_a_log_that_cannot_be_written_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ResultLog, "add", raising(OSError(errno.EIO, os.strerror(errno.EIO))))
    code, journal = certified(tmp_path)
    assert code == 4
    assert journal.runs
    assert capsys.readouterr().err.count("Input/output error") == 1


def test_each_result_is_on_disk_as_soon_as_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was on disk before the report."""
    seen: list[int] = []
    before = progress.CaseProgress.ran

    def ran(self: progress.CaseProgress, *arguments: object) -> None:
        (log,) = tmp_path.glob("*/results-0001.jsonl.gz")
        seen.append(sum(isinstance(each, result_log.LoggedRun) for each in result_log.read_log(log)))
        before(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(progress.CaseProgress, "ran", ran)
    certified(tmp_path)
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) > 1


def test_certifications_of_the_same_second_do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both chose the same free name, and the second one failed."""
    names = iter([tmp_path / "1", tmp_path / "1", tmp_path / "2"])
    monkeypatch.setattr(folders, "free_folder", lambda root: next(names))
    assert [folders.new_folder(tmp_path) for _ in range(2)] == [tmp_path / "1", tmp_path / "2"]


class Usage(NamedTuple):
    """What is left of a disk."""

    free: int


def journal_folder(out: Path) -> Path:
    """The folder of the only report."""
    return (out / "latest").resolve()


def raising(error: BaseException) -> Callable[..., object]:
    """A function that raises."""

    def function(*_: object, **__: object) -> object:
        raise error

    return function
