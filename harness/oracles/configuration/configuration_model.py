"""The values that must be in force for a plan's job, and what must be reported about each (RULES CFG, RST-07)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from holdfast.harness.model import profile
from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Claims, Guarantee
from holdfast.harness.model.configuration import NoteKind, Origin
from holdfast.harness.model.job import STATEFUL, VertexKind
from holdfast.harness.model.plan import Plan, Topology
from holdfast.harness.model.profile import FLINK_1_14, FLINK_2, OPTIONS, PROFILE, STRATEGY, TUNED, UNLIMITED, Kind
from holdfast.harness.model.units import duration_ms, size_bytes
from holdfast.harness.oracles.shared.stated_options import Stated, stated


def _duration(text: str) -> str:
    return f"{duration_ms(text)} ms"


def _size(text: str) -> str:
    return f"{size_bytes(text)} b"


def _number(text: str) -> str:
    return str(int(text))


def _attempts(text: str) -> str:
    return str(UNLIMITED) if text == "infinite" else _number(text)


def _decimal(text: str) -> str:
    return str(float(text))


def _constant(text: str) -> str:
    return text.upper().replace("-", "_")


def _name(text: str) -> str:
    """Names do not heed case; a factory of somebody else (`module:name`) does."""
    return text if ":" in text else text.lower()


_STRATEGIES = {"off": "none", "disable": "none", **{name.replace("-", ""): name for name in TUNED}}


def _strategy(text: str) -> str:
    return _STRATEGIES.get(text.lower(), text.lower())


_Normal = Callable[[str], str]
_OF_KIND: Mapping[Kind, _Normal] = {
    Kind.DURATION: _duration,
    Kind.SIZE: _size,
    Kind.NUMBER: _number,
    Kind.ATTEMPTS: _attempts,
    Kind.DECIMAL: _decimal,
    Kind.FLAG: str.lower,
    Kind.NAME: _name,
    Kind.CONSTANT: _constant,
    Kind.TEXT: str,
}
NORMAL: Mapping[str, _Normal] = {**{key: _OF_KIND[option.kind] for key, option in OPTIONS.items()}, STRATEGY: _strategy}
"""How a value is written, by key."""
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    version: {key: NORMAL[key](option.default_of(version)) for key, option in OPTIONS.items()} | {PROFILE: version}
    for version in (FLINK_2, FLINK_1_14)
}
"""The defaults, by version."""


_UNLIMITED = str(profile.UNLIMITED)
_WARNING, _LINT = NoteKind.WARNING, NoteKind.LINT


class Expected(NamedTuple):
    """The value of an option, and where it is from."""

    value: str
    origin: Origin


_DEFAULTS = {
    version: {key: Expected(value, Origin.DEFAULT) for key, value in listed.items()}
    for version, listed in DEFAULTS.items()
}


ALIKE = 0.9
"""Two keys of which so much is the same are one key and a slip."""


class ConfigurationModel:
    """What follows from a plan.

    Attributes:
        settings: by key.
        notes: by kind and name.

    Raises:
        ValueError: a value cannot be read; the plan should have been refused.
    """

    def __init__(self, plan: Plan) -> None:
        self._stated = stated(plan)
        named = self._stated.get(profile.PROFILE)
        version = named.text.lower() if named else profile.FLINK_2
        self.settings = dict(_DEFAULTS[version])
        self.settings |= {
            key: Expected(NORMAL[key](each.text), each.origin) for key, each in self._stated.items() if key in NORMAL
        }
        self.notes: set[tuple[NoteKind, str]] = set(_strangers(self._stated))
        self._tolerate()
        self._align()
        self._raise_interval()
        self._store()
        self._back_up()
        self._restart(version)
        self._lint()
        if plan.job.iterative and self.number(profile.INTERVAL):
            self.notes.add((_WARNING, "loop-records-may-be-lost"))

    def number(self, key: str) -> int:
        """The number of a value, without its unit."""
        return int(self.settings[key].value.split()[0])

    def _value(self, key: str) -> str:
        return self.settings[key].value

    def _derive(self, key: str, value: str) -> None:
        self.settings[key] = Expected(value, Origin.DERIVED)

    def _tolerate(self) -> None:
        if profile.FAIL_ON_ERRORS not in self._stated:
            return
        if profile.TOLERABLE_FAILURES in self._stated:
            self.notes.add((_WARNING, "fail-flag-overruled"))
        else:
            fails = self._value(profile.FAIL_ON_ERRORS) == "true"
            self._derive(profile.TOLERABLE_FAILURES, "0" if fails else _UNLIMITED)

    def _align(self) -> None:
        if self._value(profile.UNALIGNED) == "true" and self._value(profile.MODE) == "AT_LEAST_ONCE":
            self._derive(profile.UNALIGNED, "false")
            self.notes.add((_WARNING, "unaligned-switched-off"))

    def _raise_interval(self) -> None:
        if self.number(profile.MIN_PAUSE) and self.number(profile.MAX_CONCURRENT) > 1:
            self.notes.add((_WARNING, "pause-with-concurrency"))
        if 0 < self.number(profile.INTERVAL) < self.number(profile.MIN_PAUSE):
            self._derive(profile.INTERVAL, self._value(profile.MIN_PAUSE))
            self.notes.add((_WARNING, "interval-raised"))

    def _store(self) -> None:
        if self._value(profile.DIRECTORY):
            if profile.STORAGE not in self._stated:
                self._derive(profile.STORAGE, "filesystem")
            if re.search(r"/chk-\d+/?$", self._value(profile.DIRECTORY)):
                self.notes.add((_LINT, "directory-of-one-checkpoint"))
        elif self._value(profile.STORAGE) == "filesystem" or self._value(profile.BACKEND) == "rocksdb":
            self._derive(profile.STORAGE, "jobmanager")
            self.notes.add((_WARNING, "no-directory"))

    def _back_up(self) -> None:
        backup = profile.LOCAL_BACKUP
        if self._value(profile.LOCAL_RECOVERY) == "true" and backup not in self._stated:
            self._derive(backup, "true")

    def _restart(self, version: str) -> None:
        """Unset: none without checkpoints; with them, the endless fixed delay of 1.14 or the growing one of 2.x."""
        if profile.STRATEGY in self._stated or not self.number(profile.INTERVAL):
            return
        if version == profile.FLINK_1_14:
            self._derive(profile.FIXED_ATTEMPTS, _UNLIMITED)
            self._derive(profile.FIXED_DELAY, "1000 ms")
        name = "fixed-delay" if version == profile.FLINK_1_14 else "exponential-delay"
        self.settings[profile.STRATEGY] = Expected(name, Origin.DEFAULT)

    def _lint(self) -> None:
        strategy = self._value(profile.STRATEGY)
        fastest_ms = self.number(profile.RATE_FAILURES) * self.number(profile.RATE_DELAY)
        if strategy == "failure-rate" and self.number(profile.RATE_INTERVAL) <= fastest_ms:
            self.notes.add((_LINT, "failure-rate-never-reached"))
        idle = tuple(f"{prefix}." for name, prefix in profile.TUNED.items() if name != strategy)
        if any(key.startswith(idle) for key in self._stated):
            self.notes.add((_LINT, "strategy-not-in-force"))
        if self.number(profile.TIMEOUT) < self.number(profile.INTERVAL):
            self.notes.add((_LINT, "timeout-below-interval"))
        kept = self._value(profile.RETENTION)
        if self._value(profile.RECOVERY_PATH) and kept == "NO_EXTERNALIZED_CHECKPOINTS":
            self.notes.add((_LINT, "nothing-retained"))
        if self._value(profile.INCREMENTAL) == "true" and self._value(profile.BACKEND) == "hashmap":
            self.notes.add((_LINT, "incremental-without-effect"))
        if any(key.startswith(f"{profile.ROCKSDB}.") for key in self._stated):
            self._lint_rocksdb()
        if self._value(profile.ASYNCHRONOUS) == "false":
            self.notes.add((_LINT, "synchronous-snapshots"))

    def _lint_rocksdb(self) -> None:
        if self._value(profile.BACKEND) != "rocksdb":
            self.notes.add((_LINT, "rocksdb-without-effect"))
        budget = self._value(profile.ROCKSDB_MANAGED) == "true" or self.number(profile.ROCKSDB_FIXED_MEMORY)
        idle = profile.ROCKSDB_BLOCK_CACHE if budget else profile.ROCKSDB_WRITE_BUFFER_RATIO
        if idle in self._stated:
            self.notes.add((_LINT, "rocksdb-memory-without-effect"))


def _strangers(options: Mapping[str, Stated]) -> Iterator[tuple[NoteKind, str]]:
    """The note on unknown keys of a file: none on those of other parts of the cluster, a warning on one that is spelled
    almost like an option."""
    strangers = (key for key, each in options.items() if key not in NORMAL and each.origin is Origin.FILE)
    if any(get_close_matches(key, (*NORMAL, *profile.OLDER), 1, ALIKE) for key in strangers):
        yield _WARNING, "unknown-option"


def expected_max_parallelism(topology: Topology) -> int:
    """The max parallelism that is set, else 1.5 times the parallelism, rounded up to a power of two, from 128 to 32,768
    (RSC-02)."""
    groups = 128
    while groups < topology.parallelism + topology.parallelism // 2 and groups < 32_768:
        groups *= 2
    return topology.max_parallelism or groups


def keepable(plan: Plan) -> Claims:
    """The most that a job can claim: the least of its sources, its state and its sinks (E2E-01)."""
    options = stated(plan)
    mode = NORMAL[profile.MODE](options[profile.MODE].text) if profile.MODE in options else "EXACTLY_ONCE"
    state = EXACTLY_ONCE if mode == "EXACTLY_ONCE" or plan.job.never_aligns() else AT_LEAST_ONCE
    if plan.job.iterative or any(source.socket for source in plan.job.of_kind(VertexKind.SOURCE)):
        state -= {Guarantee.NO_LOSS}
    source, ids = options.get(profile.SOURCE_CONNECTOR), options.get(profile.CORRELATION_IDS)
    if (
        source
        and source.text.lower() == "rabbitmq"
        and (plan.topology.parallelism > 1 or (ids and ids.text.lower() == "false"))
    ):
        state &= AT_LEAST_ONCE  # who reads again what a queue gives again does not know it (E2E-01)
    sink, connector = options.get(profile.DELIVERY), options.get(profile.SINK_CONNECTOR)
    if not sink or sink.text.lower() != "at-least-once":
        return Claims(state, state)
    if connector and connector.text.lower() == "jdbc" and not plan.job.of_kind(*STATEFUL):
        once = frozenset({Guarantee.NO_LOSS, Guarantee.NO_DUPLICATE})
        return Claims(state, (state & once) | {Guarantee.NO_DUPLICATE})  # a row takes its own place (TPC-09)
    return Claims(state, state & AT_LEAST_ONCE)
