"""The bound on how long something may last: it can fail, and goes by who shares the processors meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event

import pytest

from holdfast.suites.selfcheck import soon
from holdfast.suites.selfcheck.soon import SharedProcessor, ends_within


def test_what_lasts_too_long_fails() -> None:
    with pytest.raises(AssertionError, match=r"^it lasted .* threads to a processor"), ends_within(1e-6):
        Event().wait(0.02)


def test_what_ends_in_time_passes() -> None:
    with ends_within(60):
        pass


def test_what_fails_by_itself_says_so() -> None:
    with pytest.raises(KeyError, match="its own"), ends_within(1e-6):
        raise KeyError("its own")


@pytest.mark.parametrize(("runnable", "expected"), [(1, 1.0), (40, 40 / (os.cpu_count() or 1))])
def test_a_processor_is_shared_by_the_threads_that_could_run(
    runnable: int, expected: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = tmp_path / "loadavg"
    load.write_text(f"0.00 0.00 0.00 {runnable}/200 4711\n")
    monkeypatch.setattr(soon, "LOAD", load)
    assert SharedProcessor().close() == max(1.0, expected)
