"""The mechanism of generic deviations, step by step on a master that is told what to give."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from holdfast.fixtures.mutants.deviations.deviating import LATE_MS, SPARED, deviating, lacking, partial, variant_name
from holdfast.fixtures.mutants.named import parts_of
from holdfast.fixtures.reference.protocol.effects import (
    Commit,
    Committed,
    DeleteFiles,
    Effects,
    FilesDeleted,
    SetTimer,
    StateWritten,
    StoredCheckpoint,
)
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.harness.model.deviation import Deviation


class _Scripted(Worker):
    """Gives back what it is given, and notes it."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def step(self, event: Any, now: float) -> Effects:
        self.given.append(event)
        return list(event) if isinstance(event, tuple) else []


def _wrong(step: str, deviation: Deviation, *, once: bool = False) -> Any:
    made = deviating(step, deviation, once=once).worker
    wrapper = made.__mro__[1]
    fields: dict[str, ClassVar[object]] = {"row": step, "deviation": deviation, "once": once}  # type: ignore[valid-type]
    return type("Wrong", (wrapper, _Scripted), dict(fields))()


def _commit(name: str, attempt: int = 2) -> Commit:
    return Commit(attempt, "sink[0]", name)


@pytest.mark.parametrize(
    ("deviation", "expected"),
    [
        (Deviation.MISSING, []),
        (Deviation.TWICE, ["a", "a", "b", "b"]),
        (Deviation.REORDERED, ["b", "a"]),
        (Deviation.WRONG_ID, ["a", "a"]),
        (Deviation.EARLY, ["b", "a"]),
    ],
)
def test_an_effect_is_done_wrongly(deviation: Deviation, expected: list[str]) -> None:
    wrong = _wrong("commit", deviation)
    effects = wrong.step((_commit("a"), _commit("b")), 0.0)
    assert [each.transaction for each in effects] == expected


def test_one_that_is_late_is_done_with_the_next_step_after_its_time() -> None:
    wrong = _wrong("commit", Deviation.LATE)
    assert wrong.step((_commit("a"),), 0.0) == []
    assert wrong.step((), LATE_MS - 1) == []
    assert wrong.step((), LATE_MS) == [_commit("a")]


def test_once_means_the_third_of_a_process() -> None:
    wrong = _wrong("commit", Deviation.MISSING, once=True)
    names = ["a", "b", "c", "d"]
    done = [each.transaction for each in wrong.step(tuple(map(_commit, names)), 0.0)]
    assert done == [name for place, name in enumerate(names) if place != SPARED]


def test_an_older_attempt_is_the_one_before() -> None:
    effects = _wrong("commit", Deviation.OLDER_ATTEMPT).step((_commit("a", 3), _commit("b", 1)), 0.0)
    assert [each.attempt for each in effects] == [2, 1]


def test_what_is_said_and_not_done_is_answered_at_once() -> None:
    wrong = _wrong("commit", Deviation.NOT_DONE)
    assert wrong.step((_commit("a"),), 0.0) == []
    assert wrong.given[-1] == Committed(2, "sink[0]", "a", already=False)


def test_an_event_is_changed_before_the_step() -> None:
    wrong = _wrong("files-deleted", Deviation.TWICE)
    wrong.step(FilesDeleted(1), 0.0)
    assert wrong.given == [FilesDeleted(1), FilesDeleted(1)]


def test_a_timer_is_set_too_far_or_too_near() -> None:
    late = _wrong("timer-trigger", Deviation.LATE).step((SetTimer("trigger", 1, 30.0), SetTimer("expiry", 1, 30.0)), 20)
    assert [each.at_ms for each in late] == [70.0, 30.0]


def test_a_part_is_all_but_the_last_or_half_of_the_bytes() -> None:
    assert partial(DeleteFiles(("a", "b"))) == DeleteFiles(("a",))
    assert partial(StateWritten(1, "sum[0]", 1, (("chk-1/sum-0", b"abcd"),), ())).inline == ()
    assert partial(StoredCheckpoint(1, "chk-1/_metadata", b"abcd")).content == b"ab"


def test_what_a_step_lacks_is_said() -> None:
    assert lacking("commit", Deviation.WRONG_CONTENT)
    assert not lacking("commit", Deviation.WRONG_ID)


def test_variants_are_found_by_name() -> None:
    name = variant_name("commit", Deviation.NOT_DONE, once=True)
    assert name == "said-but-not-done-commit-once"
    assert parts_of(name).name == name
    with pytest.raises(ValueError, match="unknown"):
        parts_of("missing-nothing")
