"""The folder of a night, what it keeps of each certificate, and nights that are stored."""

from __future__ import annotations

import hashlib
import math
import re
import shutil
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import count
from pathlib import Path

from holdfast.harness.engine.artefacts.files import make_folder, read_content, require_folder, write_readable
from holdfast.harness.engine.artefacts.json_files import check_version, decode, read_journal
from holdfast.harness.engine.artefacts.owner import claim, remove_owner
from holdfast.harness.engine.artefacts.sweep import sweep
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.certification.begun import Begun, code_of, end_begun, read_begun, write_begun
from holdfast.harness.engine.certification.run_store import RUNS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.nights.settings import Settings
from holdfast.harness.model.case import Tier
from holdfast.harness.model.finding import Finding, Signature, signature_of
from holdfast.harness.model.journal import CaseResult, Journal, RunResult
from holdfast.harness.model.night import (
    NIGHT_VERSION,
    Night,
    NightFinding,
    RecoveryTimes,
    Reruns,
    RunCounts,
    SystemNight,
    WaivedUntil,
)
from holdfast.harness.model.status import Status
from holdfast.harness.model.verdict import Outcome

Tallies = Mapping[tuple[str, str], Tally]
_REFUTED = (Status.FAIL, Status.WAIVED)
_DECIDED = (Status.PASS, Status.FAIL, Status.WAIVED)


def system_night(
    journal: Journal,
    folder: str = "",
    tallies: Tallies | None = None,
    reruns: Mapping[Signature, Reruns] | None = None,
    waived: Mapping[Signature, WaivedUntil] | None = None,
) -> SystemNight:
    """What stays of a certificate.

    Args:
        journal: of it, with its waivers.
        folder: of it, relative to the folder of the night.
        tallies: of all runs by case and tier; None: only what the journal kept is known of windows and faults.
        reruns: of failing plans.
        waived: what is set aside, expired waivers as well.
    """
    known = {} if tallies is None else tallies
    windows_wanted, windows_hit = _windows(journal, known)
    faults_planned, faults_landed = _faults(journal, known)
    rules = [each for each in journal.rules if each.concerns(journal.subject) or each.status in _REFUTED]
    return SystemNight(
        system=journal.system,
        folder=folder,
        title=journal.title,
        duration_s=journal.duration_s,
        runs=_runs(journal.cases, known),
        rules={each.rule.id: each.status for each in rules},
        findings=tuple(
            _finding(each, journal, known, reruns or {}, waived or {})
            for each in journal.findings
            if each.status in _REFUTED
        ),
        errors=tuple(each.what for each in journal.findings if each.status is Status.ERROR),
        inconclusive=dict(sum((Counter(each.inconclusive_causes) for each in journal.cases), Counter()).most_common()),
        windows_wanted=windows_wanted,
        windows_hit=windows_hit,
        faults_planned=faults_planned,
        faults_landed=faults_landed,
        recoveries=tuple(_recoveries(journal.runs)),
        tiers_left_out={each.tier.value: each.reason for each in journal.tiers if not each.ran},
        cases=tuple(f"{each.case} on {each.tier}" for each in journal.cases if each.status in _DECIDED),
        parts={each.name: each.status for each in journal.standings[1:]},
    )


def _finding(
    finding: Finding,
    journal: Journal,
    tallies: Tallies,
    reruns: Mapping[Signature, Reruns],
    waived: Mapping[Signature, WaivedUntil],
) -> NightFinding:
    signature = signature_of(finding, journal.system)
    oracle, _, clause = signature.clause.partition("/")
    violated = {run for tally in tallies.values() for run in tally.refuted.get((oracle, clause), ())}
    shown = {run for run in (finding.run, *finding.runs) if run}
    aside = waived.get(signature)
    if aside is None and finding.status is Status.WAIVED:
        aside = WaivedUntil("see its certificate", "", expired=False)
    return NightFinding(
        signature=signature,
        what=finding.what,
        runs=max(len(violated), len(shown)),
        rules=finding.rules,
        cases=finding.cases,
        next=finding.next.line() if finding.next is not None else "",
        reruns=reruns.get(signature),
        waived=aside,
    )


def _runs(cases: Iterable[CaseResult], tallies: Tallies) -> tuple[RunCounts, ...]:
    """By tier, in the order of tiers."""
    found = []
    for tier in Tier:
        results = [each for each in cases if each.tier is tier]
        passed = sum(each.runs_passed for each in results)
        failed = sum(each.runs_failed for each in results)
        undecided = sum(each.runs_inconclusive for each in results)
        if passed + failed + undecided:
            here = [tally for (_, name), tally in tallies.items() if name == tier]
            drawn, wall_s = sum(each.drawn for each in here), sum(each.wall_ms for each in here) / 1_000
            found.append(RunCounts(tier, passed, failed, undecided, drawn, round(wall_s, 1)))
    return tuple(found)


def _windows(journal: Journal, tallies: Tallies) -> tuple[dict[str, int], dict[str, int]]:
    card = journal.certificate
    wanted: Counter[str] = Counter(dict.fromkeys(card.windows_missed, 0) | dict.fromkeys(card.windows_hit, 0))
    for tally in tallies.values():
        wanted.update(tally.aimed)
    return dict(sorted(wanted.items())), dict(sorted(card.windows_hit.items()))


def _faults(journal: Journal, tallies: Tallies) -> tuple[dict[str, int], dict[str, int]]:
    planned: Counter[str] = Counter()
    landed: Counter[str] = Counter()
    counted: Iterable[Tally | RunResult] = tallies.values() or journal.runs
    for each in counted:
        planned.update(each.planned)
        landed.update(each.landed)
    return dict(sorted(planned.items())), dict(sorted(landed.items()))


def _recoveries(runs: Iterable[RunResult]) -> Iterable[RecoveryTimes]:
    """By tier and attack. A run that was refuted has not recovered, whatever it put out."""
    samples: dict[tuple[Tier, str], list[float]] = {}
    for run in runs:
        for each in run.recoveries if run.outcome is not Outcome.FAIL else ():
            if each.to_committed_ms is not None:
                samples.setdefault((run.tier, each.attack), []).append(each.to_committed_ms)
    for (tier, attack), values in sorted(samples.items()):
        ordered = sorted(values)
        p95 = ordered[math.ceil(len(ordered) * 0.95) - 1]
        yield RecoveryTimes(tier, attack, len(ordered), statistics.median(ordered), p95, ordered[-1])


NIGHT, SYSTEM, RESULTS = "night.json", "system.json", "results.json"
_ODD = re.compile(r"[^A-Za-z0-9._+-]+")


class NightFolder:
    """The folder that a night fills; a context manager, because no other night may go on in it.

    Attributes:
        path: of the folder.
        started: ISO 8601 in UTC; of the first invocation.
        resumed: whether an interrupted night goes on here.
    """

    def __init__(self, out: Path, name: str, identity: str, now: str) -> None:
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        for path in (out / each for each in names):
            begun = read_begun(path)
            self.resumed = begun is not None and begun.identity == identity and claim(path)
            if self.resumed or _made(path):
                break
        self.path = path
        self.started = begun.started if begun is not None and self.resumed else now
        if not self.resumed:
            claim(path)
            write_begun(path, Begun(identity=identity, started=now))

    def __enter__(self) -> NightFolder:
        return self

    def __exit__(self, *_: object) -> None:
        remove_owner(self.path)

    def of(self, system: str) -> Path:
        return self.path / folder_name(system)

    def finished(self, system: str) -> SystemNight | None:
        """What an earlier invocation found on a system, if it came to the end of it."""
        path = self.of(system) / SYSTEM
        return decode(read_content(path), SystemNight, str(path)) if path.is_file() else None

    def finish(self, night: SystemNight) -> None:
        """Record that a system is over."""
        write_readable(self.of(night.system) / SYSTEM, night)

    def write(self, night: Night, *, complete: bool) -> None:
        """Write the record; an incomplete night resumes from it later."""
        write_readable(self.path / NIGHT, night)
        if complete:
            end_begun(self.path)


def folder_name(system: str) -> str:
    """The name of a system as that of a folder; names with other characters are made unique by a digest."""
    name = _ODD.sub("-", system).strip("-.")
    return name if name == system else f"{name}-{hashlib.sha256(system.encode()).hexdigest()[:6]}"


def _made(folder: Path) -> bool:
    """Whether it was made now, and by us: several nights may begin at the same time."""
    if folder.exists():
        return False
    try:
        make_folder(folder)
    except UsageError:
        if folder.is_dir():
            return False
        raise
    return True


def identity_of(settings: Settings, seed: int) -> str:
    """Another one wherever results would not belong together."""
    sites, environment = settings.sites, settings.environment
    requested = (settings.systems, settings.tiers, settings.budget_s, sites, environment, seed)
    digest = hashlib.sha256(repr(requested).encode())
    for name in settings.systems:
        digest.update(code_of(name).encode())
    return digest.hexdigest()


def tidy(folder: Path, kept: Iterable[str], named: Collection[str], *, trust: bool = False) -> None:
    """End what a killed harness left in the folder of a certificate, and remove stored runs that no log names. The
    folder may be somebody else's: no link is followed, and what is no folder stays.

    Args:
        folder: of the certificate, which this process has claimed.
        kept: names of the runs that stay.
        named: systems that the user has named.
        trust: run the code of any other system, too.

    Raises:
        UsageError: `runs` leads elsewhere, or as of sweep.
    """
    runs, known = require_folder(folder / RUNS), frozenset(kept)
    list(sweep(folder, trust=trust, named=named, claimed=True))
    for path in runs.iterdir() if runs.is_dir() else ():
        if path.name not in known and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)


def read_night(path: Path) -> Night:
    """A night from its file.

    Raises:
        UsageError: it cannot be read, or is of a newer version.
    """
    raw = read_content(path)
    check_version(raw, NIGHT_VERSION, "night", str(path))
    return decode(raw, Night, str(path))


def read_nights(folder: Path) -> tuple[Night, ...]:
    """Every night in a folder, the oldest first.

    Raises:
        UsageError: there is none, or one cannot be read.
    """
    found = [read_night(path) for path in sorted(folder.glob(f"*/{NIGHT}")) if not path.parent.is_symlink()]
    if not found:
        raise UsageError(f"{folder}: no night is in it; name the folder in which holdfast nightly writes nights.")
    return tuple(sorted(found, key=lambda each: each.started))


def read_comparable(path: Path) -> tuple[SystemNight, ...]:
    """The systems of a night or of a certificate, from its folder, its `night.json` or its `results.json`.

    Raises:
        UsageError: it is neither, or cannot be read.
    """
    if path.is_dir():
        file = next((path / name for name in (NIGHT, RESULTS) if (path / name).is_file()), None)
        if file is None:
            raise UsageError(
                f"{path}: it holds neither {NIGHT} nor {RESULTS}; name the folder of a night or a certificate."
            )
        path = file
    if path.name == NIGHT:
        return read_night(path).systems
    return (system_night(read_journal(path)),)
