"""The evidence that a system tells is looked at whenever it is another than before."""

from __future__ import annotations

from typing import Any, cast

import pytest

from holdfast.harness.engine.site.answers import evidence_of
from holdfast.harness.engine.site.foreign import WrongAnswer
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.spi.system import System


class Telling:
    """As much of a system as is asked."""

    def __init__(self, supplied: dict[Any, Any]) -> None:
        self.supplied = supplied

    def evidence(self) -> dict[Any, Any]:
        return self.supplied


def _asked(system: Telling) -> object:
    return evidence_of(cast("System", system))


def test_an_equal_answer_of_the_same_system_is_right() -> None:
    system = Telling({"input_read": Evidence.NATIVE})
    assert _asked(system) is _asked(system) is system.supplied


@pytest.mark.parametrize(("kind", "value"), [("input_read", "some"), ("other", "native"), (1, Evidence.NATIVE)])
def test_an_answer_that_has_become_wrong_is_refused(kind: object, value: object) -> None:
    system = Telling({"input_read": Evidence.NATIVE})
    _asked(system)
    system.supplied[kind] = value
    with pytest.raises(WrongAnswer, match="evidence"):
        _asked(system)


def test_another_answer_is_not_taken_for_an_equal_one() -> None:
    _asked(Telling({"input_read": Evidence.NATIVE}))
    with pytest.raises(WrongAnswer, match="evidence"):
        _asked(Telling({"input_read": "native"}))
