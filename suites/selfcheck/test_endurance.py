"""What the endurance benchmark makes of its samples: growth is seen, and neighbours on the machine are not growth."""

from __future__ import annotations

from math import sin

import pytest

from holdfast.suites.bench.endurance import BOUNDS, growth_percent

STEADY = [200 + 5 * sin(number) for number in range(100)]


@pytest.mark.parametrize(
    ("series", "checkpoints", "growth"),
    [
        (STEADY, 10_000, 0.0),
        ([value + number for number, value in enumerate(STEADY)], 10_000, 39.1),
        ([value + number for number, value in enumerate(STEADY)], 5_000, 78.3),
        ([value - number for number, value in enumerate(STEADY)], 10_000, -68.9),
        ([1_000.0 * (number < 10) + value for number, value in enumerate(STEADY)], 10_000, 0.0),
        ([value * (3 if number % 10 == 0 else 1) for number, value in enumerate(STEADY)], 10_000, 0.0),
    ],
)
def test_growth_is_that_of_most_samples(series: list[float], checkpoints: int, growth: float) -> None:
    assert growth_percent(series, checkpoints) == pytest.approx(growth, abs=0.5)


def test_a_file_left_by_each_hundredth_checkpoint_is_beyond_the_bound() -> None:
    files = [20.0 + number for number in range(100)]
    assert growth_percent(files, 10_000) > BOUNDS["files"]
