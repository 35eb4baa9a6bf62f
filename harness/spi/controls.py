"""How the harness lays hands on a system: the verbs that faults are written in."""

from __future__ import annotations

from holdfast.harness.model.message_contract import Disturbance
from holdfast.harness.model.plan import Gate
from holdfast.harness.model.target import Target

FORWARD, BACKWARD, BOTH = "forward", "backward", "both"
"""Directions of a link: from sender to receiver, or from the accused to a service; the other way; both."""
Detail = str | int | tuple[int, int, bool]
"""What tells a fault from others of its kind on the same thing."""
PARTS = ("executor", "python-worker", "container")
"""Processes of a worker, where it has several."""


class Controls:
    """Implemented in part by the simulator, the process driver, Spark and containers.

    An implementation derives from this class and leaves out the verbs that its system lacks: they raise
    NotImplementedError. A case that needs one declares the capability instead of finding out. Every verb acts at once
    and returns when it has acted (on real tiers: when the kernel or the relay confirmed it). Targets are those of the
    plan; an unknown target raises ValueError naming it. Verbs may be called from the engine's thread only, between two
    calls of `Deployment.advance`.
    """

    def kill(self, target: Target, part: str = "") -> None:
        """End a worker or the coordinator from outside, as SIGKILL does. Its environment starts it again by itself.

        Args:
            target: whom.
            part: which process of it, where it has several: one of PARTS; empty: the one that all others die with.
        """
        raise NotImplementedError

    def pause(self, target: Target, part: str = "") -> None:
        """Stop a process without ending it, as SIGSTOP does: it keeps its connections and hears nothing."""
        raise NotImplementedError

    def resume(self, target: Target) -> None:
        """Let a paused process go on. Resuming one that is not paused, or dead, does nothing."""
        raise NotImplementedError

    def supersede(self) -> None:
        """Stop the coordinator as `pause` does, and let its environment start a successor as if it were dead.

        Raises:
            OSError: it is dead, or stands still already.
        """
        raise NotImplementedError

    def resume_superseded(self) -> None:
        """Let those that were superseded go on; the dead, and those that go on already, are left as they are."""
        raise NotImplementedError

    def cut(self, link: Target, direction: str = BOTH) -> None:
        """Hold back everything on a link without closing it. What was sent is delivered after `restore_link`.

        Args:
            link: a channel between two subtasks, or the storage or broker that the accused is linked to.
            direction: FORWARD, BACKWARD or BOTH.
        """
        raise NotImplementedError

    def slow(self, link: Target, delay_ms: int) -> None:
        """Delay everything on a link, keeping its order. Replaces an earlier delay."""
        raise NotImplementedError

    def limit(self, link: Target, kilobytes_per_second: int) -> None:
        """Let no more than this through a link, each way."""
        raise NotImplementedError

    def black_hole(self, link: Target) -> None:
        """Take everything on a link and deliver nothing, ever; its connections are reset by `restore_link`."""
        raise NotImplementedError

    def reset(self, link: Target) -> None:
        """Break the connections of a link with a reset at both ends; new ones are let through."""
        raise NotImplementedError

    def restore_link(self, link: Target, kind: str, detail: Detail = "") -> None:
        """Undo one fault of a link. Any other that acts on the link goes on until it is undone itself.

        Args:
            link: as for `cut`.
            kind: `cut`, `slow`, `limit` or `black-hole`.
            detail: which of several: the direction of a cut, milliseconds of `slow`, kilobytes per second of `limit`.
        """
        raise NotImplementedError

    def whole(self, link: Target, kind: str = "", detail: Detail | None = None) -> bool:
        """Whether a link or a subtask is not impaired any more, and nothing fails on purpose behind it, asked of
        whatever does.

        Args:
            link: it, or the input of the job.
            kind: by which kind of fault; empty: by none.
            detail: by which of that kind, as for the verb that undoes it; None: by none.
        """
        raise NotImplementedError

    def take_down(self, service: Target) -> None:
        """End a service that the accused depends on (storage, broker) as SIGKILL does, and keep it down."""
        raise NotImplementedError

    def bring_up(self, service: Target) -> None:
        """Start it again with what it had stored; returns when it serves. Does nothing where it is up."""
        raise NotImplementedError

    def slow_task(self, task: Target, delay_ms: int) -> None:
        """Let every batch keep a subtask busy for so long. Replaces an earlier delay."""
        raise NotImplementedError

    def restore_task(self, task: Target, delay_ms: int) -> None:
        """Undo one `slow_task`. Any other that acts on the subtask goes on until it is undone itself."""
        raise NotImplementedError

    def fail_storage(self, operation: str, occurrences: int, *, after_effect: bool, answer_lost: bool = False) -> None:
        """Make the next calls of a storage operation fail.

        Args:
            operation: one of the adapter's storage operations: `write-state`, `write-metadata`, `publish-metadata`,
                `read-metadata`, `read-state`, `delete`, `pre-commit`, `commit`.
            occurrences: how many calls, from the next one; 0: until `restore_storage`.
            after_effect: the operation takes effect and the caller sees the error all the same (a lost ack).
            answer_lost: it takes no effect, and the caller cannot know that.
        """
        raise NotImplementedError

    def slow_storage(self, operation: str, delay_ms: int, occurrences: int) -> None:
        """Make the next calls of a storage operation take longer; operations and occurrences as for `fail_storage`."""
        raise NotImplementedError

    def restore_storage(
        self, operation: str, *, delay_ms: int | None = None, after_effect: bool = False, answer_lost: bool = False
    ) -> None:
        """Undo one fault of a storage operation. Any other that acts on the store goes on until it is undone itself.

        Args:
            operation: as for `fail_storage`.
            delay_ms: of the `slow_storage` to undo; None: it is a `fail_storage`.
            after_effect, answer_lost: of the `fail_storage`.
        """
        raise NotImplementedError

    def storage_whole(
        self, operation: str, *, delay_ms: int | None = None, after_effect: bool = False, answer_lost: bool = False
    ) -> bool:
        """Whether no such fault of an operation acts any more; arguments as for `restore_storage`."""
        raise NotImplementedError

    def damage_checkpoint(self, part: str, way: str) -> None:
        """Damage a file of the newest checkpoint. An ObjectDamaged is recorded before it acts, so that nobody is blamed
        for what follows on that object.

        Args:
            part: `metadata` or `state`.
            way: `remove`, `truncate` or `flip` (one bit).
        """
        raise NotImplementedError

    def mend_checkpoint(self) -> None:
        """Put back what was damaged, unless a newer checkpoint has taken its place; an ObjectMended says what became of
        it."""
        raise NotImplementedError

    def poison(self, partition: int, offset: int, *, recoverable: bool) -> None:
        """Let a record of the input make its operator fail whenever it is processed. Replaces an earlier one of its
        partition.

        Args:
            partition, offset: the record; a negative offset counts from the end of the partition.
            recoverable: False: its operator says that no restart can help.
        """
        raise NotImplementedError

    def surge(self, percent: int) -> None:
        """Let input arrive at so many percent of the rate of the workload. Replaces an earlier rate."""
        raise NotImplementedError

    def truncate(self, partition: int, beyond: int) -> None:
        """Remove the oldest records of the input: nobody can read them any more.

        Args:
            partition: whose; -1: of every partition.
            beyond: how many more than the last completed checkpoint covers; negative: so many fewer.
        """
        raise NotImplementedError

    def restore_input(self, kind: str, detail: Detail) -> None:
        """Undo one fault of the input. Any other goes on until it is undone itself.

        Args:
            kind: `poison`, `surge` or `truncate`.
            detail: which of several: partition, offset and `recoverable` of a poison, the percent of a surge, or
                partition, `beyond` and False of a truncation.
        """
        raise NotImplementedError

    def lose_splits(self, occurrences: int, delay_ms: int) -> None:
        """Lose the next messages by which splits are assigned to readers, or let them arrive so much later, behind what
        is sent after them.

        Args:
            occurrences: how many; 0: none any more.
            delay_ms: 0: they never arrive.
        """
        raise NotImplementedError

    def replay(self) -> None:
        """Stop the job in good order, take back the completion of its last checkpoint, and start it again: what it did
        for that checkpoint it does once more."""
        raise NotImplementedError

    def command(self, name: str, parameters: dict[str, int | str]) -> None:
        """Ask the job for what its users may ask for, such as a `checkpoint`. Which commands and parameters exist is
        documented by the adapter.

        Raises:
            OSError: nobody is there to be asked.
        """
        raise NotImplementedError

    def lose_notices(self, percent: int) -> None:
        """Lose this share of the notices that tell tasks of the end of a checkpoint, drawn one by one; 0: none."""
        raise NotImplementedError

    def disturb_messages(self, disturbance: Disturbance) -> None:
        """Delay, double or lose the next control messages of a kind.

        Args:
            disturbance: within the contract of the system (harness.model.message_contract).
        """
        raise NotImplementedError

    def restore_messages(self, disturbance: Disturbance) -> None:
        """Undo one `disturb_messages`. What it holds back arrives when it is due; other ones go on."""
        raise NotImplementedError

    def messages_whole(self, disturbance: Disturbance) -> bool:
        """Whether this is not done any more, and nothing that a disturbance delayed is on its way."""
        raise NotImplementedError

    def forge(self, message: str, parameters: dict[str, int | str]) -> None:
        """Put a protocol message on the wire that nobody sent, such as a repeated `acknowledge` or one of an older
        attempt. Which messages and parameters exist is documented by the adapter."""
        raise NotImplementedError

    def arm(self, gate: Gate) -> int:
        """Arm a gate; returns its number. When the accused is about to execute the effect it is held in front of it,
        and `Deployment.advance` returns with `GateReached`."""
        raise NotImplementedError

    def release(self, gate: int) -> None:
        """Let the held effect happen. A gate whose node died needs no release; releasing it does nothing."""
        raise NotImplementedError

    def disarm(self, gate: int) -> None:
        """Forget a gate that was not reached."""
        raise NotImplementedError

    def alive(self, target: Target) -> bool:
        """Whether a worker or the coordinator lives and is not paused, or a service serves: what an undo checks."""
        raise NotImplementedError
