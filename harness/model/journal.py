"""What the harness did and found: the one value that every reporter reads, stored as `results.json`.

Reporters show; they never compute a verdict. Everything that a report says is a field here.
"""

from __future__ import annotations

import msgspec

from holdfast.harness.model.case import Tier
from holdfast.harness.model.certificate import CERTIFICATE, Standing, status_of
from holdfast.harness.model.certificate import Certificate as Certificate
from holdfast.harness.model.certificate import PartReport as PartReport
from holdfast.harness.model.certificate import SubjectReport as SubjectReport
from holdfast.harness.model.certificate import Title as Title
from holdfast.harness.model.consequence import FaultFate
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.own_deaths import OwnDeaths
from holdfast.harness.model.rule import Place, Rule
from holdfast.harness.model.status import STATUS_RANK as STATUS_RANK
from holdfast.harness.model.status import Status as Status
from holdfast.harness.model.verdict import Outcome, Verdict


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all processes of an invocation together used.

    Attributes:
        processor_s: processor time.
        peak_memory_mb: memory at the moment when it was most; 0: not known.
    """

    processor_s: float
    peak_memory_mb: float


RESULTS_VERSION = 6
"""5: a rule has its sources as plain text, and does not say why it matters."""


class Lane(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A node of the timeline. Times in milliseconds since the start of the run, on the harness's clock.

    Attributes:
        name: such as `worker 1` or `coordinator`.
        lives: (start, end) of each of its lives.
    """

    name: str
    lives: tuple[tuple[float, float], ...]


class Span(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A checkpoint on the timeline. `outcome` is `completed`, `aborted` or `pending`; `reason`: why it was aborted."""

    checkpoint: int
    start_ms: float
    end_ms: float
    outcome: str
    reason: str = ""


class Band(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault on the timeline.

    Attributes:
        fault: index in the plan.
        kind: such as `kill`.
        target: in words, such as `worker 1`.
        start_ms, end_ms: from inject to heal; equal for a kill.
        fate: what became of it, proved afterwards.
        precision: `exact`, `boundary` or `polled`; `by-time` where no effect names its fault.
        colour: the fault's own colour, as a CSS colour.
        leaves: what it leaves undecided, in words.
    """

    fault: int
    kind: str
    target: str
    start_ms: float
    end_ms: float
    fate: FaultFate
    precision: str
    colour: str
    leaves: str = ""


class Timeline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run, ready to be drawn.

    Attributes:
        duration_ms: of the whole run, settle window included.
        lanes: coordinator first, then the workers, then the services that the run depended on.
        checkpoints, faults: spans and bands.
        restarts_ms: when a new execution attempt was deployed (the first start excluded).
        healed_ms: end of the heal phase.
        visible_rows: (time, committed rows visible so far), at most 200 points.
        records: (time, records per second taken by the sources), at most 200 points.
    """

    duration_ms: float
    lanes: tuple[Lane, ...]
    checkpoints: tuple[Span, ...] = ()
    faults: tuple[Band, ...] = ()
    restarts_ms: tuple[float, ...] = ()
    healed_ms: float = 0.0
    visible_rows: tuple[tuple[float, int], ...] = ()
    records: tuple[tuple[float, float], ...] = ()


class Recovery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a landed fault led to. Milliseconds since it acted, or since its heal if it lasts; None: unknown.

    Attributes:
        fault: index in the plan.
        attack: what it is counted under, such as `kill worker` or `kill executor`.
        target: in words, such as `worker 1`.
        to_running_ms: until the job was RUNNING again; None also where it never was anything else.
        to_committed_ms: until output was visible of a checkpoint that was triggered afterwards.
    """

    fault: int
    attack: str
    target: str
    to_running_ms: float | None
    to_committed_ms: float | None


class RunResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One executed plan.

    Attributes:
        id: unique in the journal, such as `barriers-alignment-0007`.
        case: id of the case that it belongs to.
        tier: where it ran.
        system: with variant.
        draw_seed, run_seed: of the plan.
        plan_digest: SHA-256 of the canonical plan.
        plan_text: one line on the plan: job, workload, topology and faults in words.
        outcome: the worst verdict, or inconclusive with `reason`.
        reason: why inconclusive, such as `faults[0] (kill) never acted`.
        verdicts: of every oracle that applies.
        trace_hash: on the simulator.
        events: number of events in the history.
        dispatched: number of events dispatched by the simulator, 0 elsewhere.
        checkpoints: completed.
        records: input records.
        rows: committed rows.
        restarts: execution attempts after the first.
        planned: faults of the plan by attack, such as `kill worker`.
        landed: those that landed.
        windows: by window that a fault of the plan aimed at, such as `kill worker before commit`, or that its case
            demands, such as `restored-state`, whether it was hit; also others that were hit, if the run counts.
        claims: what the system under test claimed under this plan, in words.
        wall_ms: what the run cost.
        stalled_ms: how long, of that, processes of the run waited for a processor or a disk; 0 where that was not
            measured.
        refused_connections: how many connected to processes of the run who are not of it.
        plan_number: of the plan among those of its case, from 0; -1 where the case has no such order.
        replay: the command that repeats it, to be pasted in the folder of the report or in the one that holds that.
        artefacts: folder of the stored history, relative to the report, if it was kept.
        timeline: kept for failures and a choice of passing runs.
        details: file with its checkpoints and pictures, relative to the report; empty: there is none.
        finding: what broke, if the run failed.
        died_at_once: the system under test ended by itself so often before it did anything; None: it did not.
        on_its_word: oracles of which the verdict rests on the word of the system under test alone.
        unclaimed: clauses, as `ORACLE/clause`, that are about nothing that the system claims in this run.
        lacks: of a rehearsal: what is missing, so that no run with faults could decide anything; empty: nothing.
        absent: what a fault of its plan acts on and the system lacks, so that the plan does not apply; empty: nothing.
        shrunk_from: id of the run whose plan was made smaller for this one; it is counted in no case.
        recoveries: from each landed fault; on real tiers, because virtual time only repeats the plan's delays.
    """

    id: str
    case: str
    tier: Tier
    system: str
    draw_seed: int
    run_seed: int
    plan_digest: str
    plan_text: str
    outcome: Outcome
    reason: str
    verdicts: tuple[Verdict, ...]
    trace_hash: str
    events: int
    dispatched: int
    checkpoints: int
    records: int
    rows: int
    restarts: int
    landed: dict[str, int]
    wall_ms: float
    replay: str
    planned: dict[str, int] = {}
    windows: dict[str, bool] = {}
    claims: str = ""
    stalled_ms: float = 0.0
    refused_connections: int = 0
    plan_number: int = -1
    artefacts: str = ""
    timeline: Timeline | None = None
    recoveries: tuple[Recovery, ...] = ()
    details: str = ""
    finding: Finding | None = None
    died_at_once: OwnDeaths | None = None
    on_its_word: tuple[str, ...] = ()
    unclaimed: tuple[str, ...] = ()
    lacks: str = ""
    absent: str = ""
    shrunk_from: str = ""


class CaseResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One case on one tier.

    Attributes:
        case, tier: which.
        status: FAIL if one run failed, INCONCLUSIVE if fewer runs passed than it demands, else PASS; NOT_APPLICABLE
            and UNTESTED (tier not run) with their reason.
        reason: one sentence.
        purpose, method, passes: from the case.
        rules: decided rule to its status in this case.
        rule_reasons: one sentence for each rule that is not PASS.
        runs_demanded, runs_passed, runs_failed, runs_inconclusive: counts.
        inconclusive_causes: by cause.
        figures: what was measured, sentences.
        wall_ms: what all runs took, one after the other.
    """

    case: str
    tier: Tier
    status: Status
    reason: str
    purpose: str
    method: str
    passes: str
    rules: dict[str, Status]
    rule_reasons: dict[str, str]
    runs_demanded: int
    runs_passed: int
    runs_failed: int
    runs_inconclusive: int
    inconclusive_causes: dict[str, int]
    figures: tuple[str, ...] = ()
    wall_ms: float = 0.0


class RuleResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule with the status that follows from the cases.

    Attributes:
        rule: the rule itself.
        status: the worst of its children.
        reason: one sentence where it is not PASS, and where a case of it failed by a clause that does not decide it.
        cases: ids of the cases that decide it.
        tiers: that took part.
        oracles: `ORACLE/clause` that decide it.
        mutants: wrong systems that show that it can fail.
        failed_runs: ids of runs that refuted it.
        failed_cases: its cases that failed by a clause that does not decide it.
        observed_by: those of `oracles` that some run decided by what was seen from outside the system under test.
        places: where its cases, clauses, wrong variants and the step of the reference that keeps it are written down.
    """

    rule: Rule
    status: Status
    reason: str
    cases: tuple[str, ...] = ()
    tiers: tuple[Tier, ...] = ()
    oracles: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()
    failed_runs: tuple[str, ...] = ()
    failed_cases: tuple[str, ...] = ()
    observed_by: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()

    @property
    def on_its_word(self) -> bool:
        """Whether runs decided it by what the system under test records of itself, and by nothing else."""
        return bool(self.tiers) and not self.observed_by

    def concerns(self, subject: str) -> bool:
        """Whether a rule is of a subject."""
        return subject in self.rule.subjects

    def counts_for(self, subject: str) -> bool:
        """Whether a certificate of a subject counts the rule: also one of others that was refuted."""
        return self.concerns(subject) or self.status is Status.FAIL


class TierReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether a tier ran, and if not, why: what is missing on this machine."""

    tier: Tier
    ran: bool
    reason: str
    runs: int = 0


class Journal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything one invocation did. Written once, as `results.json`; every report is made from it.

    Attributes:
        version: schema version.
        command: as typed.
        system: the system under test, with variant.
        subject: `RT`, `SB`, ...
        profile: option defaults in force, such as `flink-2.x`.
        claims: in words, such as `state exactly-once, output exactly-once`.
        evidence: event kind to how the system under test supplies it.
        started, duration_s: wall clock, ISO 8601 in UTC, and seconds.
        interrupted: name of the signal, or what else ended it early; empty: nothing did.
        versions: holdfast, python, libraries, platform.
        seed: that all draws come from.
        plans_digest, history_digest: SHA-256 over the digests of all plans, and of all stored histories.
        tiers, cases, rules, runs: the results. Runs of a large case may be thinned to failures and examples; the
            counts in `cases` are complete.
        certificate: the card.
        findings: what is refuted and what is open, worst first, identical ones once.
        oracle_titles: by name of an oracle, its title in reports.
        subjects: what else is certified, beside `subject`: of parts that their kits judged.
        usage: what it needed of the machine; None: not measured.
    """

    version: int = RESULTS_VERSION
    command: str
    system: str
    subject: str
    profile: str
    claims: str
    evidence: dict[str, str]
    started: str
    duration_s: float
    interrupted: str
    versions: dict[str, str]
    seed: int
    plans_digest: str
    history_digest: str
    tiers: tuple[TierReport, ...]
    cases: tuple[CaseResult, ...]
    rules: tuple[RuleResult, ...]
    runs: tuple[RunResult, ...]
    certificate: Certificate
    findings: tuple[Finding, ...] = ()
    oracle_titles: dict[str, str] = {}
    subjects: tuple[SubjectReport, ...] = ()
    usage: Usage | None = None

    @property
    def standings(self) -> tuple[Standing, ...]:
        """What is certified comes to: the system itself, then its parts."""
        card = self.certificate
        statuses = [*(each.status for each in self.cases), *(each.status for each in self.rules)]
        own = Standing(
            CERTIFICATE, self.subject, status_of(card.title, statuses.count(Status.ERROR)), card.heading, card.missing
        )
        return (own, *(standing for subject in self.subjects for standing in subject.standings))

    @property
    def status(self) -> Status:
        """The worst of what it comes to: the exit code follows from it."""
        return max((each.status for each in self.standings), key=STATUS_RANK.__getitem__)

    @property
    def title(self) -> Title:
        """The title of the system itself, or, where that is worse, of a part that is refused or open."""
        if self.status is Status.FAIL:
            return Title.REFUSED
        return Title.INCONCLUSIVE if self.status in (Status.ERROR, Status.INCONCLUSIVE) else self.certificate.title

    @property
    def headline(self) -> str:
        """The title with its tiers."""
        own = self.certificate.heading
        return own if self.title is self.certificate.title else f"{self.title} in a part, itself {own}"

    @property
    def heading(self) -> str:
        """The title with its tiers, and what ended it early."""
        ended = f", interrupted by {self.interrupted}" if self.interrupted else ""
        return f"{self.headline}{ended}"

    @property
    def is_certified(self) -> bool:
        """Whether all that is certified is so in full."""
        return {self.title, *(each.title for each in self.subjects)} == {Title.CERTIFIED}
