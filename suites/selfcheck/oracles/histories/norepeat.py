"""Histories for NOREPEAT: at-most-once is claimed."""

from __future__ import annotations

from holdfast.harness.model.capability import EXACTLY_ONCE, Guarantee
from holdfast.harness.model.jobs import DEDUPLICATE, REBALANCE
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.output_builder import named

bad, near = exhibits("NOREPEAT", claimed=EXACTLY_ONCE - {Guarantee.NO_LOSS}, inputs=input_log(3), job=REBALANCE)

bad("record-repeated", "seen in two units", units=named("0:0 0:1", "0:1 0:2"))
near("record-repeated", "one is lost", units=named("0:0", "0:2"))

bad("record-unknown", "behind the input", units=named("0:0 0:1", "0:3"))


bad(
    "record-unknown", "a record is handed on too close behind another",
    job=DEDUPLICATE, inputs=input_log(30), units=named(*(f"0:{offset}" for offset in (0, 1, 2))),
)  # fmt: skip
bad(
    "record-unknown", "it is too close behind one that stands in for another",
    job=DEDUPLICATE, inputs=input_log(30), units=named(*(f"0:{offset}" for offset in (1, 4, 20))),
)  # fmt: skip
near(
    "record-unknown", "the first of a key is lost and the next stands in for it",
    job=DEDUPLICATE, inputs=input_log(30), units=named(*(f"0:{offset}" for offset in (1, 4, 24))),
)  # fmt: skip
near("record-unknown", "the last two are lost", units=named("0:0"))
