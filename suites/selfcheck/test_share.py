"""Of the arguments of a test some are asked in `.ci/run`, the others by night."""

from __future__ import annotations

import pytest


@pytest.mark.share(3)
@pytest.mark.parametrize("number", range(7))
def test_the_first_of_every_three_is_asked_by_day(number: int, request: pytest.FixtureRequest) -> None:
    """Counted are those that were collected: of one alone it shows nothing."""
    by_night = request.node.get_closest_marker("nightly") is not None
    assert by_night is (number not in (0, 3, 6))
