"""Where the options of a job come from besides `Plan.options`, and what they come to."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ConfigurationFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration file of the cluster.

    Attributes:
        name: ends with `flink-conf.yaml` (a `key: value` on each line, Flink 1.14), is any other `.yaml`, such as
            `config.yaml` (nested, Flink 2.x), or is that of a file of properties, such as `spark-defaults.conf`.
        text: its content.
    """

    name: str
    text: str


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call by which the job's program sets an option: `Call("enable_checkpointing", (1000,))`."""

    name: str
    arguments: tuple[bool | int | str, ...] = ()


class Origin(StrEnum):
    """Who gave an option its value. The first wins."""

    CODE = "code"
    FILE = "file"
    DEFAULT = "default"
    DERIVED = "derived"
    """From other options, which leave it no choice."""


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One option in force.

    Attributes:
        key: as the newest version spells it.
        value: durations in `ms`, sizes in `b`, flags as `true` or `false`; empty where there is none.
        origin: who gave it.
        place: where exactly: a line of a file, a call, a profile, the option that it follows from.
    """

    key: str
    value: str
    origin: Origin
    place: str = ""


class NoteKind(StrEnum):
    """How a note is meant."""

    WARNING = "warning"
    """An option is set and not obeyed."""
    LINT = "lint"
    """An option is obeyed, and cannot have the effect that it is meant for."""
    INFO = "info"
    """Something to know, and nothing is wrong about it."""


class Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is odd about a configuration that is accepted. `name` is stable, such as `unaligned-switched-off`."""

    kind: NoteKind
    name: str
    sentence: str


class EffectiveConfiguration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that is in force for a job; `max_parallelism` is the number of its key groups, 0 where that is not
    reported."""

    settings: tuple[Setting, ...]
    notes: tuple[Note, ...] = ()
    max_parallelism: int = 0
