"""The job record: what a coordinator makes durable before anybody hears of it, when the store fails or is slow."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, STATE_IN_FILES, WORKERS, case, decides, gate, plan, with_needs

RECORD = "persist-job-record"
WAYS: tuple[Mapping[str, int], ...] = ({}, {"after_effect": 1}, {"answer_lost": 1}, {"occurrences": 4})
"""Refused; it took effect, and the answer says otherwise; it did not, and nobody knows; again and again."""
TOLERANT_WITH_FILES = {**plans.TOLERANT, **STATE_IN_FILES}
LONG = {"records": 240}


def _failing(how: Mapping[str, int]) -> Plan:
    """The record of a drawn id cannot be written, the coordinator dies in front of the next publication, and a worker
    dies while the record of its successor's attempt cannot be written either."""
    return plan(storage_error(RECORD, 600, how, after_checkpoint=1),
                kill(COORDINATOR, after_checkpoint=1, gate=gate("publish-metadata", COORDINATOR)),
                storage_error(RECORD, 600, how, after_checkpoint=3), kill(WORKERS[0], after_checkpoint=3),
                options=TOLERANT_WITH_FILES, records=LONG)  # fmt: skip


CASES = with_needs(
    case("job-records/failing", "Does nothing begin under an id or an attempt whose record could not be written?",
         tuple(_failing(how) for how in WAYS),
         decides("TRG-02", "COORD/ids-not-increasing", wrong="ignores-lost-record"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="The record is refused, or its response is lost; the coordinator dies with a checkpoint under way.",
         passes="No checkpoint and no attempt has a number that an earlier one had."),
    case("job-records/slow", "Is the output right when the record takes longer than a checkpoint interval?",
         plan(slow_storage(RECORD, 60, 500, after_checkpoint=1), kill(WORKERS[0], after_checkpoint=2),
              kill(COORDINATOR, after_checkpoint=2, gate=gate(RECORD, COORDINATOR)), options=TOLERANT_WITH_FILES,
              records=LONG),
         decides("REC-03", *plans.EXACT_ROWS, wrong="source-repeats-one"),
         windows=(Window.RESTORED_STATE, Window.READ_AGAIN), tiers=EVERYWHERE,
         method="Each write of the record takes 60 ms longer; a worker and the coordinator die meanwhile.",
         passes="The committed output equals that of the oracle's model, once."),
)  # fmt: skip
