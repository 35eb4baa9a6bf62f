"""Histories for NOREPEAT: at-most-once is claimed."""

from __future__ import annotations

from holdfast.harness.model.capability import EXACTLY_ONCE, Guarantee
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import REBALANCE
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.output_builder import identities, units

bad, near = exhibits("NOREPEAT")


def shown(*rows: str) -> History:
    """Three records, and a unit with these rows for each text."""
    contents = units(*(identities(*each.split()) for each in rows))
    return story(job=REBALANCE, inputs=input_log(3), units=contents, claimed=EXACTLY_ONCE - {Guarantee.NO_LOSS})


@bad("record-repeated")
def seen_in_two_units() -> History:
    return shown("0:0 0:1", "0:1 0:2")


@near("record-repeated")
def one_is_lost() -> History:
    return shown("0:0", "0:2")


@bad("record-unknown")
def behind_the_input() -> History:
    return shown("0:0 0:1", "0:3")


@near("record-unknown")
def the_last_two_are_lost() -> History:
    return shown("0:0")
