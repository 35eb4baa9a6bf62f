"""A bound counts the time in which the machine could run everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness.engine.executor.patience import MOST_TIMES, Patience
from holdfast.harness.engine.executor.stall_trace import NoStalls
from holdfast.harness.engine.site import machine


def test_on_a_machine_that_is_free_the_bound_is_the_bound() -> None:
    assert Patience(10.5, 100, NoStalls().stalled_ms).until_ms == 111


def test_what_was_stalled_before_the_wait_is_not_granted() -> None:
    assert Patience(0, 100, lambda: 5_000.0).until_ms == 100


def test_what_is_stalled_meanwhile_is_granted_up_to_a_limit() -> None:
    stalled = [5_000.0]
    patience = Patience(0, 100, lambda: stalled[0])
    stalled[0] += 30
    assert patience.until_ms == 130
    stalled[0] += 1_000_000
    assert patience.until_ms == MOST_TIMES * 100


@pytest.mark.parametrize(
    ("content", "stalled_ms"),
    [
        ("some avg10=98.54 avg60=90.05 avg300=93.19 total=17630\nfull avg10=0.00 total=0\n", 17.63),
        ("", 0.0),
        ("full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n", 0.0),
    ],
)
@pytest.mark.parametrize("resource", ["cpu", "io"])
def test_pressure_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resource: str, content: str, stalled_ms: float
) -> None:
    (tmp_path / resource).write_text(content)
    monkeypatch.setattr(machine, "_PRESSURE", tmp_path)
    assert machine.stalled_ms() == stalled_ms


def test_a_slow_disk_is_granted_on_top_of_a_busy_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for resource, total_us in (("cpu", 2_000), ("io", 3_000)):
        (tmp_path / resource).write_text(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total_us}\n")
    monkeypatch.setattr(machine, "_PRESSURE", tmp_path)
    assert machine.stalled_ms() == 5.0


def test_a_machine_that_does_not_tell_its_pressure_is_taken_for_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_PRESSURE", tmp_path / "nothing")
    assert machine.stalled_ms() == 0.0
