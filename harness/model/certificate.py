"""Certificates: what is certified, of a system and of its parts, how each is titled, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from holdfast.harness.model.case import Tier
from holdfast.harness.model.status import STATUS_RANK, Status


class Title(StrEnum):
    """A certificate in one word, from best to worst."""

    CERTIFIED = "CERTIFIED"
    """Every MUST rule of the subject passed or does not apply, over the tiers that ran."""
    PARTIAL = "PARTIAL"
    """Nothing that ran is refuted or open, and not every MUST rule is decided."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """Nothing is refuted, and something that ran is open, or the certification was interrupted or ran out of time."""
    REFUSED = "REFUSED"
    """Something is refuted."""


class Scope(StrEnum):
    """Which of the cases that apply a certificate ran."""

    QUICK = "quick"
    """The cheapest that decide every rule."""
    THOROUGH = "thorough"
    """All."""
    NARROWED = "narrowed"
    """All that decide the rules and areas that the user named."""


class LeftOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cases on one tier that a quick certificate leaves to a thorough one.

    Attributes:
        tier: where they would run.
        cases: how many.
        alone_s: about how long they take, one after the other, on an idle machine.
    """

    tier: Tier
    cases: int
    alone_s: float


def heading(title: Title, tiers: Iterable[Tier]) -> str:
    """The title as every report shows it: `CERTIFIED on sim, process`; the word alone where nothing ran."""
    on = ", ".join(tiers)
    return f"{title} on {on}" if on else title.value


CERTIFICATE = "certificate"
"""What a system itself is called among its parts."""
STATUS_OF_TITLE: Mapping[Title, Status] = {
    Title.CERTIFIED: Status.PASS,
    Title.PARTIAL: Status.UNTESTED,
    Title.INCONCLUSIVE: Status.INCONCLUSIVE,
    Title.REFUSED: Status.FAIL,
}


def status_of(title: Title, errors: int) -> Status:
    """The status of a test that stands for a title. Errors of the harness prevail, unless something is refuted.

    Args:
        title: of the certificate.
        errors: how often the harness failed in what it speaks of.
    """
    status = STATUS_OF_TITLE[title]
    return max(status, Status.ERROR, key=STATUS_RANK.__getitem__) if errors else status


class Standing(msgspec.Struct, frozen=True):
    """What one card comes to. The exit code, the title and the tests of a journal follow from these alone.

    Attributes:
        name: CERTIFICATE of the system itself; a subject such as `SNK`; a part such as `sink mypkg.sinks:Sink`.
        subject: whose rules it speaks of.
        status: see `status_of`.
        heading: the title with its tiers.
        missing: what keeps it from being CERTIFIED, one sentence each, worst first.
        report: of a part that was tried, relative to the folder of the journal; empty: none of its own.
    """

    name: str
    subject: str
    status: Status
    heading: str
    missing: tuple[str, ...]
    report: str = ""


class Titled:
    """What has a title, and the tiers that it speaks of."""

    __slots__ = ()
    if TYPE_CHECKING:  # They are fields of the structs below, each at its own place.
        title: Title
        tiers: tuple[Tier, ...]

    @property
    def heading(self) -> str:
        """The title with its tiers."""
        return heading(self.title, self.tiers)


class Certificate(Titled, msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The card.

    Attributes:
        title: one word; reports show `heading`.
        missing: what keeps it from being CERTIFIED, one sentence each, worst first.
        guarantees: such as `output exactly-once: not refuted in 305 runs`, `... refuted in run X`, or `... not
            decided in 4 runs`: no clause that compares it with the input had anything to decide.
        windows_hit: window, of a fault's aim or of a case, to how many runs that count hit it.
        windows_missed: windows that a fault aimed at or a case demands, and no run that counts hit.
        failure_bound: 95 % upper bound on the probability that a drawn plan fails, 3/n; None after a failure.
        drawn_plans: n of that bound.
        supplied_by_author: parts of the judgement that the author of the system under test supplied, such as a
            CommittedReader.
        versions: of what the system under test is made on each tier that ran, and where tiers differ; sentences.
        decided: how many rules of its subject runs have decided.
        on_its_word: how many of these rest on the word of the system under test alone.
        tiers: that the title speaks of: those on which a case ran.
        not_tried: tiers that are not there or were not chosen.
        scope: which of the cases that apply it ran.
        left_out: of a quick certificate, what a thorough one would run besides, by tier.
        unfinished: it was ended early, by a signal or by the harness, or a case never began because time was over.
    """

    title: Title
    missing: tuple[str, ...]
    guarantees: tuple[str, ...]
    windows_hit: dict[str, int]
    windows_missed: tuple[str, ...]
    failure_bound: float | None
    drawn_plans: int
    supplied_by_author: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    decided: int = 0
    on_its_word: int = 0
    tiers: tuple[Tier, ...] = ()
    not_tried: tuple[Tier, ...] = ()
    scope: Scope = Scope.THOROUGH
    left_out: tuple[LeftOut, ...] = ()
    unfinished: bool = False


class PartReport(Titled, msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part of a system, as its kit judged it.

    Attributes:
        contract: name of the kit.
        factory: of the part, as the kit knows it.
        title: of its own certificate.
        missing: what keeps it from being CERTIFIED, one sentence each, worst first; of one that was not tried, why.
        checks: how many the kit ran.
        report: its own report, relative to the folder of the journal; empty: it was not tried.
        tiers: that the title speaks of.
        errors: in how many of its checks the harness itself failed, or once where it never came to them.
    """

    contract: str
    factory: str
    title: Title
    missing: tuple[str, ...] = ()
    checks: int = 0
    report: str = ""
    tiers: tuple[Tier, ...] = ()
    errors: int = 0


class SubjectReport(Titled, msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result for all parts of one kind together, and for what runs of the whole system decide about them.

    Attributes:
        subject: `SB`, `ST`, ...
        title: one word.
        missing: what keeps it from being CERTIFIED, one sentence each, worst first.
        rules: how many rules apply to the subject.
        decided: how many of them are decided, by a kit or by runs.
        parts: those of the subject.
        errors: in how many of its parts or their checks the harness itself failed.
        tiers: that the title speaks of.
    """

    subject: str
    title: Title
    missing: tuple[str, ...]
    rules: int
    decided: int
    parts: tuple[PartReport, ...]
    errors: int = 0
    tiers: tuple[Tier, ...] = ()

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Of each part; and of all together, where that comes to something that no part does."""
        parts = tuple(map(self._of_part, self.parts))
        own = Standing(self.subject, self.subject, status_of(self.title, self.errors), self.heading, self.missing)
        return parts if own.status in {each.status for each in parts} else (*parts, own)

    def _of_part(self, part: PartReport) -> Standing:
        """The standing of a part. If none of its checks was chosen, nothing is open: the subject shows that they did
        not run."""
        title = Title.PARTIAL if part.title is Title.INCONCLUSIVE and not part.checks else part.title
        return Standing(
            f"{part.contract} {part.factory}",
            self.subject,
            status_of(title, part.errors),
            heading(title, part.tiers),
            part.missing,
            part.report,
        )
