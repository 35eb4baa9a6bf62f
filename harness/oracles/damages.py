"""What the clauses of the built-in oracles do to a user, the words that a finding begins with; which explain others.

An oracle has one damage for all its clauses, or one for some. What a single anomaly shows better than its clause, such
as a sum that holds a record twice, that anomaly names itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.verdict import Anomaly, Damage

DAMAGES: Mapping[str, Damage] = {
    "CHAIN": Damage.BROKEN_CHECKPOINT,
    "CONFIG": Damage.WRONG_CONFIGURATION,
    "CONFIG/claimed-too-much": Damage.OVERCLAIM,
    "COORD": Damage.BROKEN_CHECKPOINT,
    "COORD/restored-not-latest": Damage.WRONG_RESTART,
    "COORD/started-late-attempt": Damage.WRONG_RESTART,
    "COORD/state-not-discarded": Damage.LEAKED_FILE,
    "COORD/tasks-restored-differently": Damage.WRONG_STATE,
    "COUNT": Damage.WRONG_RESTART,
    "CUT": Damage.BROKEN_CHECKPOINT,
    "CUT/copies-differ": Damage.WRONG_STATE,
    "CUT/skipped-differs": Damage.WRONG_STATE,
    "CUT/state-extra": Damage.WRONG_STATE,
    "CUT/state-missing": Damage.WRONG_STATE,
    "digest-wrong": Damage.WRONG_DIGEST,
    "EXACT": Damage.WRONG_OUTPUT,
    "EXACT/beyond-input": Damage.DUPLICATE,
    "EXACT/input-missing": Damage.LOSS,
    "EXACT/late-change": Damage.UNSTABLE_OUTPUT,
    "EXACT/order-broken": Damage.WRONG_ORDER,
    "EXACT/row-repeated": Damage.DUPLICATE,
    "FEEDBACK": Damage.WRONG_STATE,
    "FEEDBACK/lost-outside-loop": Damage.LOSS,
    "FENCE": Damage.BROKEN_CHECKPOINT,
    "FENCE/superseded-deleted": Damage.MISSING_FILE,
    "FINAL": Damage.BROKEN_CHECKPOINT,
    "FINAL/exit-uncommitted": Damage.BROKEN_TRANSACTION,
    "FINAL/record-not-committed": Damage.LOSS,
    "INVARIANT": Damage.WRONG_OUTPUT,
    "LIVE": Damage.NEVER_RECOVERED,
    "LOCAL": Damage.WRONG_STATE,
    "LOCAL/copy-left": Damage.LEAKED_FILE,
    "LOCAL/intact-copy-unused": Damage.WRONG_RESTART,
    "LOCAL/kept-though-off": Damage.WRONG_CONFIGURATION,
    "LOCAL/local-failure-counts": Damage.BROKEN_CHECKPOINT,
    "LOCAL/acked-unstored": Damage.BROKEN_CHECKPOINT,
    "LOCAL/moved": Damage.WRONG_RESTART,
    "LOCAL/spoilt-copy-fatal": Damage.WRONG_RESTART,
    "LOUD": Damage.WRONG_STATE,
    "LOUD/accepted-bad-option": Damage.WRONG_CONFIGURATION,
    "LOUD/directory-not-named": Damage.WRONG_REPORT,
    "LOUD/refused-good-option": Damage.WRONG_CONFIGURATION,
    "MESSAGE": Damage.BROKEN_CHECKPOINT,
    "METRICS": Damage.WRONG_REPORT,
    "NOLOSS": Damage.WRONG_OUTPUT,
    "NOLOSS/input-lost": Damage.LOSS,
    "NOREPEAT": Damage.DUPLICATE,
    "NOREPEAT/record-unknown": Damage.WRONG_OUTPUT,
    "PACE": Damage.BROKEN_CHECKPOINT,
    "PLACE": Damage.WRONG_CHECKPOINT_PLACE,
    "PROGRESS": Damage.NEVER_RECOVERED,
    "REACH": Damage.MISSING_FILE,
    "REGION": Damage.WRONG_RESTART,
    "REREAD": Damage.WRONG_RESTART,
    "RESCALE": Damage.WRONG_RESCALE,
    "RESTORE": Damage.WRONG_STATE,
    "RESTORE/audit-failed": Damage.MISSING_FILE,
    "RESTORE/recovery-not-repeated": Damage.WRONG_RESTART,
    "RESUME": Damage.WRONG_RESTART,
    "RETAIN": Damage.MISSING_FILE,
    "RETAIN/failed-deletion-fails": Damage.BROKEN_CHECKPOINT,
    "RETAIN/kept-wrongly": Damage.LEAKED_FILE,
    "RETAIN/restored-elsewhere": Damage.WRONG_RESTART,
    "RETAIN/start-not-reported": Damage.WRONG_REPORT,
    "RETAIN/too-many-retained": Damage.LEAKED_FILE,
    "SAVEPOINT": Damage.BROKEN_CHECKPOINT,
    "SAVEPOINT/claimed-left": Damage.LEAKED_FILE,
    "SAVEPOINT/claimed-too-early": Damage.MISSING_FILE,
    "SAVEPOINT/savepoint-deleted": Damage.MISSING_FILE,
    "SHARED": Damage.MISSING_FILE,
    "SHARED/conflict-accepted": Damage.WRONG_STATE,
    "SHARED/late-state-left": Damage.LEAKED_FILE,
    "SHARED/left-behind": Damage.LEAKED_FILE,
    "SHARED/placeholder-accepted": Damage.WRONG_STATE,
    "SHARED/registered-untimely": Damage.BROKEN_CHECKPOINT,
    "SHARED/uses-misreported": Damage.WRONG_REPORT,
    "SHARED/wrong-files": Damage.WRONG_STATE,
    "SNAPSHOT": Damage.BROKEN_CHECKPOINT,
    "SNAPSHOT/aborted-file-left": Damage.LEAKED_FILE,
    "STABLE": Damage.UNSTABLE_OUTPUT,
    "STATE": Damage.WRONG_STATE,
    "TIME": Damage.WRONG_STATE,
    "TTL": Damage.WRONG_STATE,
    "TXN": Damage.BROKEN_TRANSACTION,
    "TXN/aborted-data-lost": Damage.LOSS,
    "value-wrong": Damage.WRONG_VALUE,
    "WINDOW": Damage.WRONG_OUTPUT,
    "WINDOW/window-missing": Damage.LOSS,
    "WINDOW/window-repeated": Damage.DUPLICATE,
}
"""By oracle, by `ORACLE/clause` where one differs from its oracle, and by clause where all oracles mean the same."""

CONSEQUENCES = (Damage.WRONG_REPORT, Damage.NEVER_RECOVERED, Damage.STOPPED)
"""What has a cause elsewhere, if anything else broke; the vaguest last."""
VAGUE: tuple[frozenset[str], ...] = (
    frozenset({"REACH", "RESTORE/audit-failed", "STATE/state-unreadable"}),
    frozenset({"COUNT/refused-by-store"}),
    *(frozenset({damage}) for damage in CONSEQUENCES),
)
"""Clauses that show that something broke, but not what: by oracle, clause or damage, the vaguest last. Any other clause
explains these, and each explains those behind it, whatever the order in time: a deleted file breaks the promise of its
checkpoint only when it is missed."""


def damage_of(oracle: str, anomaly: Anomaly) -> Damage:
    """What an anomaly does to a user."""
    if anomaly.damage is not None:
        return anomaly.damage
    return next((DAMAGES[name] for name in _names(oracle, anomaly) if name in DAMAGES), Damage.OTHER)


def vagueness(oracle: str, anomaly: Anomaly) -> int:
    """How little an anomaly explains: 0 for what broke itself, more for what shows that something did."""
    names = {damage_of(oracle, anomaly), *_names(oracle, anomaly)}
    return next((rank for rank, vague in enumerate(VAGUE, 1) if names & vague), 0)


def _names(oracle: str, anomaly: Anomaly) -> tuple[str, str, str]:
    """Under which a clause may stand in a table, the most exact first."""
    return f"{oracle}/{anomaly.clause}", anomaly.clause, oracle
