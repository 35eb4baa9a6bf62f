"""State that somebody wants in the coordinator's memory: none of it is stored, and each handle has a limit (SBK-07)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model import events, profile
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance import plans

IN_MEMORY = {profile.STORAGE: "jobmanager", profile.INLINE_THRESHOLD: "0", **plans.TOLERANT}


def ran(options: Mapping[str, str]) -> tuple[Outcome, History]:
    run = run_plan(plans.plan(options=options), ReferenceSystem(), registry.toolbox())
    return run.outcome, run.history


def largest_bytes(history: History) -> int:
    return max(ack.inline_bytes for ack in history.of(events.AckSent))


def test_no_state_is_stored() -> None:
    outcome, history = ran(IN_MEMORY)
    assert outcome is Outcome.PASS
    assert largest_bytes(history) > 0
    assert all(not ack.files for ack in history.of(events.AckSent))
    assert any(ack.files for ack in ran({profile.INLINE_THRESHOLD: "0"})[1].of(events.AckSent))


def test_a_handle_above_the_limit_is_declined_by_name() -> None:
    fits_bytes = largest_bytes(ran(IN_MEMORY)[1])
    outcome, _ = ran({**IN_MEMORY, profile.MEMORY_LIMIT: f"{fits_bytes} b"})
    assert outcome is Outcome.PASS
    _, history = ran({**IN_MEMORY, profile.MEMORY_LIMIT: f"{fits_bytes - 1} b"})
    reasons = [declined.reason for declined in history.of(events.DeclineSent)]
    assert reasons
    assert f"has {fits_bytes} b, and {profile.MEMORY_LIMIT} allows {fits_bytes - 1} b" in reasons[-1]
