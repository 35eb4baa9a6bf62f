"""Histories for REACH: a checkpoint of one state file and its metadata."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.lines import (
    aborted,
    ack_sent,
    completed,
    deleted,
    died,
    dropped,
    listed,
    published,
    written,
)

STATE, METADATA = events.FileReference("chk-1/sum-0", 10, 7), events.FileReference("chk-1/_metadata", 20, 8)
SHORTER = events.FileReference("chk-1/sum-0", 9, 7)


def stored(*, completes: bool = True) -> list[Line]:
    """Checkpoint 1 with its two files, completed or given up after its publication."""
    end: events.Event = completed()
    if not completes:
        end = aborted(1, "publication failed")
    return [
        written(STATE),
        ack_sent("sum[0]", 1, STATE),
        written(METADATA),
        published(1, METADATA, STATE, path=METADATA.path),
        end,
    ]


OUTDATED: list[Line] = [completed(2), dropped(1)]
"""Checkpoint 1 makes room for a newer one."""


bad, near = exhibits("REACH")

bad("file-missing", "deleted while retained", stored(), deleted(STATE))
bad("file-missing", "deleted before dropped", stored(), deleted(STATE), OUTDATED)
bad("file-missing", "deleted by a worker", stored(), OUTDATED, deleted(STATE, by="worker-0.0"))
bad("file-missing", "deleted behind undecided publication", stored(completes=False), deleted(STATE))
bad("file-missing", "not in the storage", stored(), listed(METADATA))
near("file-missing", "deleted after dropped", stored(), OUTDATED, deleted(STATE), deleted(METADATA), listed())
near("file-missing", "withdrawn metadata first", stored(completes=False), deleted(METADATA), deleted(STATE))

bad("file-differs", "written with other checksum", written(events.FileReference("chk-1/sum-0", 10, 1)), *stored()[1:])
bad("file-differs", "stored shorter", stored(), listed(SHORTER, METADATA))
bad("file-differs", "overwritten later", stored(), written(SHORTER))
near("file-differs", "stored as written", stored(), listed(STATE, METADATA))
TWO_RETAINED = {"execution.checkpointing.num-retained": "2"}


bad("dropped-too-early", "the latest is dropped", stored(), dropped(1))
bad("dropped-too-early", "dropped before the newer completes", stored(), dropped(1), completed(2))
bad("dropped-too-early", "the second of two is dropped", stored(), OUTDATED, options=TWO_RETAINED)
bad(
    "dropped-too-early", "dropped for one that is aborted",
    stored(), published(2), aborted(2, "publication failed"), dropped(1),
)  # fmt: skip
near("dropped-too-early", "dropped for the newer", stored(), OUTDATED)
near(
    "dropped-too-early", "the third of two is dropped",
    stored(), [completed(checkpoint) for checkpoint in (2, 3)], dropped(1), options=TWO_RETAINED,
)  # fmt: skip
near(
    "dropped-too-early", "new coordinator drops for what it finds",
    stored(), died("coordinator", "killed"), published(2), dropped(1),
)  # fmt: skip
