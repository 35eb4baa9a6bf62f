"""When a query has finished a micro-batch, the driver program reports it: by then its checkpoint is there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.fixtures.systems.structured_streaming.driver import progressed

RAN = {"batchId": 0, "durationMs": {"addBatch": 120, "triggerExecution": 150}}
IDLE = {"batchId": 1, "durationMs": {"latestOffset": 2, "triggerExecution": 2}}


@pytest.mark.parametrize(
    ("reports", "expected"),
    [([], False), ([IDLE], False), ([RAN], True), ([RAN, IDLE, IDLE], True)],
    ids=["nothing", "idle from the start", "the only one", "idle behind the only one"],
)
def test_a_query_has_progressed_once_it_has_run_a_micro_batch(reports: list[dict[str, Any]], *, expected: bool) -> None:
    query = cast("Any", SimpleNamespace(recentProgress=reports))
    assert progressed(query) is expected
