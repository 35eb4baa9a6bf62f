"""What is forged of the last ack of a subtask, on every driver."""

from __future__ import annotations

import pytest

from holdfast.fixtures.reference.drivers.forged_messages import forged_again, forged_decline
from holdfast.fixtures.reference.protocol.messages import (
    AcknowledgeCheckpoint,
    DeclineCheckpoint,
    NotifyCheckpoint,
    SubtaskState,
    TriggerCheckpoint,
)
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import FileReference

FILE = FileReference("checkpoints/job-0/chk-4/sum[0]-2", 3, 7)
LAST = AcknowledgeCheckpoint(2, "sum[0]", 4, SubtaskState("sum[0]", files=(FILE,), positions=((0, 9),)))


def test_a_repeated_ack_is_the_last_one() -> None:
    assert forged_again("acknowledge", LAST, {}, 1.0) == LAST


@pytest.mark.parametrize("shift", [{"attempt": -1}, {"checkpoint": 1}])
def test_a_shifted_ack_names_no_file_of_another_checkpoint(shift: dict[str, int | str]) -> None:
    forged = forged_again("acknowledge", LAST, shift, 1.0)
    assert isinstance(forged, AcknowledgeCheckpoint)
    assert (forged.state.files, forged.state.positions) == ((), ((0, 9),))


def test_the_other_messages_are_about_the_checkpoint_that_was_acked() -> None:
    shift: dict[str, int | str] = {"checkpoint": -1}
    assert forged_again("trigger", LAST, shift, 1.0) == TriggerCheckpoint(2, "sum[0]", 3, 1.0)
    assert forged_again("abort", LAST, {}, 1.0) == NotifyCheckpoint(2, "sum[0]", 4, completed=False)
    declined = DeclineCheckpoint(2, "sum[0]", 5, "forged", FailureReason.DECLINED)
    assert forged_decline("sum[0]", 2, 5, {}) == declined


def test_nothing_else_is_forged() -> None:
    with pytest.raises(ValueError, match="'ping' cannot be forged; there are acknowledge, decline, trigger, abort"):
        forged_again("ping", LAST, {}, 1.0)
