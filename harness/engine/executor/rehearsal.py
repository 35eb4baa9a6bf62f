"""What a run without a fault lacked: then no run with faults could say anything.

Rules of this file:
- A run that does not reach its end by itself, or whose output nobody saw, is no proof against what the system under
  test claims: it is inconclusive, in one sentence.
- What its output holds is judged as ever: what is wrong there without a fault violates the contract.
"""

from __future__ import annotations

import msgspec

from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plural import plural
from holdfast.harness.model.records import InputLog
from holdfast.harness.spi.system import Recording

LONGEST = 400
"""Characters of a sentence that quotes the system under test."""


def rehearsed(end: RunEnd, recording: Recording, inputs: InputLog, *, shows_rows: bool) -> tuple[RunEnd, Recording]:
    """The end of a rehearsal, with a problem where something is missing, and what was recorded.

    Args:
        end: as the phases left it.
        recording: of the run.
        inputs: that it was fed.
        shows_rows: the system under test supplies its committed output.
    """
    if end.problem or recording.problem:
        return end, recording
    if not end.reached:
        return msgspec.structs.replace(
            end, problem=f"without a fault, {_in_one_line(end.reason)}", settled=False
        ), recording
    due = (recording.expected or inputs).total_records
    if shows_rows and due and not any(len(unit.rows) for unit in recording.output.units):
        problem = f"no output was seen, and {plural(due, 'row is', 'rows are')} due without a fault"
        return end, msgspec.structs.replace(recording, problem=problem)
    return end, recording


def _in_one_line(reason: str) -> str:
    """Of what a system under test says when it fails, the first line."""
    line = reason.strip().partition("\n")[0].rstrip(".")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."
