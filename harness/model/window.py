"""Windows: situations of a system that a run must have brought about before it shows anything.

A guarantee that was never put to the test did not pass. A case names the windows that its runs must have hit in the
system under test; one that no run hit makes the case inconclusive.
"""

from __future__ import annotations

from enum import StrEnum


class Window(StrEnum):
    """A situation that only faults bring about."""

    RESTORED_STATE = "restored-state"
    READ_AGAIN = "read-again"
    SENT_AGAIN = "sent-again"
    SENT_WITH_NEW = "sent-with-new"
    RESTARTED_EMPTY = "restarted-empty"
    TRANSACTION_IN_DOUBT = "transaction-in-doubt"
    OVERTAKING = "overtaking"
    RESTORED_IN_FLIGHT = "restored-in-flight"
    RESTART_STRUCK = "restart-struck"
    REGION_RESTARTED = "region-restarted"
    REGION_STRUCK = "region-struck"
    BUILT_ON_SNAPSHOT = "built-on-snapshot"
    RESCALED = "rescaled"
    RESCALED_PENDING = "rescaled-pending"
    RESCALE_STRUCK = "rescale-struck"
    RESCALE_CUT_CHECKPOINT = "rescale-cut-checkpoint"


MEANINGS = {
    Window.RESTORED_STATE: "a life began from state that an earlier one had persisted",
    Window.READ_AGAIN: "records behind the restored position were read again",
    Window.SENT_AGAIN: "records that the restored state holds already were sent again",
    Window.SENT_WITH_NEW: "one batch held records that the restored state holds and others that it lacks",
    Window.RESTARTED_EMPTY: "a life began empty after an earlier one had read input",
    Window.TRANSACTION_IN_DOUBT: "a process died between the pre-commit of a transaction and its outcome",
    Window.OVERTAKING: "a barrier overtook records, which were stored with the checkpoint",
    Window.RESTORED_IN_FLIGHT: "records that were in flight at a checkpoint were restored with it",
    Window.RESTART_STRUCK: "a process died between a failure and the end of the restart from it",
    Window.REGION_RESTARTED: "a region of the job restarted alone, while another went on",
    Window.REGION_STRUCK: "after a region had restarted alone, a failure came before the next checkpoint was complete",
    Window.BUILT_ON_SNAPSHOT: "a checkpoint named files of the snapshot from which its job had begun",
    Window.RESCALED: "a running job went on from a checkpoint of another parallelism",
    Window.RESCALED_PENDING: "a running job went on at another parallelism with transactions that were to be committed",
    Window.RESCALE_STRUCK: "a process died between the request of a parallelism and the time when all tasks ran at it",
    Window.RESCALE_CUT_CHECKPOINT: "a checkpoint under way was aborted because the job was rescaled",
}
"""By window, when a run hits it."""

REMEDIES = {
    Window.RESTORED_STATE: "persist state earlier, or let input arrive for longer",
    Window.READ_AGAIN: "read input before the next checkpoint completes, or let input arrive for longer",
    Window.SENT_AGAIN: "acknowledge input only after it is persisted, or let input arrive for longer",
    Window.SENT_WITH_NEW: "acknowledge input only after it is persisted, or let input arrive for longer",
    Window.RESTARTED_EMPTY: "persist nothing before input arrives, or kill the process earlier",
    Window.TRANSACTION_IN_DOUBT: "aim a kill between pre-commit and commit, or let output arrive for longer",
    Window.OVERTAKING: "let records queue in front of a slow task when a checkpoint begins",
    Window.RESTORED_IN_FLIGHT: "kill a process after a checkpoint whose barriers overtook records",
    Window.RESTART_STRUCK: "kill another process at the event failure_counted",
    Window.REGION_RESTARTED: "kill one worker of a job of several regions",
    Window.REGION_STRUCK: "kill a second worker soon after a region restarted alone",
    Window.BUILT_ON_SNAPSHOT: "claim a checkpoint with increments, and let another one complete",
    Window.RESCALED: "require another parallelism of the running job after a checkpoint",
    Window.RESCALED_PENDING: "require another parallelism right after a checkpoint of a job with two-phase commit",
    Window.RESCALE_STRUCK: "kill a process at the event rescale_accepted",
    Window.RESCALE_CUT_CHECKPOINT: "require another parallelism at the event checkpoint_triggered",
}
"""By window, what would hit it."""


def missed_in_words(window: str) -> str:
    """One clause that names a window that no run hit, and what would hit it."""
    if window not in MEANINGS:
        return f"no run hit {window}"
    known = Window(window)
    return f"no run hit {known}, in which {MEANINGS[known]}; what would hit it: {REMEDIES[known]}"
