"""Local recovery: when local copies of state lie on the disks of workers, and what a restore makes of them."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.picture import DrawnCopy, DrawnRestore, LocalRecoveryPicture

_MILLISECOND_NS = 1_000_000
MARGIN_MS = 120.0
"""Before the first restore and behind the last."""


def local_recovery_picture(history: History) -> LocalRecoveryPicture | None:
    """Around the first restores."""
    used: list[events.LocalCopyUsed | events.LocalCopyRefused] = [
        *history.of(events.LocalCopyUsed),
        *history.of(events.LocalCopyRefused),
    ]
    written = history.of(events.LocalCopyWritten)
    if not used or not written:
        return None
    start_ns = min(event.time_ns for event in history.events)

    def at_ms(event: events.Event) -> float:
        return (event.time_ns - start_ns) / _MILLISECOND_NS

    restores = tuple(
        DrawnRestore(
            event.subtask,
            event.checkpoint,
            at_ms(event),
            isinstance(event, events.LocalCopyUsed),
            event.reason if isinstance(event, events.LocalCopyRefused) else "",
        )
        for event in sorted(used, key=lambda each: each.time_ns)
    )
    first_ms, last_ms = max(restores[0].at_ms - MARGIN_MS, 0.0), restores[-1].at_ms + MARGIN_MS
    ends: dict[str, tuple[float, str]] = {}
    for pruned in history.of(events.LocalCopiesPruned):
        for path in pruned.paths:
            ends.setdefault(path, (at_ms(pruned), ""))
    for spoilt in history.of(events.LocalCopySpoilt):
        ends.update({path: (at_ms(spoilt), spoilt.way) for path in spoilt.paths})
    copies = tuple(
        DrawnCopy(event.subtask, event.checkpoint, at_ms(event), *ends.get(event.path, (last_ms, "")))
        for event in written
    )
    deaths = tuple(
        (at_ms(event), event.dead_node.rpartition(".")[0])
        for event in history.of(events.NodeDied)
        if first_ms <= at_ms(event) <= last_ms
    )
    return LocalRecoveryPicture(
        "local-recovery",
        "Local copies of state, and what is restored from them",
        first_ms,
        last_ms,
        tuple(sorted({event.subtask for event in written})),
        tuple(copy for copy in copies if copy.end_ms >= first_ms and copy.start_ms <= last_ms),
        restores,
        deaths,
    )
