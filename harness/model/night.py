"""What one night found, small enough to be kept for years and compared: stored as `night.json`."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.case import Tier
from holdfast.harness.model.certificate import Title, heading
from holdfast.harness.model.finding import Signature
from holdfast.harness.model.status import Status

NIGHT_VERSION = 1


class RunCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Runs on one tier.

    Attributes:
        tier: where.
        passed, failed, inconclusive: by outcome.
        drawn: how many of those that count had a drawn plan.
        wall_s: what they took, one after the other.
    """

    tier: Tier
    passed: int
    failed: int
    inconclusive: int
    drawn: int = 0
    wall_s: float = 0.0

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.inconclusive


class RecoveryTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From a fault to new committed output, in milliseconds.

    Attributes:
        tier: where.
        attack: what the fault is counted under, such as `kill worker`.
        measured: how many.
        median_ms, p95_ms, worst_ms: of these.
    """

    tier: Tier
    attack: str
    measured: int
    median_ms: float
    p95_ms: float
    worst_ms: float


class Reruns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A failing plan once more, `of` times; `shown` of these runs showed the same signature. `seeded`: each had another
    run seed, because the simulator repeats a run exactly."""

    shown: int
    of: int
    seeded: bool = False

    def __str__(self) -> str:
        return f"{self.shown} of {self.of} reruns{' with other run seeds' if self.seeded else ''}"


class WaivedUntil(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding that somebody set aside: why, the last day (YYYY-MM-DD), and whether that day is over."""

    reason: str
    expires: str
    expired: bool


class NightFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A failure that was refuted in a night.

    Attributes:
        signature: which.
        what: what broke, in words.
        runs: in how many runs its clause was violated.
        rules: that it refutes.
        cases: `CASE on TIER` in which it was found.
        next: the command that repeats it, in the folder that holds the folder of the certificate; empty: none.
        reruns: of its plan; None: it was not run again.
        waived: whether somebody set it aside.
    """

    signature: Signature
    what: str
    runs: int
    rules: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    next: str = ""
    reruns: Reruns | None = None
    waived: WaivedUntil | None = None

    @property
    def counts(self) -> bool:
        """Whether it fails the night."""
        return self.waived is None or self.waived.expired


class SystemNight(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One system in one night, or in one certificate.

    Attributes:
        system: with variant.
        folder: of its certificate, relative to the folder of the night.
        title: of its certificate and its parts, after waivers.
        duration_s: what it took.
        runs: by tier that ran.
        rules: by id of each rule that binds it or was refuted, the status after waivers.
        findings: what was refuted, worst first.
        errors: what broke in the harness, one sentence each.
        inconclusive: causes of inconclusive runs, numbers left out, with how many runs each.
        windows_wanted, windows_hit: by window, runs that aimed at it or were to hit it, and runs that hit it.
        faults_planned, faults_landed: by attack.
        recoveries: on real tiers, by tier and attack.
        tiers_left_out: by tier that did not run, why.
        cases: `CASE on TIER` of each of which a run was decided; empty in records of an earlier release.
        parts: by name, what each part of it comes to that a kit judged; a night judges none.
    """

    system: str
    folder: str
    title: Title
    duration_s: float
    runs: tuple[RunCounts, ...] = ()
    rules: dict[str, Status] = {}
    findings: tuple[NightFinding, ...] = ()
    errors: tuple[str, ...] = ()
    inconclusive: dict[str, int] = {}
    windows_wanted: dict[str, int] = {}
    windows_hit: dict[str, int] = {}
    faults_planned: dict[str, int] = {}
    faults_landed: dict[str, int] = {}
    recoveries: tuple[RecoveryTimes, ...] = ()
    tiers_left_out: dict[str, str] = {}
    cases: tuple[str, ...] = ()
    parts: dict[str, Status] = {}

    @property
    def heading(self) -> str:
        """The title with the tiers that it speaks of."""
        return heading(self.title, (each.tier for each in self.runs))

    @property
    def total_runs(self) -> int:
        return sum(each.total for each in self.runs)

    @property
    def inconclusive_runs(self) -> int:
        return sum(each.inconclusive for each in self.runs)


class Night(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One night.

    Attributes:
        version: schema version.
        name: of its folder, such as `2026-11-25`.
        seed: that all draws come from.
        started: ISO 8601 in UTC.
        duration_s: of the whole, all invocations together.
        budget_s: after which nothing begins.
        interrupted: name of the signal that ended it early; empty: it is complete.
        command: as typed.
        versions: holdfast, python, libraries, platform.
        systems: in the order in which they ran.
        expired: waivers whose last day is over, one sentence each.
    """

    version: int = NIGHT_VERSION
    name: str
    seed: int
    started: str
    duration_s: float
    budget_s: float
    interrupted: str
    command: str
    versions: dict[str, str]
    systems: tuple[SystemNight, ...]
    expired: tuple[str, ...] = ()


class LatestNight(msgspec.Struct, frozen=True):
    """One night, to be shown in its own folder.

    Attributes:
        nights: it and those before it, the oldest first.
    """

    nights: tuple[Night, ...]

    @property
    def night(self) -> Night:
        return self.nights[-1]


class AllNights(msgspec.Struct, frozen=True):
    """What the nights of a folder add up to.

    Attributes:
        nights: at least one, the oldest first.
    """

    nights: tuple[Night, ...]
