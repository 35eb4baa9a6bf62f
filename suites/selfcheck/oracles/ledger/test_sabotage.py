"""A field of the ledger that is wrong turns an exhibit red, in each way that its readers could notice."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from holdfast.suites.selfcheck.oracles.builder import EXHIBITS
from holdfast.suites.selfcheck.oracles.ledger.sabotage import (
    FIELDS,
    READINGS,
    SPOILS,
    Field,
    Readers,
    Spoil,
    readers,
    replaced,
    spoilt,
)
from holdfast.suites.selfcheck.oracles.test_exhibits import judged_wrongly


@pytest.fixture(scope="module")
def reading() -> dict[Field, Readers]:
    return readers()


def test_each_field_is_read_and_promises_no_more_than_what_is_read(reading: Mapping[Field, Readers]) -> None:
    most = {field: max(found.read, key=READINGS.index, default="nothing") for field, found in reading.items()}
    assert most == {field: field.reading for field in FIELDS}


@pytest.mark.parametrize(
    ("field", "spoil"),
    [pytest.param(field, spoil, id=f"{field}-{spoil.__name__}") for field in FIELDS for spoil in SPOILS[field.reading]],
)
def test_a_field_that_is_wrong_turns_an_exhibit_red(
    field: Field, spoil: Spoil, reading: Mapping[Field, Readers]
) -> None:
    with replaced(field, spoilt(spoil)):
        assert any(judged_wrongly(EXHIBITS[name]) for name in sorted(reading[field].exhibits))
