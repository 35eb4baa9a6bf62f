"""MESSAGE, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.liveness.message import MessageOracle
from holdfast.suites.selfcheck.oracles.builder import at, injected, story
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import attempt, tasks, trigger_received, trigger_sent


def test_where_messages_are_forged_nobody_need_have_sent_them() -> None:
    assert (
        "never-sent"
        not in MessageOracle()
        .judge(
            story(
                attempt(),
                tasks(*SUBTASKS),
                at("harness", injected("forge", "worker[1]")),
                trigger_received("source[1]"),
            )
        )
        .checked
    )


def test_on_a_busy_machine_a_message_may_only_be_late() -> None:
    assert (
        "never-received"
        not in MessageOracle()
        .judge(story(attempt(), tasks(*SUBTASKS), trigger_sent("source[1]"), real_time=True))
        .checked
    )
