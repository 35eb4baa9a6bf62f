"""The check of README's two command lines, on lines and reports that it must refuse.

The lines are run in a folder of this machine, by commands of ours in the place of pip, holdfast and pytest: what is on
trial is the check, `.ci/bare`, and not what the lines do.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from holdfast.harness.commands.reports import write_reports
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal, TierReport, Title
from holdfast.suites.selfcheck.reports import journals
from holdfast.suites.selfcheck.source_files import ROOT
from holdfast.suites.selfcheck.started import Started

FIRST = re.compile(r"^(\$ pip install -e '\.\[spark\]' && holdfast certify reference)$", re.MULTILINE)
SECOND = re.compile(r"^(\$ pip install -e '\.\[all\]' && pytest suites/)$", re.MULTILINE)
CERTIFY = """
[ "$*" = "certify reference" ] || { echo "no such command: $*"; exit 3; }
mkdir -p holdfast-out
echo again >>holdfast-out/calls
rm -rf holdfast-out/latest
cp -r "$REPORTS/$(wc -l <holdfast-out/calls)" holdfast-out/latest
cat "$REPORTS/$(wc -l <holdfast-out/calls)-heading"
"""
"""Takes the first report, then the second: without Java, and with it."""


def with_spark(journal: Journal, title: Title, *, there: bool) -> Journal:
    """The journal of a machine that has Java, or has not."""
    reason = "" if there else "needs Java 17 or 21 (Debian: apt install openjdk-17-jre-headless)"
    others = [each for each in journal.tiers if each.tier is not Tier.SPARK]
    tiers = (Tier.SIM, Tier.PROCESS, *([Tier.SPARK] if there else []))
    card = msgspec.structs.replace(journal.certificate, title=title, tiers=tiers)
    return msgspec.structs.replace(journal, certificate=card, tiers=(*others, TierReport(Tier.SPARK, there, reason)))


class Reader:
    """Somebody who follows a README.

    Args:
        folder: for everything.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "holdfast"
        self.reports = folder / "reports"
        self.title = Title.CERTIFIED
        self.document = (ROOT / "README.md").read_text(encoding="utf-8")
        self._programs = folder / "bin"
        for each in (self.checkout, self.reports, self._programs):
            each.mkdir()
        self.program("pip", "")
        self.program("holdfast", CERTIFY)
        self.program("pytest", 'echo "== 11,068 passed in 340.12s (0:05:40) =="; echo "2 passed in 1.00s"')

    def program(self, name: str, text: str) -> None:
        """Put a script of the shell in the place of a command."""
        path = self._programs / name
        path.write_text(f"#!/usr/bin/env bash\n{text}\n")
        path.chmod(0o755)

    def write_reports(self) -> None:
        for name, there in (("1", False), ("2", True)):
            (self.reports / name).mkdir(exist_ok=True)
            journal = with_spark(journals.partial(), self.title, there=there)
            write_reports(journal, self.reports / name, Console(quiet=True))
            (self.reports / f"{name}-heading").write_text(f"{journal.certificate.heading}  reference, 9 runs\n")

    def follows(self, *arguments: str) -> tuple[int, str]:
        """Exit code and words of the check."""
        with self.begins(*arguments) as begun:
            text, _ = begun.communicate()
        return begun.returncode, text

    def begins(self, *arguments: str) -> Started:
        """The check, under way."""
        (self.checkout / "README.md").write_text(self.document, encoding="utf-8")
        words = [
            sys.executable,
            str(ROOT / ".ci/bare/first_ten_minutes.py"),
            "--machine",
            "this",
            "--checkout",
            str(self.checkout),
        ]
        present = os.environ  # noqa: TID251 - those of whoever runs the tests
        environment = {**present, "PATH": f"{self._programs}:{present['PATH']}", "REPORTS": str(self.reports)}
        environment["TMPDIR"] = str(self.reports.parent)  # One that is killed leaves something there.
        return Started(*words, *arguments, env=environment, stderr=subprocess.STDOUT)


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    made = Reader(tmp_path)
    made.write_reports()
    return made


def test_the_lines_of_the_readme_are_found_and_run(reader: Reader) -> None:
    code, text = reader.follows()
    assert code == 0, text
    assert FIRST.search(reader.document)
    assert SECOND.search(reader.document)
    assert "without Java: $ pip install -e '.[spark]' && holdfast certify reference" in text
    assert "with Java, no network: $ holdfast certify reference" in text
    assert "the tests: $ pip install -e '.[all]' && pytest suites/" in text
    assert text.count("behind the install ") == 4  # Each of the two whole lines, as it ran and in the table.


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        pytest.param(FIRST, "", "README.md has 1 lines that begin with", id="one-line"),
        pytest.param(FIRST, r"\1\n\1", "README.md has 3 lines that begin with", id="three-lines"),
        pytest.param(SECOND, "$ pip install -e '.[all]'", "each with one '&&'", id="no-test-run"),
        pytest.param(FIRST, "$ pip install -e . && holdfast doctor", "holdfast certify ...", id="no-certificate"),
    ],
)
def test_a_readme_without_its_lines_is_refused(reader: Reader, line: re.Pattern[str], instead: str, said: str) -> None:
    reader.document = line.sub(instead, reader.document)
    code, text = reader.follows()
    assert code == 3, text
    assert said in text


def spoil(name: str, text: str | None) -> Callable[[Reader], None]:
    """Write something else into a file of the second report; None: remove it."""

    def act(reader: Reader) -> None:
        path = reader.reports / "2" / name
        path.unlink() if text is None else path.write_text(text)

    return act


def rewrite(line: re.Pattern[str], instead: str) -> Callable[[Reader], None]:
    """Change a line of the README."""

    def act(reader: Reader) -> None:
        reader.document = line.sub(instead, reader.document)

    return act


def replace(name: str, text: str) -> Callable[[Reader], None]:
    """Change what a command does."""
    return lambda reader: reader.program(name, text)


def titled(title: Title) -> Callable[[Reader], None]:
    """Give the reports another title."""

    def act(reader: Reader) -> None:
        reader.title = title
        reader.write_reports()

    return act


def misprinted(reader: Reader) -> None:
    (reader.reports / "2-heading").write_text("CERTIFIED on sim, process  reference, 9 runs\n")


def no_spark(reader: Reader) -> None:
    (reader.reports / "2" / "results.json").write_bytes((reader.reports / "1" / "results.json").read_bytes())


@pytest.mark.share(7)
@pytest.mark.parametrize(
    ("act", "said"),
    [
        pytest.param(rewrite(FIRST, r"\1 --nonsense"), "exit code 3, not 0", id="command-fails"),
        pytest.param(replace("pip", "exit 1"), "exit code 1, not 0", id="install-fails"),
        pytest.param(spoil("report.html", None), "report.html of the report: [Errno 2]", id="no-page"),
        pytest.param(spoil("report.html", "<html><body>"), "does not end as a page", id="half-a-page"),
        pytest.param(spoil("results.json", '{"version": '), "results.json of the report: ", id="half-a-result"),
        pytest.param(spoil("junit.xml", "<testsuites>"), "junit.xml of the report: ", id="half-a-junit"),
        pytest.param(spoil("summary.md", ""), "summary.md of the report: it is empty", id="empty-summary"),
        pytest.param(titled(Title.REFUSED), "the title is REFUSED, not CERTIFIED", id="refused"),
        pytest.param(titled(Title.PARTIAL), "the title is PARTIAL, not CERTIFIED", id="partial"),
        pytest.param(misprinted, "begins with 'CERTIFIED on sim, process, spark'", id="other-tiers-printed"),
        pytest.param(no_spark, "tier spark was left out", id="tier-left-out"),
        pytest.param(replace("holdfast", f"{CERTIFY}\nsleep 60 &"), "left behind: sleep 60", id="process"),
        pytest.param(replace("holdfast", f"{CERTIFY}\nsetsid sleep 61 &"), "left behind: sleep 61", id="daemon"),
        pytest.param(
            replace("holdfast", f'{CERTIFY}\nmkdir "$TMPDIR/holdfast-x"'), "tmp/holdfast-x", id="temporary-folder"
        ),
        pytest.param(replace("holdfast", f"{CERTIFY}\nkill -9 $$"), "exit code 137, not 0", id="killed"),
    ],
)
def test_a_first_line_that_breaks_its_promise_is_noticed(
    reader: Reader, act: Callable[[Reader], None], said: str
) -> None:
    act(reader)
    code, text = reader.follows("--only", "first")
    assert code == 1, text
    assert said in text


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("echo '1 failed, 2 passed in 3.00s'; exit 1", "exit code 1, not 0"),
        ("echo 'no tests ran in 0.01s'", "pytest does not say that a test passed"),
    ],
)
def test_tests_that_fail_are_noticed(reader: Reader, tests: str, said: str) -> None:
    reader.program("pytest", tests)
    code, text = reader.follows("--only", "second")
    assert code == 1, text
    assert f"NOT as promised: {said}" in text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_line_ends_with_the_check_that_runs_it(number: int, reader: Reader) -> None:
    """Its processes lose their end of a pipe."""
    pipe = reader.folder / "pipe"
    os.mkfifo(pipe)
    reader.program("holdfast", f"exec 9>{pipe}; echo begun >&9; exec sleep 63")
    with reader.begins("--only", "first") as begun, pipe.open() as held:
        assert held.readline() == "begun\n"
        begun.send_signal(number)
        assert held.read() == ""
        begun.communicate()
    assert begun.returncode == (143 if number == signal.SIGTERM else -number)
