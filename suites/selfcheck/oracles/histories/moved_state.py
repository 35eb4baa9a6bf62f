"""Histories for RESTORE: keyed state of checkpoint 1 that was moved to another state backend."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.events import HeldState, SubtaskMoved
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import exhibits, story
from holdfast.suites.selfcheck.oracles.histories.restore import HELD, taken
from holdfast.suites.selfcheck.oracles.legal import summary

bad, near = exhibits("RESTORE")
SEEN = HeldState("seen", lives_for_a_time=True, entries=3, expiring=3, checksum=7)
SUMS = HeldState("sums", lives_for_a_time=False, entries=2, expiring=0, checksum=8)
EMPTY = HeldState("waiting", lives_for_a_time=False, entries=0, expiring=0, checksum=9)
RIGHT = SubtaskMoved(
    checkpoint=1,
    subtask="sum[0]",
    source="mine",
    target="hashmap",
    canonical=(SEEN, SUMS),
    answered=(SEEN, SUMS),
    moved=(SEEN, SUMS),
    moved_answered=(SEEN, SUMS),
    state=summary(HELD),
)


def with_form(*canonical: HeldState) -> History:
    """What is moved is what the canonical form holds, whatever the tables of the first one answer."""
    return story(*taken(), replace(RIGHT, canonical=canonical, moved=canonical, moved_answered=canonical))


@bad("canonical-differs")
def form_lacks_a_state() -> History:
    return with_form(SEEN)


@bad("canonical-differs")
def form_lacks_an_entry() -> History:
    return with_form(replace(SEEN, entries=2, expiring=2), SUMS)


@bad("canonical-differs")
def form_has_other_content() -> History:
    return with_form(SEEN, replace(SUMS, checksum=1))


@bad("canonical-differs")
def form_lacks_an_expiry() -> History:
    return with_form(replace(SEEN, expiring=2), SUMS)


@bad("canonical-differs")
def second_one_expires_too_early() -> History:
    return story(*taken(), replace(RIGHT, moved_answered=(replace(SEEN, expiring=1), SUMS)))


@near("canonical-differs")
def form_is_what_tables_answer() -> History:
    return story(*taken(), RIGHT)


@near("canonical-differs")
def state_without_entries_may_be_left_out() -> History:
    return story(*taken(), replace(RIGHT, answered=(SEEN, SUMS, EMPTY)))


@near("canonical-differs")
def columns_have_no_tables() -> History:
    return story(*taken(), replace(RIGHT, answered=None))


@bad("moved-differs")
def it_cannot_be_moved() -> History:
    problem = "an entry is of state 'sums', which no descriptor names."
    return story(*taken(), SubtaskMoved(checkpoint=1, subtask="sum[0]", source="mine", target="h", problem=problem))


@bad("moved-differs")
def second_one_lacks_an_entry() -> History:
    fewer = replace(SUMS, entries=1)
    return story(*taken(), replace(RIGHT, moved=(SEEN, fewer), moved_answered=(SEEN, fewer)))


@bad("moved-differs")
def operator_finds_less_than_was_recorded() -> History:
    return story(*taken(), replace(RIGHT, state=summary(HELD[1:])))


@near("moved-differs")
def all_of_it_is_there() -> History:
    return story(*taken(), RIGHT)


@near("moved-differs")
def operator_above_it_tells_nothing() -> History:
    return story(*taken(), replace(RIGHT, state=None))
