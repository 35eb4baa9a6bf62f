"""What holds for every reporter: it writes one thing, whole, the same for equal journals, whatever the journal says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from holdfast.harness.model.journal import Journal, Title
from holdfast.harness.spi.reporter import AnyReporter
from holdfast.reports import files
from holdfast.reports.allure import AllureReporter
from holdfast.reports.ctrf import CtrfReporter
from holdfast.reports.html import HtmlReporter
from holdfast.reports.junit import JunitReporter
from holdfast.reports.summary import SummaryReporter
from holdfast.suites.selfcheck.reports import journals

REPORTERS: tuple[Callable[[], AnyReporter], ...] = (
    HtmlReporter,
    JunitReporter,
    CtrfReporter,
    AllureReporter,
    SummaryReporter,
)
JOURNALS = (journals.with_parts, journals.refused, journals.hostile, journals.empty, journals.side_by_side)

every_reporter = pytest.mark.parametrize("reporter", REPORTERS)


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a report by name."""
    if path.is_dir():
        return {each.name: each.read_bytes() for each in sorted(path.iterdir())}
    return {path.name: path.read_bytes()}


@every_reporter
@pytest.mark.parametrize("journal", JOURNALS)
def test_equal_journals_give_equal_bytes(
    reporter: Callable[[], AnyReporter], journal: Callable[[], Journal], tmp_path: Path
) -> None:
    written = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        path = reporter().render(journal(), folder)
        assert path == folder / reporter().writes
        assert [each.name for each in folder.iterdir()] == [reporter().writes]
        written.append(contents(path))
    assert written[0] == written[1]


@every_reporter
@pytest.mark.parametrize("journal", [journals.partial, journals.refused])
def test_a_journal_read_back_from_results_json_gives_the_same_report(
    reporter: Callable[[], AnyReporter], journal: Callable[[], Journal], tmp_path: Path
) -> None:
    stored = msgspec.json.decode(msgspec.json.encode(journal()), type=Journal)
    (tmp_path / "stored").mkdir()
    assert contents(reporter().render(stored, tmp_path / "stored")) == contents(reporter().render(journal(), tmp_path))


@every_reporter
def test_an_earlier_report_is_replaced_as_a_whole(reporter: Callable[[], AnyReporter], tmp_path: Path) -> None:
    reporter().render(journals.refused(), tmp_path)
    path = reporter().render(journals.partial(), tmp_path)
    (tmp_path / "fresh").mkdir()
    assert contents(path) == contents(reporter().render(journals.partial(), tmp_path / "fresh"))


@every_reporter
def test_a_failed_write_leaves_the_earlier_report_and_no_litter(
    reporter: Callable[[], AnyReporter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(reporter().render(journals.partial(), tmp_path))

    def full(content: str) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_encode", full)
    with pytest.raises(OSError, match="No space left"):
        reporter().render(journals.refused(), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == [reporter().writes]
    assert contents(tmp_path / reporter().writes) == before


@every_reporter
@pytest.mark.parametrize("journal", [journals.partial, journals.refused])
def test_only_a_full_certificate_is_called_one(
    reporter: Callable[[], AnyReporter], journal: Callable[[], Journal], tmp_path: Path
) -> None:
    # Two rules speak of certified sources; whatever else says it would be the report itself.
    rules = tuple(result for result in journal().rules if "certif" not in result.rule.text)
    written = contents(reporter().render(msgspec.structs.replace(journal(), rules=rules), tmp_path))
    assert journal().certificate.title is not Title.CERTIFIED
    assert not any(b"certified" in content.lower() for content in written.values())


@every_reporter
def test_the_title_is_shown_with_its_tiers(reporter: Callable[[], AnyReporter], tmp_path: Path) -> None:
    text = b"".join(contents(reporter().render(journals.partial(), tmp_path)).values()).decode()
    assert "partial on sim, process" in text.lower()


@every_reporter
def test_every_failure_comes_with_its_replay_line(reporter: Callable[[], AnyReporter], tmp_path: Path) -> None:
    text = b"".join(contents(reporter().render(journals.refused(), tmp_path)).values()).decode()
    assert re.search("holdfast replay (2026-11-20-020004/)?runs/barriers-alignment-sim-0040", text)
    assert "58 of 305 runs" in text
    assert "sum[0] took its snapshot for checkpoint 3: 1,217 records, expected 1,216" in text.replace("\\", "")
