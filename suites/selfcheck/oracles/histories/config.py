"""Histories for CONFIG: what a submit tells of a plan's options."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import profile
from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.configuration import EffectiveConfiguration, Note, NoteKind, Origin, Setting
from holdfast.harness.model.events import JobConfigured
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.oracles.configuration.flink_defaults import DEFAULTS
from holdfast.suites.selfcheck.oracles.builder import exhibits, story

bad, near = exhibits("CONFIG")

TIMEOUT, INTERVAL = "execution.checkpointing.timeout", "execution.checkpointing.interval"
MODE, UNALIGNED = "execution.checkpointing.mode", "execution.checkpointing.unaligned.enabled"
GIVEN = {TIMEOUT: "1 min"}
COUNTED_UNALIGNED = {UNALIGNED: "true", MODE: "AT_LEAST_ONCE"}
OFF = {UNALIGNED: ("false", Origin.DERIVED), MODE: ("AT_LEAST_ONCE", Origin.CODE)}
Told = Mapping[str, tuple[str, Origin]]


def told(
    options: Mapping[str, str],
    changes: Told,
    *notes: tuple[NoteKind, str],
    claimed: frozenset[Guarantee] = EXACTLY_ONCE,
    without: str = "",
    max_parallelism: int = 0,
) -> History:
    """A submit of these options is answered with the defaults but for the changes."""
    values: dict[str, tuple[str, Origin]] = {
        key: (value, Origin.DEFAULT) for key, value in DEFAULTS[profile.FLINK_2].items()
    }
    values |= changes
    settings = tuple(Setting(key, value, origin) for key, (value, origin) in values.items() if key != without)
    said = tuple(Note(kind, name, "because.") for kind, name in notes)
    event = JobConfigured(configuration=EffectiveConfiguration(settings, said, max_parallelism))
    return story(event, options=options, expected=ExpectedEnd.ACCEPTED, claimed=claimed)


@bad("max-parallelism-wrong")
def key_groups_are_not_those_of_the_formula() -> History:
    return told({}, {}, max_parallelism=64)


@near("max-parallelism-wrong")
def key_groups_are_as_the_plan_says() -> History:
    return told({}, {}, max_parallelism=128)


@bad("value-wrong")
def option_is_left_at_its_default() -> History:
    return told(GIVEN, {})


@bad("value-wrong")
def option_is_not_told() -> History:
    return told({}, {}, without=TIMEOUT)


@bad("value-wrong")
def option_in_its_older_spelling_is_not_heard() -> History:
    return told({"state.checkpoints.num-retained": "2"}, {})


@near("value-wrong")
def option_is_told_in_another_unit() -> History:
    return told(GIVEN, {TIMEOUT: ("60000 ms", Origin.CODE)})


@bad("origin-wrong")
def option_is_said_to_be_of_the_file() -> History:
    return told(GIVEN, {TIMEOUT: ("60000 ms", Origin.FILE)})


@near("origin-wrong")
def default_that_is_also_given_is_of_the_code() -> History:
    return told({TIMEOUT: "10 min"}, {TIMEOUT: ("600000 ms", Origin.CODE)})


@bad("warning-wrong")
def option_gives_way_in_silence() -> History:
    return told(COUNTED_UNALIGNED, OFF, claimed=AT_LEAST_ONCE)


@bad("warning-wrong")
def nothing_gives_way_and_a_warning_says_so() -> History:
    return told({}, {}, (NoteKind.WARNING, "interval-raised"))


@near("warning-wrong")
def option_gives_way_with_a_warning() -> History:
    return told(COUNTED_UNALIGNED, OFF, (NoteKind.WARNING, "unaligned-switched-off"), claimed=AT_LEAST_ONCE)


@bad("lint-wrong")
def what_cannot_act_is_not_pointed_out() -> History:
    return told({"state.backend.async": "false"}, {"state.backend.async": ("false", Origin.CODE)})


@near("lint-wrong")
def what_cannot_act_is_pointed_out() -> History:
    changes: Told = {"state.backend.async": ("false", Origin.CODE)}
    return told({"state.backend.async": "false"}, changes, (NoteKind.LINT, "synchronous-snapshots"))


@bad("claimed-too-much")
def exactly_once_is_claimed_without_alignment() -> History:
    return told({MODE: "AT_LEAST_ONCE"}, {MODE: ("AT_LEAST_ONCE", Origin.CODE)})


@near("claimed-too-much")
def less_is_claimed_than_could_be_kept() -> History:
    return told({}, {}, claimed=AT_LEAST_ONCE)
