"""How a fact about the system under test is known."""

from __future__ import annotations

from enum import StrEnum


class Evidence(StrEnum):
    """Where an event comes from, strongest first; an oracle without the evidence it needs is UNOBSERVED."""

    NATIVE = "native"
    """The system under test reported it itself, at the step it happened in."""
    DERIVED = "derived"
    """Read from its logs, its REST interface or its checkpoint files."""
    BOUNDARY = "boundary"
    """Seen by the harness from outside: a relay, a store, a reader, a process table."""
    NONE = "none"
    """It is not supplied."""
