"""What a fault may cause: the closed vocabulary in which it declares that, and by which oracles excuse a system; and
what became of a planned fault."""

from __future__ import annotations

from enum import StrEnum


class Consequence(StrEnum):
    """One thing that may come of a fault, whoever it hits."""

    ENDS_PROCESS = "ends-process"
    """A process ends, and reports nothing more."""
    PAUSES_PROCESS = "pauses-process"
    """A process stands still in the middle of a step, and goes on as what it was."""
    LOSES_PROCESS = "loses-process"
    """A process is taken for lost, though it may live."""
    FAILS_PROCESS = "fails-process"
    """A process meets an error that it may end with."""
    FAILS_TASK = "fails-task"
    """A task fails, or is taken for failed, though its process may live."""
    FAILS_STORAGE = "fails-storage"
    """The store refuses what a process asks of it."""
    SLOWS_STORAGE = "slows-storage"
    """The store takes longer for what a process asks of it."""
    SLOWS_TASK = "slows-task"
    """A subtask takes longer for each batch."""
    HOLDS_UP_RECORDS = "holds-up-records"
    """Records take longer on their way, so that the buffers behind sources fill up."""
    DISTURBS_MESSAGES = "disturbs-messages"
    """Control messages are late, doubled or lost."""
    FORGES_MESSAGES = "forges-messages"
    """A process receives a forged message. The parameters `message` and `subtask` are its kind and alleged sender."""
    POISONS_INPUT = "poisons-input"
    """An operator fails by a record. The parameters `partition`, `offset` and `unrecoverable` say which, and how."""
    REQUESTS_CHECKPOINT = "requests-checkpoint"
    """A user requests a checkpoint, which must be queued or refused."""
    ENDS_JOB = "ends-job"
    """A user ends the job, which must end."""
    REQUESTS_SAVEPOINT = "requests-savepoint"
    """A user requests a savepoint, perhaps to stop the job with it."""
    MOVES_SAVEPOINT = "moves-savepoint"
    """A user moves a savepoint: it is not where it was written any more."""
    RESCALES_JOB = "rescales-job"
    """A user requires another parallelism of the job, which must go on at it."""
    BEGINS_JOB = "begins-job"
    """A user submits a job, which must run."""


ANY_FAILURE = frozenset(
    {
        Consequence.LOSES_PROCESS, Consequence.FAILS_PROCESS, Consequence.FAILS_TASK, Consequence.FAILS_STORAGE,
    }
)  # fmt: skip
"""What a fault may cause that declares nothing: whatever fails behind it has it for a cause."""


class FaultFate(StrEnum):
    """What became of a fault. The three ways to miss are separate, because each has another remedy."""

    LANDED = "landed"
    """The history proves its effect."""
    NEVER_ACTED = "never acted"
    """It was never due, or it could not act when it was."""
    TOO_LATE = "too late"
    """It acted when nothing could come of it any more, such as on a checkpoint that a newer one had replaced."""
    WITHOUT_EFFECT = "without effect"
    """It acted in time, and nothing came of it."""


FATES_IN_WORDS = {
    FaultFate.LANDED: "landed",
    FaultFate.NEVER_ACTED: "never acted",
    FaultFate.TOO_LATE: "acted too late, when nothing could come of it",
    FaultFate.WITHOUT_EFFECT: "acted, and nothing came of it",
}
"""Each as the rest of a sentence that begins with the fault."""
