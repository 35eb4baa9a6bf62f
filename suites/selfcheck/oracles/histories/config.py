"""Histories for CONFIG: what a submit tells of a plan's options."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import profile
from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.configuration import EffectiveConfiguration, Note, NoteKind, Origin, Setting
from holdfast.harness.model.events import JobConfigured
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.oracles.configuration.flink_defaults import DEFAULTS
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits

TIMEOUT, INTERVAL = "execution.checkpointing.timeout", "execution.checkpointing.interval"
MODE, UNALIGNED = "execution.checkpointing.mode", "execution.checkpointing.unaligned.enabled"
GIVEN = {TIMEOUT: "1 min"}
COUNTED_UNALIGNED = {UNALIGNED: "true", MODE: "AT_LEAST_ONCE"}
OFF = {UNALIGNED: ("false", Origin.DERIVED), MODE: ("AT_LEAST_ONCE", Origin.CODE)}
Told = Mapping[str, tuple[str, Origin]]


def told(changes: Told, *notes: tuple[NoteKind, str], without: str = "", max_parallelism: int = 0) -> list[Line]:
    """A submit of these options is answered with the defaults but for the changes."""
    values: dict[str, tuple[str, Origin]] = {
        key: (value, Origin.DEFAULT) for key, value in DEFAULTS[profile.FLINK_2].items()
    }
    values |= changes
    settings = tuple((Setting(key, value, origin) for key, (value, origin) in values.items() if key != without))
    said = tuple((Note(kind, name, "because.") for kind, name in notes))
    event = JobConfigured(configuration=EffectiveConfiguration(settings, said, max_parallelism))
    return [event]


bad, near = exhibits("CONFIG", expected=ExpectedEnd.ACCEPTED, options={})

bad("max-parallelism-wrong", "key groups are not those of the formula", told({}, max_parallelism=64))
near("max-parallelism-wrong", "key groups are as the plan says", told({}, max_parallelism=128))

bad("value-wrong", "option is left at its default", told({}), options=GIVEN)
bad("value-wrong", "option is not told", told({}, without=TIMEOUT))
bad(
    "value-wrong", "option in its older spelling is not heard",
    told({}), options={"state.checkpoints.num-retained": "2"},
)  # fmt: skip
near("value-wrong", "option is told in another unit", told({TIMEOUT: ("60000 ms", Origin.CODE)}), options=GIVEN)

bad("origin-wrong", "option is said to be of the file", told({TIMEOUT: ("60000 ms", Origin.FILE)}), options=GIVEN)
near(
    "origin-wrong", "default that is also given is of the code",
    told({TIMEOUT: ("600000 ms", Origin.CODE)}), options={TIMEOUT: "10 min"},
)  # fmt: skip

bad("warning-wrong", "option gives way in silence", told(OFF), options=COUNTED_UNALIGNED, claimed=AT_LEAST_ONCE)
bad("warning-wrong", "nothing gives way and a warning says so", told({}, (NoteKind.WARNING, "interval-raised")))
near(
    "warning-wrong", "option gives way with a warning",
    told(OFF, (NoteKind.WARNING, "unaligned-switched-off")), options=COUNTED_UNALIGNED, claimed=AT_LEAST_ONCE,
)  # fmt: skip

bad(
    "lint-wrong", "what cannot act is not pointed out",
    told({"state.backend.async": ("false", Origin.CODE)}), options={"state.backend.async": "false"},
)  # fmt: skip
near(
    "lint-wrong", "what cannot act is pointed out",
    told({"state.backend.async": ("false", Origin.CODE)}, (NoteKind.LINT, "synchronous-snapshots")),
    options={"state.backend.async": "false"},
)  # fmt: skip

bad(
    "claimed-too-much", "exactly once is claimed without alignment",
    told({MODE: ("AT_LEAST_ONCE", Origin.CODE)}), options={MODE: "AT_LEAST_ONCE"},
)  # fmt: skip
near("claimed-too-much", "less is claimed than could be kept", told({}), claimed=AT_LEAST_ONCE)
