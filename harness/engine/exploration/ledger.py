"""The ledger of a campaign: which seeds were drawn, under which code, what came of them, and what they add up to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import combinations
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.files import read_content, require_regular
from holdfast.harness.engine.artefacts.json_files import decode
from holdfast.harness.engine.artefacts.owner import FILE as OWNER
from holdfast.harness.engine.artefacts.owner import claim, remove_owner
from holdfast.harness.engine.cases.results import cause_of
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.plans.words import attack, window
from holdfast.harness.model.case import Window
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.shared.stated_options import texts

Numbers = dict[str, int]
_QUANTITY = re.compile(r"\d{2,}|\d+ ?[a-z]+", re.IGNORECASE)


class Counts(msgspec.Struct, forbid_unknown_fields=True):
    """Sums over runs.

    Attributes:
        drawn, passed, failed, inconclusive: runs.
        causes: why runs were inconclusive, numbers left out.
        planned, landed: faults by attack.
        aimed, hit: by window, runs of which a fault or the case wanted it, and decided runs that hit it, also if
            nothing wanted it.
        together: by two attacks, runs in which both landed.
        judged: by oracle, decided runs in which it decided something.
        jobs, ends, options: runs by job, by expected end, and by option with its value, unless that is a quantity.
    """

    drawn: int = 0
    passed: int = 0
    failed: int = 0
    inconclusive: int = 0
    causes: Numbers = {}
    planned: Numbers = {}
    landed: Numbers = {}
    aimed: Numbers = {}
    hit: Numbers = {}
    together: Numbers = {}
    judged: Numbers = {}
    jobs: Numbers = {}
    ends: Numbers = {}
    options: Numbers = {}

    def add(self, result: RunResult, plan: Plan, demanded: Iterable[Window] = ()) -> None:
        """Count a run; `demanded` are the windows that its case wants."""
        wanted = {*filter(None, map(window, plan.faults)), *(each.value for each in demanded)}
        counts = result.outcome is not Outcome.INCONCLUSIVE
        self.drawn += 1
        self.passed += result.outcome is Outcome.PASS
        self.failed += result.outcome is Outcome.FAIL
        if not counts:
            self.inconclusive += 1
            _count(self.causes, cause_of(result.reason))
        for spec in plan.faults:
            _count(self.planned, attack(spec))
        for name, times in result.landed.items():
            _count(self.landed, name, times)
        for one, other in combinations(sorted(result.landed), 2):
            _count(self.together, f"{one} + {other}")
        for name, hit in result.windows.items():
            _count(self.aimed, name, int(name in wanted))
            _count(self.hit, name, int(hit and counts))
        for verdict in result.verdicts:
            decided = verdict.outcome is not Outcome.INCONCLUSIVE and any(verdict.checked.values())
            _count(self.judged, verdict.oracle, int(counts and decided))
        _count(self.jobs, f"{plan.job.name} x{plan.topology.parallelism}")
        _count(self.ends, plan.expected_end.value)
        for key, text in texts(plan).items():
            _count(self.options, key if _QUANTITY.fullmatch(text) else f"{key}: {text}")

    def plus(self, other: Counts) -> None:
        """Count what somebody else counted."""
        for name in self.__struct_fields__:
            theirs = getattr(other, name)
            if isinstance(theirs, int):
                setattr(self, name, getattr(self, name) + theirs)
            else:
                mine = getattr(self, name)
                for key, times in theirs.items():
                    _count(mine, key, times)


def _count(numbers: Numbers, name: str, times: int = 1) -> None:
    numbers[name] = numbers.get(name, 0) + times


LEDGER = "campaign.jsonl"
ALARMS = "alarms"
LEDGER_VERSION = 1
Seeds = tuple[int, int]
"""First and last."""


class Chunk(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="chunk", kw_only=True):
    """Seeds that were drawn one after the other.

    Attributes:
        version: of this schema.
        system: the system under test.
        code: fingerprint of everything that ran.
        first, last: seeds.
        counts: what came of them.
        alarms: by seed, what was alarming.
    """

    version: int = LEDGER_VERSION
    system: str
    code: str
    first: int
    last: int
    counts: Counts
    alarms: dict[int, str] = {}


class Retrial(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="retrial", kw_only=True):
    """The stored plan of a seed once more, under other code. `alarm` is empty if it raises none any more."""

    version: int = LEDGER_VERSION
    code: str
    seed: int
    alarm: str


class Withdrawal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="withdrawal", kw_only=True):
    """The plan of a seed demanded too much, so its alarm counts for nothing; a person gave the reason."""

    version: int = LEDGER_VERSION
    seed: int
    reason: str


Entry = Chunk | Retrial | Withdrawal


class Ledger:
    """The ledger in a folder, held by one process at a time; a context manager.

    Args:
        folder: of the campaign; made if it is not there.
        system: whose campaign it is.

    Attributes:
        chunks: all that were written.
        alarms: by seed, code and what was alarming when its plan ran last; empty if nothing was.
        withdrawn: by seed, why its alarm counts for nothing.

    Raises:
        UsageError: the folder cannot be made, belongs to another system or to a campaign that is running, or holds a
            line that is no entry.
    """

    def __init__(self, folder: Path, system: str) -> None:
        self.folder = folder
        self.chunks: list[Chunk] = []
        self.alarms: dict[int, tuple[str, str]] = {}
        self.withdrawn: dict[int, str] = {}
        self._path = folder / LEDGER
        try:
            (folder / ALARMS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{folder}: it cannot hold a campaign ({error.strerror}); choose another one with --out."
            ) from error
        if not claim(folder):
            raise UsageError(
                f"{folder}: a campaign is running in it; wait for its end or choose another one with --out; if it was "
                f"killed in another container, remove {OWNER} there."
            )
        try:
            for entry in self._read():
                self._take(entry)
            other = {chunk.system for chunk in self.chunks} - {system}
            if other:
                raise UsageError(f"{folder}: it holds a campaign of {min(other)}; choose another one with --out.")
        except UsageError:
            self.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the folder to others."""
        remove_owner(self.folder)

    def append(self, entry: Entry) -> None:
        """Write an entry; returns when the disk has it."""
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._take(entry)

    def missing(self, wanted: Seeds) -> Iterator[Seeds]:
        """The ranges of wanted seeds that were not drawn yet, in order."""
        first, last = wanted
        for chunk in sorted(self.chunks, key=lambda each: each.first):
            if first < min(chunk.first, last + 1):
                yield first, min(chunk.first - 1, last)
            first = max(first, chunk.last + 1)
        if first <= last:
            yield first, last

    def plan_of(self, seed: int) -> Path:
        """Where the plan of a seed that raised an alarm is."""
        return alarm_file(self.folder, seed)

    def _take(self, entry: Entry) -> None:
        if isinstance(entry, Chunk):
            self.chunks.append(entry)
            self.alarms.update({seed: (entry.code, alarm) for seed, alarm in entry.alarms.items()})
        elif isinstance(entry, Retrial):
            self.alarms[entry.seed] = entry.code, entry.alarm
        else:
            self.withdrawn[entry.seed] = entry.reason

    def _read(self) -> Iterable[Entry]:
        if not os.path.lexists(self._path):
            return
        written = read_content(require_regular(self._path))  # It is cut below: a link would cut what is elsewhere.
        whole = written.rfind(b"\n") + 1
        if whole < len(written):
            os.truncate(self._path, whole)
        for number, line in enumerate(BytesIO(written[:whole]), 1):
            yield decode(line, Entry, f"{self._path}:{number}")  # type: ignore[arg-type]


def alarm_file(folder: Path, seed: int) -> Path:
    """In the folder of a campaign, where the plan of a seed is."""
    return folder / ALARMS / f"seed-{seed}.json"
