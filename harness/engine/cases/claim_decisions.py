"""What decides a guarantee that a system claims, of its state and of its output. What nothing decided is not upheld."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.harness.model.capability import AT_LEAST_ONCE, AT_MOST_ONCE, Guarantee, guarantee_name
from holdfast.harness.model.verdict import Outcome, Verdict

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
    """Those of a run that can refute a claim."""
    oracles = _STATE_ORACLES if _is_of_state(claim) else _OUTPUT_ORACLES
    return tuple(verdict for verdict in verdicts if verdict.oracle in oracles)


def is_decided(claim: str, verdicts: Iterable[Verdict]) -> bool:
    """Whether a run says something about a claim: it refutes it, or each guarantee of it was compared with the input,
    and nothing about it stayed open, such as records that stalled."""
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
