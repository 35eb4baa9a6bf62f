"""What an oracle returns, and what a violated clause does to a user."""

from __future__ import annotations

from collections.abc import Mapping, Set
from enum import StrEnum
from types import MappingProxyType

import msgspec
from msgspec.structs import force_setattr, replace


class Damage(StrEnum):
    """From worst to least: a finding is named after the worst that its run shows."""

    LOSS = "data loss"
    """A record that was read has no effect in the committed output."""
    DUPLICATE = "duplicate"
    """A record has its effect there more than once."""
    TOO_MUCH = "too much"
    """The row of a key is there, and each number that is wrong in it is too high."""
    WRONG_VALUE = "wrong value"
    """The row of a key is there, and is not what its author expects: too low, or another one."""
    WRONG_OUTPUT = "wrong output"
    """A committed row has a value that its input does not give."""
    UNSTABLE_OUTPUT = "output changed after it was visible"
    """A row that readers saw is gone, or another one."""
    WRONG_ORDER = "wrong order"
    """Rows of one key stand in another order than their input."""
    OVERCLAIM = "claims more than it keeps"
    """A loss or a duplicate shows it, and is no defect of its own: the claim is what is wrong."""
    WRONG_STATE = "wrong state"
    """State after a recovery is not that of the checkpoint."""
    MISSING_FILE = "missing checkpoint file"
    """A retained checkpoint names a file that is not there."""
    NEVER_RECOVERED = "never recovered"
    """The job does not run, or completes no checkpoint, after all faults are healed."""
    STOPPED = "stopped"
    """The job failed by an error of its own, without a fault."""
    BROKEN_TRANSACTION = "broken transaction"
    """What a sink prepared, committed or aborted does not fit the checkpoints."""
    WRONG_RESTART = "wrong restart"
    """The job restarts more or less often, or sooner or later, than its strategy allows."""
    WRONG_RESCALE = "wrong rescale"
    """State or splits are not dealt out as the new parallelism wants it."""
    LEAKED_FILE = "leaked file"
    """A file stays that no checkpoint needs."""
    WRONG_CHECKPOINT_PLACE = "checkpoint in the wrong place"
    """A query keeps its progress where others do, or where nobody finds it again."""
    BROKEN_CHECKPOINT = "broken checkpoint"
    """A checkpoint is no consistent cut, or its steps come in a wrong order."""
    WRONG_CONFIGURATION = "wrong configuration"
    """The system does not do what its options say."""
    WRONG_REPORT = "wrong report"
    """A number that it reports of a checkpoint is wrong."""
    WRONG_DIGEST = "wrong digest"
    """The row is right: whoever writes it computes its digest in another way."""
    OTHER = "violated rule"
    """Of an oracle that names no damage for its clauses."""


SYMPTOMS = frozenset(
    {
        Damage.LOSS,
        Damage.DUPLICATE,
        Damage.TOO_MUCH,
        Damage.WRONG_VALUE,
        Damage.WRONG_OUTPUT,
        Damage.UNSTABLE_OUTPUT,
        Damage.WRONG_ORDER,
        Damage.NEVER_RECOVERED,
        Damage.STOPPED,
        Damage.WRONG_REPORT,
        Damage.WRONG_DIGEST,
    }
)
"""What shows that something broke, and breaks nothing else itself."""
DAMAGE_RANK = {damage: rank for rank, damage in enumerate(Damage)}


CLAUSES: Mapping[str, str] = MappingProxyType(
    {
        "COORD/abort-not-told": "COORD/abort-not-notified",
        "COORD/told-before-durable": "COORD/notified-before-durable",
        "COUNT/cause-not-told": "COUNT/cause-not-reported",
        "FENCE/superseded-heard": "FENCE/superseded-notified",
        "FINAL/asked-wrongly": "FINAL/wrong-participants",
        "RETAIN/start-not-told": "RETAIN/start-not-reported",
    }
)
"""Clauses that were renamed, as stored results and cases of other packages may still name them: from the former
`ORACLE/clause` to that of now. They are read for one release: 0.2 drops them."""

RENAMED = frozenset(label.partition("/")[0] for label in CLAUSES)
"""Oracles that have such a clause."""


def current_label(label: str) -> str:
    """The name of now of an `ORACLE/clause`; itself if it was never renamed."""
    return CLAUSES.get(label, label)


def current_clause(oracle: str, clause: str) -> str:
    """The same of a clause without its oracle."""
    return current_label(f"{oracle}/{clause}").removeprefix(f"{oracle}/")


class Outcome(StrEnum):
    """PASS < INCONCLUSIVE < FAIL; never a boolean, because 'could not tell' is neither."""

    PASS = "pass"
    """It decided something, and found no violation."""
    INCONCLUSIVE = "inconclusive"
    """It could not tell."""
    FAIL = "fail"
    """It found a violation."""


_RANK = {Outcome.PASS: 0, Outcome.INCONCLUSIVE: 1, Outcome.FAIL: 2}


def worst(outcomes: list[Outcome]) -> Outcome:
    """The worst of several outcomes; INCONCLUSIVE of none, because nothing was judged."""
    return max(outcomes, key=_RANK.__getitem__, default=Outcome.INCONCLUSIVE)


NOTHING_TO_DECIDE = "the history holds nothing that this oracle could decide"
"""The reason of a verdict that decides nothing."""
CRASHED = "oracle crashed:"
"""How the reason of a verdict begins whose oracle raised an error."""


class Moment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event of a stored history: its node, its sequence within the node, and its time as `Event.time_ns`."""

    node: str
    sequence: int
    time_ns: int


class Anomaly(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A violated invariant, named.

    Attributes:
        clause: the name of the violated clause of the oracle, such as `record-after-barrier`.
        message: one sentence in plain words that names the subtask, checkpoint, offset or row.
        witness: the fewest events or rows that show it, as lines, earliest first.
        at: the event that broke the clause, the last one of the witness; None: rows alone show it.
        damage: what it does to a user, where that does not follow from the clause.
    """

    clause: str
    message: str
    witness: tuple[str, ...] = ()
    at: Moment | None = None
    damage: Damage | None = None


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The judgement of one oracle on one history.

    Attributes:
        oracle: its name, such as `CUT`.
        outcome: FAIL exactly if there are anomalies.
        anomalies: at most a few of each clause; the first is the first in causal order.
        checked: by clause, how many times it had something to decide. A clause that was never exercised is not passed.
        reason: why it is inconclusive; empty otherwise.
        information: notes that are no failure, such as a guarantee refuted that was not claimed.
    """

    oracle: str
    outcome: Outcome
    anomalies: tuple[Anomaly, ...] = ()
    checked: dict[str, int] = {}
    reason: str = ""
    information: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.oracle in RENAMED:  # A stored verdict may hold the former name of a clause.
            anomalies = (replace(each, clause=current_clause(self.oracle, each.clause)) for each in self.anomalies)
            force_setattr(self, "anomalies", tuple(anomalies))
            checked = {current_clause(self.oracle, clause): times for clause, times in self.checked.items()}
            force_setattr(self, "checked", checked)

    def rests_on(self, clauses: Set[str]) -> bool:
        """Whether it decided something, and by nothing else than these clauses, as `ORACLE/clause`."""
        decided = {clause for clause, times in self.checked.items() if times}
        decided |= {anomaly.clause for anomaly in self.anomalies}
        return bool(decided) and clauses >= {f"{self.oracle}/{clause}" for clause in decided}

    @property
    def had_nothing_to_decide(self) -> bool:
        """Then it raises no doubt about the run; a rule that rests on its clauses is still not passed by it."""
        return not any(self.checked.values()) and not self.reason.startswith(CRASHED)


def without_clauses(verdict: Verdict, clauses: Set[str]) -> Verdict:
    """The verdict as if an oracle had not these clauses."""
    anomalies = tuple(each for each in verdict.anomalies if each.clause not in clauses)
    checked = {clause: times for clause, times in verdict.checked.items() if clause not in clauses}
    outcome, reason = verdict.outcome, verdict.reason
    if outcome is Outcome.FAIL and not anomalies:
        outcome = Outcome.PASS
    if outcome is Outcome.PASS and not any(checked.values()):
        outcome, reason = Outcome.INCONCLUSIVE, NOTHING_TO_DECIDE
    return replace(verdict, outcome=outcome, anomalies=anomalies, checked=checked, reason=reason)
