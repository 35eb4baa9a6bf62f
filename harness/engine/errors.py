"""What the engine refuses to go on with."""

from __future__ import annotations

WRONG_USAGE = 3
HARNESS_ERROR = 4
INTERRUPTED = 130
"""Exit codes of a command that has no result."""


class UsageError(Exception):
    """The user can repair this: one sentence naming the field, the value, what is allowed and what to do."""


class NotApplicable(Exception):
    """A well-formed plan that asks for what this system or tier does not declare; the sentence names it."""


class ForeignError(Exception):
    """Code that is not ours tried to end this process; one sentence names it and the place."""
