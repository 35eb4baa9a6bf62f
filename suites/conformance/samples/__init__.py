"""Every configuration sample of the source documents, each with what must then be in force (RULES CFG-09).

A file of this folder is a sample: what it is from, the text of its `flink-conf.yaml` or the calls of its program, and
what is then in force besides the defaults of Flink 1.14, of which these speak. The figures are written by hand.
`defaults.toml` has the defaults as the documentation of each version has them, and those of our own options, also by
hand: nothing else could refute the profile, of which both the reference runtime and its oracle take theirs.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from holdfast.harness.model.configuration import Call, ConfigurationFile

DEFAULTS = "defaults.toml"


class Sample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sample.

    Attributes:
        source: key of the source document in suites/spec/sources.toml.
        settings: by key, what is in force and no default.
        file: text of the cluster's file; empty if the sample is a program.
        calls: of the program: name and arguments.
        notes: kind and name of what is odd.
        name: of the file here.
    """

    source: str
    settings: dict[str, str]
    file: str = ""
    calls: tuple[tuple[bool | int | str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""

    @property
    def program(self) -> tuple[Call, ...]:
        """The calls as a plan has them."""
        return tuple(Call(str(call[0]), call[1:]) for call in self.calls)

    @property
    def cluster(self) -> ConfigurationFile | None:
        """The file as a plan has it."""
        return ConfigurationFile("flink-conf.yaml", self.file) if self.file else None


@cache
def samples() -> tuple[Sample, ...]:
    """All samples by name."""
    return tuple(
        msgspec.structs.replace(msgspec.toml.decode(entry.read_bytes(), type=Sample), name=entry.name[:-5])
        for entry in sorted(files(__name__).iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml") and entry.name != DEFAULTS
    )


def defaults(profile: str) -> dict[str, str]:
    """The defaults of Flink in a profile."""
    return {**_defaults()["both"], **_defaults()[profile]}


def own_defaults() -> dict[str, str]:
    """Those of options of ours, and where ours is meant to differ from Flink's."""
    return _defaults()["ours"]


@cache
def _defaults() -> dict[str, dict[str, str]]:
    return msgspec.toml.decode(files(__name__).joinpath(DEFAULTS).read_bytes(), type=dict[str, dict[str, str]])
