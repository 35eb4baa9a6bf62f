"""INVARIANT: the user's predicates on all visible rows hold at every poll of the committed reader."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import Event, InvariantChecked
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings

_CLAUSES: Mapping[str, str] = {"broken": "an invariant of the user does not hold for the rows that were visible"}


class InvariantOracle:
    """Reads what the predicates of the user returned; each invariant is reported once, where it first broke."""

    name = "INVARIANT"
    title = "invariants of the output"
    invariant = "Every invariant of the user holds for all visible rows, whenever the committed reader looks."
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (InvariantChecked,)
    observed = frozenset(_CLAUSES)

    def applies(self, history: History) -> bool:
        return bool(history.of(InvariantChecked))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        evaluated = history.of(InvariantChecked)
        findings.check("broken", len(evaluated))
        broken = dict[str, InvariantChecked]()
        for event in evaluated:
            if event.problem:
                broken.setdefault(event.name, event)
        for name, event in broken.items():
            findings.violated("broken", f"{name}: {event.problem}", event)
        return findings.verdict()
