"""Lines of stories about a coordinator, over the forward job with one subtask of each vertex."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.suites.selfcheck.oracles.builder import Line
from holdfast.suites.selfcheck.oracles.lines import (
    acked,
    completed,
    published,
    told,
    triggered,
)

ALL = ("source[0]", "map[0]", "sink[0]")
FILE = events.FileReference("chk-1/source", 10, 7)
SHORT = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.timeout": "200 ms"}
TWO_AT_ONCE = {
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.max-concurrent-checkpoints": "2",
}


def whole(checkpoint: int) -> list[Line]:
    """A checkpoint as it should be."""
    return [
        triggered(checkpoint, *ALL),
        *acked(checkpoint, *ALL),
        published(checkpoint),
        completed(checkpoint),
        *told(checkpoint, *ALL),
    ]
