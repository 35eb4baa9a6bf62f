"""Whichever report is read: it names the signal that ended the certification early, beside the title."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from holdfast.harness.engine.artefacts.journal_file import write_journal
from holdfast.harness.engine.site import registry
from holdfast.harness.model.journal import Journal
from holdfast.harness.spi.reporter import OnTerminal
from holdfast.suites.selfcheck.reports import journals

ENDED = "PARTIAL on sim, process, interrupted by SIGTERM"


@pytest.mark.parametrize("name", ["html", "junit", "ctrf", "allure", "summary"])
def test_a_report_names_the_signal_with_the_title(tmp_path: Path, name: str) -> None:
    (reporter,) = (each for each in registry.reporters(Journal) if each.name == name)
    written = reporter.render(msgspec.structs.replace(journals.partial(), interrupted="SIGTERM"), tmp_path)
    files = sorted(written.iterdir()) if written.is_dir() else [written]
    assert any(ENDED in file.read_text(encoding="utf-8") for file in files)
    reporter.render(journals.partial(), tmp_path)
    assert not any("SIGTERM" in file.read_text(encoding="utf-8") for file in files)


def test_every_reporter_is_looked_at() -> None:
    assert {each.name for each in registry.reporters(Journal)} == {"html", "junit", "ctrf", "allure", "summary"}


def test_results_and_terminal_name_it(tmp_path: Path) -> None:
    journal = msgspec.structs.replace(journals.partial(), interrupted="SIGTERM")
    write_journal(tmp_path / "results.json", journal)
    assert '"SIGTERM"' in (tmp_path / "results.json").read_text()
    console = Console(record=True, width=80, no_color=True)
    (terminal,) = registry.reporters(OnTerminal)
    terminal.render(OnTerminal(journal, console), tmp_path)
    assert console.export_text().startswith(ENDED)
