"""Survivors that are permitted: by the identity of a mutant, the rule that permits what it does."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

FILE = Path(__file__).parent / "permitted.toml"
KINDS = ("order", "jitter", "limit", "words", "cost", "redundant", "fault")
"""Why something is permitted: no rule orders it; timing within the bounds; a bound that no plan reaches; texts for
people; more or less work for the same result; a second guard behind another; what the harness does to a system."""


class Permission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a survivor is none to mend.

    Attributes:
        kind: one of KINDS.
        rule: of the specification, such as `BAR-03`, that permits it; empty: no rule says anything about it.
        why: one sentence.
    """

    kind: str
    why: str
    rule: str = ""


def permitted() -> Mapping[str, Permission]:
    """By identity."""
    return msgspec.convert(tomllib.loads(FILE.read_text()), type=dict[str, Permission])
