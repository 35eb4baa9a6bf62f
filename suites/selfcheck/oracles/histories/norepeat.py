"""Histories for NOREPEAT: at-most-once is claimed."""

from __future__ import annotations

from holdfast.harness.model.capability import EXACTLY_ONCE, Guarantee
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import DEDUPLICATE, REBALANCE
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


def handed_on(*offsets: int) -> History:
    """Each second of thirty records is of key a. Of those that come within 200 ms of one that was handed on, which are
    nine, a deduplicating job drops all."""
    contents = units(*(identities(f"0:{offset}") for offset in offsets))
    claimed = EXACTLY_ONCE - {Guarantee.NO_LOSS}
    return story(job=DEDUPLICATE, inputs=input_log(30), units=contents, claimed=claimed)


@bad("record-unknown")
def a_record_is_handed_on_too_close_behind_another() -> History:
    return handed_on(0, 1, 2)


@bad("record-unknown")
def it_is_too_close_behind_one_that_stands_in_for_another() -> History:
    return handed_on(1, 4, 20)


@near("record-unknown")
def the_first_of_a_key_is_lost_and_the_next_stands_in_for_it() -> History:
    return handed_on(1, 4, 24)


@near("record-unknown")
def the_last_two_are_lost() -> History:
    return shown("0:0")
