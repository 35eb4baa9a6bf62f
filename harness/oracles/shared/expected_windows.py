"""Which interpretation of its windows a job has."""

from __future__ import annotations

from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.oracles.shared.ended_input import ended_input
from holdfast.harness.oracles.shared.joined_pairs import JoinedPairs
from holdfast.harness.oracles.shared.session_windows import SessionWindows
from holdfast.harness.oracles.shared.split_windows import SplitWindows
from holdfast.harness.oracles.shared.windows import JobWindows

Expected = JobWindows | SplitWindows | SessionWindows | JoinedPairs


def with_split_watermarks(history: History) -> SplitWindows | SessionWindows | JoinedPairs | None:
    """Those of a job in which each split has a watermark; None: it is none."""
    job, (inputs, over) = history.plan.job, ended_input(history)
    if job.of_kind(VertexKind.SLIDING_SUM):
        return SplitWindows(history, inputs, over=over)
    if job.of_kind(VertexKind.SESSION_SUM):
        return SessionWindows(history.plan, inputs, over=over)
    if job.of_kind(VertexKind.INTERVAL_JOIN):
        return JoinedPairs(history.plan, inputs)
    return None


def expected_windows(history: History) -> Expected:
    """Those of a job of contract WINDOW."""
    return with_split_watermarks(history) or JobWindows(history.inputs, history.plan.digest_key)
