"""The cases that decide the rules, one module per area, with a table for each part of it.

Rules of this package:
- A case asks one question. Each rule that it decides names the clauses of an oracle, and a variant of the reference
  runtime on which one of these clauses names its anomaly; suites/selfcheck tries every such pair.
- Nothing is asserted here: plans are data, oracles judge, and the engine executes whoever asks.
- A plan that needs another clock than the machine's, or a gate inside an operation, runs on the simulator only.
"""

from __future__ import annotations

from holdfast.harness.model.case import Case

CHAOS = "chaos/"


def in_chaos(case: Case) -> bool:
    """Whether a case belongs to suites/chaos, which has a room of its own."""
    return case.id.startswith(CHAOS)
