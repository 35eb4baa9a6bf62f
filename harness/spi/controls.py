"""How the harness lays hands on a system: the verbs that faults are written in."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.plan import Gate
from holdfast.harness.model.target import Target


class Controls(Protocol):
    """Implemented in part by the simulator, the process driver, Spark and containers.

    A verb that a system lacks raises NotImplementedError; a case that needs it declares the capability instead of
    finding out. Every verb acts at once and returns when it has acted (on real tiers: when the kernel or the relay
    confirmed it). Targets are those of the plan; an unknown target raises ValueError naming it. Verbs may be called
    from the engine's thread only, between two calls of `Deployment.advance`.
    """

    def kill(self, target: Target) -> None:
        """End a worker or the coordinator from outside, as SIGKILL does. Its environment starts it again by itself."""

    def pause(self, target: Target) -> None:
        """Stop a process without ending it, as SIGSTOP does: it keeps its connections and hears nothing."""

    def resume(self, target: Target) -> None:
        """Let a paused process go on. Resuming one that is not paused, or dead, does nothing."""

    def cut(self, channel: Target) -> None:
        """Swallow everything on a channel without closing it. What was sent is delivered after `restore_channel`."""

    def slow(self, channel: Target, delay_ms: int) -> None:
        """Delay everything on a channel, keeping its order. Replaces an earlier delay."""

    def restore_channel(self, channel: Target) -> None:
        """Undo `cut` and `slow`."""

    def fail_storage(self, operation: str, occurrences: int, *, after_effect: bool) -> None:
        """Make the next calls of a storage operation fail.

        Args:
            operation: one of the adapter's storage operations: `write-state`, `write-metadata`, `publish-metadata`,
                `read-metadata`, `read-state`, `delete`, `pre-commit`, `commit`.
            occurrences: how many calls, from the next one; 0: until `restore_storage`.
            after_effect: the operation takes effect and the caller sees the error all the same (a lost ack).
        """

    def restore_storage(self) -> None:
        """Undo `fail_storage`."""

    def forge(self, message: str, parameters: dict[str, int | str]) -> None:
        """Put a protocol message on the wire that nobody sent, such as a repeated `acknowledge` or one of an older
        attempt. Which messages and parameters exist is documented by the adapter."""

    def arm(self, gate: Gate) -> int:
        """Arm a gate; returns its number. When the accused is about to execute the effect it is held in front of it,
        and `Deployment.advance` returns with `GateReached`."""

    def release(self, gate: int) -> None:
        """Let the held effect happen. A gate whose node died needs no release; releasing it does nothing."""

    def disarm(self, gate: int) -> None:
        """Forget a gate that was not reached."""

    def alive(self, target: Target) -> bool:
        """Whether a worker or the coordinator lives and is not paused: what the undo of a kill or pause checks."""
