"""What many runs add up to, in bounded memory: the runs themselves are kept only where somebody will look at them. And
when a case gives up: the system under test ends by itself at once, run after run, in the same way."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from holdfast.harness.engine.cases.results import cause_of, harness_broke
from holdfast.harness.model.capability import AT_LEAST_ONCE, AT_MOST_ONCE, Guarantee, guarantee_name
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.own_deaths import OwnDeaths
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Outcome, Verdict

RUNS_ALIKE = 3
"""So many runs in a row that end so are enough; a fourth would show nothing else."""


class DeathsAtOnce:
    """The last runs of one case, as far as they ended so."""

    def __init__(self) -> None:
        self._runs = 0
        self._deaths: OwnDeaths | None = None

    def add(self, result: RunResult) -> None:
        """Take the next run."""
        died, before = result.died_at_once, self._deaths
        if died is None:
            self._runs, self._deaths = 0, None
        elif before is None or not before.alike(died):
            self._runs, self._deaths = 1, died
        else:
            self._runs += 1
            self._deaths = msgspec.structs.replace(died, times=before.times + died.times)

    @property
    def reason(self) -> str:
        """Why no further run begins, in words; empty: one may."""
        if self._deaths is None or self._runs < RUNS_ALIKE:
            return ""
        return (
            f"the system under test died by itself {self._deaths.times} times in {plural(self._runs, 'run')} before it "
            f"did anything, each time with {self._deaths.cause}; no further run was begun"
        )


ClauseKey = tuple[str, str]
"""Oracle and clause."""
_OUTPUT_ORACLES = frozenset({"EXACT", "INVARIANT", "NOLOSS", "NOREPEAT", "STABLE", "TXN", "WINDOW"})
_STATE_ORACLES = frozenset({"CUT", "RESTORE", "STATE"})
OF_STATE: Mapping[Guarantee, frozenset[ClauseKey]] = {
    Guarantee.NO_LOSS: frozenset({("CUT", "state-missing"), ("STATE", "state-missing")}),
    Guarantee.NO_DUPLICATE: frozenset({("CUT", "state-extra"), ("STATE", "state-extra")}),
}
"""By guarantee: each of these clauses compares what state holds with the input."""
OF_OUTPUT: Mapping[Guarantee, frozenset[ClauseKey]] = {
    Guarantee.NO_LOSS: frozenset({("EXACT", "input-missing"), ("NOLOSS", "input-lost"), ("WINDOW", "window-missing")}),
    Guarantee.NO_DUPLICATE: frozenset(
        {("EXACT", "row-wrong"), ("EXACT", "row-repeated"), ("NOREPEAT", "record-repeated"),
         ("WINDOW", "window-repeated")}
    ),
}  # fmt: skip
"""By guarantee: each of these clauses compares committed output with the input. An invariant of the user alone shows
neither."""
NO_GUARANTEE = guarantee_name(frozenset())
_NAMED = {guarantee_name(each): each for each in (AT_LEAST_ONCE | AT_MOST_ONCE, AT_LEAST_ONCE, AT_MOST_ONCE)}


def claims_in(text: str) -> tuple[str, ...]:
    """The claims of a run, as `state exactly-once`, from its `RunResult.claims`."""
    return tuple(claim for claim in text.split(", ") if claim and not claim.endswith(NO_GUARANTEE))


def verdicts_on(claim: str, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts of a run that can refute a claim."""
    oracles = _STATE_ORACLES if _is_of_state(claim) else _OUTPUT_ORACLES
    return tuple(verdict for verdict in verdicts if verdict.oracle in oracles)


def is_decided(claim: str, verdicts: Iterable[Verdict]) -> bool:
    """Whether a run decides a claim: it refutes it, or each guarantee of it was compared with the input, and nothing
    about it stayed open, such as records that stalled."""
    on_it = verdicts_on(claim, verdicts)
    if any(verdict.anomalies for verdict in on_it):
        return True
    if any(verdict.outcome is Outcome.INCONCLUSIVE and not verdict.had_nothing_to_decide for verdict in on_it):
        return False
    compared = {(verdict.oracle, clause) for verdict in on_it for clause, times in verdict.checked.items() if times}
    deciding = OF_STATE if _is_of_state(claim) else OF_OUTPUT
    guarantees = _NAMED[claim.partition(" ")[2]]
    return all(not deciding[guarantee].isdisjoint(compared) for guarantee in guarantees)


def _is_of_state(claim: str) -> bool:
    return claim.startswith("state ")


STALLED_SHARE = 0.02
"""Of a run, from which share on its processes waited too long for a processor."""


class Tally:
    """Counts over the runs of one case on one tier.

    Attributes:
        runs, passed, failed, inconclusive: counts.
        passed_beside: runs that passed and missed a window that they aimed at, or were to hit.
        counted: numbers of the plans that a run counts of; runs without such a number each have one of their own.
        deaths_at_once: whether the last runs ended by a death of the system under test.
        stalled: runs in which the machine was too busy.
        lacks: what a rehearsal showed to be missing.
        absent: by number of a plan that was written by hand, what it strikes that the system under test has not.
        errors: reasons of the runs in which the harness broke.
        ends: reasons of the runs in which the system ended its process.
        drawn, drawn_failed: of the runs that count, those of plans that were drawn and not written by hand.
        causes: why runs were inconclusive, numbers left out.
        planned, landed: faults by attack, of plans that apply.
        wall_ms: what all runs cost.
        aimed, hit: by window, runs that aimed at it, or were to hit it, and runs that count and hit it.
        due: windows that a run that counts aimed at, or was to hit.
        checked: by clause, how often it had something to decide in a run that counts.
        checked_beside: by window, the clauses that had something to decide in a run that counts and hit it.
        unclaimed: by clause, the runs that count and do not claim what it is about.
        refuted: by clause, the runs that showed an anomaly.
        claims: by claim in words, the runs that count, made it and decided it.
        undecided_claims: by claim in words, the runs that count, made it and say nothing about it.
        refuted_claims: by claim in words, the first run that refuted it, with the clause.
        checkpoints, two_landed: runs with at least three completed checkpoints, and with two landed faults.
        plans: digest over the digests of all plans.
    """

    def __init__(self) -> None:
        self.runs = self.passed = self.failed = self.inconclusive = self.drawn = self.drawn_failed = 0
        self.checkpoints = self.two_landed = self.dispatched = 0
        self.stalled = self.passed_beside = 0
        self.deaths_at_once = DeathsAtOnce()
        self.counted: set[int] = set()
        self.lacks = ""
        self.absent: dict[int, str] = {}
        self.errors: list[str] = []
        self.ends: list[str] = []
        self.causes: Counter[str] = Counter()
        self.planned: Counter[str] = Counter()
        self.landed: Counter[str] = Counter()
        self.wall_ms = 0.0
        self.aimed: Counter[str] = Counter()
        self.due: set[str] = set()
        self.hit: Counter[str] = Counter()
        self.checked: Counter[ClauseKey] = Counter()
        self.checked_beside: dict[str, set[ClauseKey]] = {}
        self.unclaimed: Counter[str] = Counter()
        self.refuted: dict[ClauseKey, list[str]] = {}
        self.claims: Counter[str] = Counter()
        self.undecided_claims: Counter[str] = Counter()
        self.refuted_claims: dict[str, str] = {}
        self.plans = hashlib.sha256()

    def add(self, result: RunResult) -> None:
        self.runs += 1
        self.deaths_at_once.add(result)
        self.lacks = self.lacks or result.lacks
        if result.absent and not result.draw_seed:
            self.absent[result.plan_number] = result.absent
        self.passed += result.outcome is Outcome.PASS
        self.passed_beside += result.outcome is Outcome.PASS and not all(result.windows.values())
        self.failed += result.outcome is Outcome.FAIL
        self.dispatched += result.dispatched
        self.stalled += result.stalled_ms > STALLED_SHARE * result.wall_ms
        self.checkpoints += result.checkpoints >= 3
        self.two_landed += sum(result.landed.values()) >= 2
        if not result.absent:
            self.planned.update(result.planned)
            self.landed.update(result.landed)
        self.wall_ms += result.wall_ms
        self.plans.update(result.plan_digest.encode())
        for window, hit in result.windows.items():
            self.aimed[window] += 1
            if result.outcome is not Outcome.INCONCLUSIVE:
                self.due.add(window)
            self.hit[window] += hit and result.outcome is not Outcome.INCONCLUSIVE
        if result.outcome is Outcome.INCONCLUSIVE:
            self._add_inconclusive(result)
        else:
            self.counted.add(result.plan_number if result.plan_number >= 0 else -self.runs)
            self._add_verdicts(result)

    def missed_windows(self) -> list[str]:
        """Windows that runs aimed at, or were to hit, and did not. Only runs that count matter: for one that does not,
        another one is run, or the case lacks a run."""
        return sorted(window for window in self.due if not self.hit[window])

    def _add_inconclusive(self, result: RunResult) -> None:
        self.inconclusive += 1
        self.causes[cause_of(result.reason)] += 1
        if harness_broke(result):
            self.errors.append(result.reason)

    def _add_verdicts(self, result: RunResult) -> None:
        if result.draw_seed:
            self.drawn += 1
            self.drawn_failed += result.outcome is Outcome.FAIL
        if result.outcome is Outcome.FAIL and not result.verdicts:
            self.ends.append(result.reason)
        self._add_claims(result)
        self.unclaimed.update(result.unclaimed)
        checked: Counter[ClauseKey] = Counter()
        for verdict in result.verdicts:
            if verdict.outcome is not Outcome.INCONCLUSIVE:
                checked.update({(verdict.oracle, clause): times for clause, times in verdict.checked.items() if times})
            for clause in {anomaly.clause for anomaly in verdict.anomalies}:
                self.refuted.setdefault((verdict.oracle, clause), []).append(result.id)
        self.checked.update(checked)
        for window in (window for window, hit in result.windows.items() if hit):
            self.checked_beside.setdefault(window, set()).update(checked)

    def _add_claims(self, result: RunResult) -> None:
        for claim in claims_in(result.claims):
            counted = self.claims if is_decided(claim, result.verdicts) else self.undecided_claims
            counted[claim] += 1
            for verdict in verdicts_on(claim, result.verdicts):
                if verdict.anomalies:
                    clause = f"{verdict.oracle}/{verdict.anomalies[0].clause}"
                    self.refuted_claims.setdefault(claim, f"run {result.id} ({clause})")
