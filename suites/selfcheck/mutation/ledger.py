"""The ledger of a mutation test: a line for each mutant that was tried; only ever appended to.

baseline.msgpack    the plans, and what the untouched runtime did on each
mutants.jsonl       what became of each mutant
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec

from holdfast.suites.selfcheck.mutation.baseline import Expected
from holdfast.suites.selfcheck.mutation.trial import Tried

JUDGES = ("harness", "faults", "fixtures", "suites/conformance")
"""What decides what becomes of a mutant."""


class Baseline(msgspec.Struct, frozen=True):
    """The plans of a ledger. `code` is a digest of everything that ran."""

    code: str
    drawn: int
    plans: tuple[Expected, ...]


class Ledger:
    """The ledger in a folder; made if it is not there.

    Raises:
        ValueError: it is of other code; one sentence.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder
        self.code = _digest(root)
        folder.mkdir(parents=True, exist_ok=True)
        self._lines = folder / "mutants.jsonl"
        self._plans = folder / "baseline.msgpack"

    def plans(self, drawn: int, measure: Callable[[], Iterable[Expected]]) -> tuple[Expected, ...]:
        """The plans, measured once."""
        if self._plans.exists():
            stored = msgspec.msgpack.decode(self._plans.read_bytes(), type=Baseline)
            if (stored.code, stored.drawn) != (self.code, drawn):
                raise ValueError(
                    f"the ledger in {self.folder} is of other code or of {stored.drawn} drawn plans: use another --out."
                )
            return stored.plans
        plans = tuple(measure())
        part = self._plans.with_suffix(".part")
        part.write_bytes(msgspec.msgpack.encode(Baseline(self.code, drawn, plans)))
        part.replace(self._plans)
        return plans

    def tried(self) -> dict[str, Tried]:
        """By identity, what was tried. A line that was cut off does not count."""
        found: dict[str, Tried] = {}
        if self._lines.exists():
            whole, _, _ = self._lines.read_bytes().rpartition(b"\n")
            for line in whole.splitlines():
                each = msgspec.json.decode(line, type=Tried)
                found[each.mutant.identity] = each
            os.truncate(self._lines, len(whole) + bool(whole))
        return found

    def add(self, tried: Tried) -> None:
        """Write a line."""
        with self._lines.open("ab") as lines:
            lines.write(msgspec.json.encode(tried) + b"\n")


def _digest(root: Path) -> str:
    hasher = blake2b(digest_size=16)
    for folder in JUDGES:
        for path in sorted((root / folder).rglob("*.py")):
            hasher.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return hasher.hexdigest()


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
