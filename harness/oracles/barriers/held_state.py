"""What CUT and STATE decide on what state holds, against what it must hold: more than the model is judged by
NO_DUPLICATE, less by NO_LOSS, as many but others by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.events import Event
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.state_fold import MODULUS, StateFold, Sums

Place = TypeVar("Place", str, tuple[str, int])
"""A key, or a window of a key."""


def judge_held(
    history: History,
    fold: StateFold,
    below: Sums,
    found: Sums,
    where: str,
    witness: Sequence[Event],
    findings: Findings,
    *,
    place: str = "before its source positions",
) -> bool:
    """Decide `state-extra` and `state-missing` of one checkpoint.

    Args:
        below: what is before its source positions.
        found: what it holds.
        where: the checkpoint, as the beginning of a sentence.
        place: of the records that it must hold, in words.

    Returns:
        Whether they are the same.
    """
    records, value, digest = below
    held, values, digests = found
    surplus = held - records
    # A system under test that cannot carry a digest leaves it at zero: its values decide alone
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
            message = f"{where} holds {plural(held, 'record')}, {records} are {place}; {kind}: {culprit}"
            findings.violated(clause, message, *sorted(witness, key=history.position))
    return exact


def judge_places(
    held: Mapping[Place, object],
    wanted: Mapping[Place, object],
    named: Callable[[Place], str],
    where: str,
    witness: Sequence[Event],
    findings: Findings,
) -> None:
    """Decide `key-wrong` of one checkpoint, all of which together holds what it must.

    Args:
        held, wanted: the sums of each place.
        named: a place in words.
        where: the checkpoint, as the beginning of a sentence.
    """
    findings.check("key-wrong")
    if held == wanted:
        return
    wrong = sorted(place for place in held.keys() | wanted.keys() if held.get(place) != wanted.get(place))
    if wrong:
        place = wrong[0]
        message = f"{where} holds {held.get(place)} for {named(place)}, its records add up to {wanted.get(place)}"
        findings.violated("key-wrong", message, *witness)
