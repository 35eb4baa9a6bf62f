"""Errors of state backends and checkpoint storages: what a runtime does next depends on which one it is.

Beside these, `FileNotFoundError` and `FileExistsError` mean what they mean in Python, and `RuntimeError` is misuse by
the caller: use behind `close` or `release`, a key group of another subtask, a second registration of another kind.
Behind any error that a method does not list, the runtime fails the task. An error leaves the callee as it was before
the call, unless the method states otherwise.
"""

from __future__ import annotations

__all__ = ["Damaged", "Fenced", "Full", "Incompatible", "Transient", "UnusableSystem"]


class Transient(OSError):
    """The same call may succeed later, and its outcome may be unknown: the answer can be what was lost (STO-09).

    The runtime tries again, or fails the checkpoint. It fails the job only where it is unknown whether a checkpoint is
    published.

    Attributes:
        refused: of `CheckpointStorage.finish`: it has published nothing, and never will. A storage need not set it.
    """

    refused = False


class Full(OSError):
    """A limit was reached (SBK-07, SBK-08). The same call fails again until something is removed.

    Attributes:
        limit: name of the limit, such as `max_key_bytes`.
        allowed: its value in the unit of its name.
        needed: what the call would have needed, in the same unit.
    """

    def __init__(self, limit: str, allowed: int, needed: int) -> None:
        super().__init__(f"{limit} is {allowed}, and {needed} is needed.")
        self.limit = limit
        self.allowed = allowed
        self.needed = needed


class Fenced(OSError):
    """A newer epoch has claimed the place (STO-05, STO-08). The caller is superseded and stops; it never tries
    again."""


class Damaged(ValueError):
    """Stored content is not what was written: cut, changed, or not of this format at all (STO-06).

    The runtime falls back to another copy or an older checkpoint.
    """


class Incompatible(ValueError):
    """Intact content of another kind, version or size than what is wanted of it (SBK-04).

    The sentence names the state and what differs. The runtime fails the job, because no retry can help.
    """


class UnusableSystem(Exception):
    """The system under test declares something impossible, so that no plan applies to it; one sentence that says what
    to change. Any method of a System may raise it."""
