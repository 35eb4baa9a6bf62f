"""What state holds, against what it must hold: more than the model is judged by NO_DUPLICATE, less by NO_LOSS, as many
but others by both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.events import Event, StateSummary
from holdfast.harness.model.history import History
from holdfast.harness.model.plural import plural
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.models.state_fold import MODULUS, StateFold, Sums


def held_by(states: Iterable[StateSummary]) -> Sums:
    """What some states hold together."""
    records = value = digest = 0
    for state in states:
        records, value, digest = records + state.records, value + state.value, digest + state.digest
    return records, value, digest


def judge_held(
    history: History,
    fold: StateFold,
    below: Sums,
    found: Sums,
    where: str,
    witness: Sequence[Event],
    findings: Findings,
) -> bool:
    """Decide `state-extra` and `state-missing` of one checkpoint.

    Args:
        below: what is before its source positions.
        found: what it holds.
        where: the checkpoint, as the beginning of a sentence.

    Returns:
        Whether they are the same.
    """
    records, value, digest = below
    held, values, digests = found
    surplus = held - records
    # An accused that cannot carry a digest leaves it at zero: its values decide alone
    digest_off = (digests - digest) % MODULUS if digests or not held else 0
    value_off = (values - value) % MODULUS
    exact = not (surplus or value_off or digest_off)
    for clause, guarantee, broken in (
        ("state-extra", Guarantee.NO_DUPLICATE, not exact and surplus >= 0),
        ("state-missing", Guarantee.NO_LOSS, not exact and surplus <= 0),
    ):
        if guarantee not in history.claims.state:
            continue
        # What is neither exact nor broken decides nothing: a surplus that is not denied may hide a loss
        findings.check(clause, exact or broken)
        if broken:
            kind = "too much" if surplus > 0 else "missing" if surplus < 0 else "wrong"
            culprit = fold.culprit(surplus, digest_off) or "no two records and no one range"
            message = (
                f"{where} holds {plural(held, 'record')}, {records} are before its source positions; {kind}: {culprit}"
            )
            findings.violated(clause, message, *witness)
    return exact
