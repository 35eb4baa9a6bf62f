"""What a kit shows of long values holds the difference that it is about."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.excerpt import SHOWN, WHOLE, excerpt, unlike
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.model import Model

PAIRS = [(b"key-%03d" % number, b"value-%03d" % number) for number in range(100)]


def test_what_is_short_is_shown_whole() -> None:
    assert excerpt("x" * WHOLE) == "x" * WHOLE
    assert unlike([1], [2]) == ("[1]", "[2]")


def test_of_what_is_long_the_beginning_is_shown() -> None:
    assert excerpt("x" * 500) == f"{'x' * SHOWN}... (500 characters)"


@pytest.mark.parametrize("place", [0, 1, 50, 98, 99])
def test_the_first_difference_is_seen_in_both(place: int) -> None:
    wrong = [*PAIRS[:place], (PAIRS[place][0], b"wrong"), *PAIRS[place + 1 :]]
    found, wanted = unlike(wrong, PAIRS)
    assert "wrong" in found
    assert f"value-{place:03d}" in wanted
    assert f"key-{place:03d}" in found
    assert f"key-{place:03d}" in wanted


def test_one_that_ends_too_early_shows_its_end_and_what_is_missing() -> None:
    found, wanted = unlike(PAIRS[:60], PAIRS)
    assert found.partition(" (from")[0].endswith("b'value-059')]")
    assert "key-060" in wanted


def test_one_long_value_shows_the_bytes_that_differ() -> None:
    found, wanted = unlike(b"a" * 5_000 + b"X" + b"a" * 5_000, b"a" * 10_001)
    assert "aXa" in found
    assert "X" not in wanted
    assert max(len(found), len(wanted)) < SHOWN + 60


def test_what_reads_alike_is_shown_from_its_beginning() -> None:
    class Odd(str):
        def __eq__(self, other: object) -> bool:
            return False

        __hash__ = str.__hash__

    found, wanted = unlike(Odd("x" * 500), "x" * 500)
    assert found == wanted
    assert found.startswith("'xxx")


def test_a_finding_of_a_backend_names_the_difference_and_not_only_what_is_equal() -> None:
    nobody: Any = SimpleNamespace(rule="SBK-01")
    live = Live(nobody, "life0", nobody, range(1), Model())
    with pytest.raises(Violation, match=r"b'key-070', b'lost'.*; \.\.\..*b'key-070', b'value-070'.* is right\."):
        live.same("get of s", [*PAIRS[:70], (b"key-070", b"lost"), *PAIRS[71:]], PAIRS)
