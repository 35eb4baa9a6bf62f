"""MESSAGE, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.liveness.message import MessageOracle
from holdfast.suites.selfcheck.oracles.builder import in_real_time
from holdfast.suites.selfcheck.oracles.histories.message import running, struck, taken, trigger


def test_where_messages_are_forged_nobody_need_have_sent_them() -> None:
    assert "never-sent" not in MessageOracle().judge(running(struck("forge"), taken())).checked


def test_on_a_busy_machine_a_message_may_only_be_late() -> None:
    assert "never-received" not in MessageOracle().judge(in_real_time(running(trigger()))).checked
