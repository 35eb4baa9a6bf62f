"""A rule: one numbered requirement on a checkpointing stream processor.

A rule states what is required (`text`), what a user loses without it (`why`), of whom (`subjects`), how strictly
(`level`), how it is decided (`decidability`, `oracle`) and where it comes from (`sources`). It does not state whether a
system keeps it: the status of a rule is computed from the results of the cases that decide it, never stored, so a
catalogue cannot go stale.

Ids are stable (`BAR-03`), because reports and certificates cite them. A withdrawn id is never given to another rule.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

NonEmpty = Annotated[str, Meta(min_length=1)]


class Level(StrEnum):
    """How strictly a rule binds, in the words of RFC 2119."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Subject(StrEnum):
    """The part of a system that owes a rule."""

    RUNTIME = "RT"
    STATE_BACKEND = "SB"
    CHECKPOINT_STORAGE = "ST"
    SOURCE = "SRC"
    SINK = "SNK"
    RESTART_STRATEGY = "RS"
    FILE_SYSTEM = "FS"
    PIPELINE = "PIP"
    """A streaming query of a team, and not the engine under it."""


class Decidability(StrEnum):
    """The least evidence that decides a rule."""

    SCRIPTED = "D"
    """One scripted run decides."""
    TRACE = "T"
    """An event trace is needed."""
    BEHAVIOUR = "B"
    """Outputs alone decide, so the system under test may be a black box."""
    STATISTICAL = "S"
    """A campaign with stated power is needed."""


class SourceKind(StrEnum):
    """What a source is; all but a document of the project are public and have an address."""

    DOCUMENT = "document"
    """A document that the project was given, cited by its title."""
    DOCUMENTATION = "documentation"
    PROPOSAL = "proposal"
    PAPER = "paper"
    REPORT = "report"
    """An issue or a pull request."""
    CODE = "code"
    """A class, test or script, at one commit or release."""


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a rule comes from.

    Attributes:
        address: of the public page; empty for a document of the project.
        section: the heading, test or function that is meant; empty for the whole.
    """

    kind: SourceKind
    title: NonEmpty
    address: Annotated[str, Meta(pattern=r"^(https://[^\s\"'<>]+)?$")] = ""
    section: str = ""

    @property
    def words(self) -> str:
        """Title and section, without the address."""
        return f"{self.title}, {self.section}" if self.section else self.title


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One requirement, as read from a catalogue.

    Attributes:
        area: prefix of the id, shared by every rule of the area.
        title: title of the area; what the rule itself demands is its text.
        why: what a user loses where the rule is broken, in one plain line; empty in results of an earlier version.
        must_for_reference: a rule weaker than MUST that the reference runtime may not leave out all the same.
    """

    id: Annotated[str, Meta(pattern=r"^[A-Z][A-Z0-9]{2}-[0-9]{2}$")]
    area: NonEmpty
    title: NonEmpty
    level: Level
    subjects: Annotated[tuple[Subject, ...], Meta(min_length=1)]
    decidability: Decidability
    text: NonEmpty
    why: Annotated[str, Meta(max_length=140)]
    oracle: NonEmpty
    sources: Annotated[tuple[Source, ...], Meta(min_length=1)]
    must_for_reference: bool = False

    def __post_init__(self) -> None:
        if self.id.partition("-")[0] != self.area:
            raise ValueError(f"the id {self.id!r} does not begin with its area {self.area!r} and a hyphen")
        if self.must_for_reference and self.level is Level.MUST:
            raise ValueError("must_for_reference adds nothing to a MUST rule: remove it")

    @property
    def level_for_reference(self) -> Level:
        """The level that binds the reference runtime, which shows that the mechanisms can all be had at once."""
        return Level.MUST if self.must_for_reference else self.level


class Part(StrEnum):
    """What of a rule a place holds, in the order in which a reader goes from one to the next."""

    CASE = "case"
    CLAUSE = "clause"
    VARIANT = "wrong variant"
    REFERENCE = "reference"


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of code.

    Attributes:
        part: what it holds.
        name: such as `barriers/alignment`, `CUT/processed-while-blocked`, `A3` or `InputAlignment.block`.
        path: of the file, from the folder in which its package lies: `suites/conformance/barriers.py`.
        line: counted from 1.
    """

    part: Part
    name: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"
