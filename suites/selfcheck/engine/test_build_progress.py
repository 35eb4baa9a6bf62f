"""What a log shows while images are built: each step, and a line at least every half minute."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from holdfast.harness.commands.build_progress import LINE_EVERY_S, BuildProgress
from holdfast.harness.commands.console import plain


class Log:
    """A log file, with a clock that stands until it is moved."""

    def __init__(self) -> None:
        self.file = io.StringIO()
        self.now_s = 100.0
        self.progress = BuildProgress(plain(self.file, width=200), ["base", "spark"], lambda: self.now_s)

    @property
    def lines(self) -> list[str]:
        return self.file.getvalue().splitlines()


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    with made.progress:
        yield made


def test_each_image_has_its_number_and_each_step_a_line_with_the_time(log: Log) -> None:
    log.progress("base", "pull Debian trixie")
    log.now_s += 5
    log.progress("spark", "Step 1/9 : FROM base")
    log.progress("spark", " ---> 0123")
    log.now_s += 12
    log.progress("spark", "Step 2/9 : RUN apt-get install")
    assert log.lines == [
        "image 1 of 2 base, 0 s: pull Debian trixie",
        "image 2 of 2 spark, 0 s: step 1/9, FROM base",
        "image 2 of 2 spark, 12 s: step 2/9, RUN apt-get install",
    ]


def test_a_build_that_shows_no_step_for_long_is_named_again(log: Log) -> None:
    log.progress("spark", "Step 1/9 : RUN mvn")
    log.now_s += LINE_EVERY_S - 1
    log.progress("spark", "Downloaded half")
    log.progress.remind()
    assert len(log.lines) == 1
    log.now_s += 1
    log.progress.remind()
    log.progress.remind()
    assert log.lines[1:] == ["image 1 of 2 spark, 30 s: step 1/9, Downloaded half"]


def test_what_is_over_is_not_named_again(log: Log) -> None:
    log.progress("base", "import")
    log.progress("base", "Successfully tagged holdfast-base:1")
    log.now_s += 10 * LINE_EVERY_S
    log.progress.remind()
    assert len(log.lines) == 2


def test_an_image_that_nobody_expected_is_counted(log: Log) -> None:
    for name in ("base", "spark", "kafka"):
        log.progress(name, "Step 1/2 : FROM base")
    assert log.lines[-1].startswith("image 3 of 3 kafka")


def test_words_of_a_build_are_no_markup(log: Log) -> None:
    log.progress("base", "[bold]not markup[/bold]")
    assert log.lines == ["image 1 of 2 base, 0 s: [bold]not markup[/bold]"]
