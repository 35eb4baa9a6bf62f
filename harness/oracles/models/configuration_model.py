"""What must be in force for a plan's job, option by option, and what must be said about it (RULES CFG, RST-07)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Claims, Guarantee
from holdfast.harness.model.configuration import NoteKind, Origin
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import Plan
from holdfast.harness.oracles.models.flink_defaults import DEFAULTS, FLINK_1_14, FLINK_2, NORMAL
from holdfast.harness.oracles.models.stated_options import (
    CHECKPOINTING,
    FAIL_FLAG,
    RESTART,
    TOLERABLE,
    UNLIMITED,
    Stated,
    stated,
)

INTERVAL, TIMEOUT = f"{CHECKPOINTING}.interval", f"{CHECKPOINTING}.timeout"
MIN_PAUSE, MAX_CONCURRENT = f"{CHECKPOINTING}.min-pause", f"{CHECKPOINTING}.max-concurrent-checkpoints"
MODE, UNALIGNED = f"{CHECKPOINTING}.mode", f"{CHECKPOINTING}.unaligned.enabled"
STORAGE, DIRECTORY = f"{CHECKPOINTING}.storage", f"{CHECKPOINTING}.dir"
STRATEGY = f"{RESTART}.type"
_STRATEGIES = ("fixed-delay", "failure-rate", "exponential-delay")
_WARNING, _LINT = NoteKind.WARNING, NoteKind.LINT


class Expected(NamedTuple):
    """The value of an option, and where it is from."""

    value: str
    origin: Origin


_DEFAULTS = {
    profile: {key: Expected(value, Origin.DEFAULT) for key, value in listed.items()}
    for profile, listed in DEFAULTS.items()
}


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
        profile = self._stated["holdfast.profile"].text.lower() if "holdfast.profile" in self._stated else FLINK_2
        self.settings = dict(_DEFAULTS[profile])
        self.settings |= {
            key: Expected(NORMAL[key](each.text), each.origin) for key, each in self._stated.items() if key in NORMAL
        }
        self.notes: set[tuple[NoteKind, str]] = set(_strangers(self._stated))
        self._tolerate()
        self._align()
        self._raise_interval()
        self._store()
        self._back_up()
        self._restart(profile)
        self._lint()
        if plan.job.iterative and self.number(INTERVAL):
            self.notes.add((_WARNING, "loop-records-may-be-lost"))

    def number(self, key: str) -> int:
        """The number of a value, without its unit."""
        return int(self.settings[key].value.split()[0])

    def _value(self, key: str) -> str:
        return self.settings[key].value

    def _derive(self, key: str, value: str) -> None:
        self.settings[key] = Expected(value, Origin.DERIVED)

    def _tolerate(self) -> None:
        if FAIL_FLAG not in self._stated:
            return
        if TOLERABLE in self._stated:
            self.notes.add((_WARNING, "fail-flag-overruled"))
        else:
            self._derive(TOLERABLE, "0" if self._value(FAIL_FLAG) == "true" else UNLIMITED)

    def _align(self) -> None:
        if self._value(UNALIGNED) == "true" and self._value(MODE) == "AT_LEAST_ONCE":
            self._derive(UNALIGNED, "false")
            self.notes.add((_WARNING, "unaligned-switched-off"))

    def _raise_interval(self) -> None:
        if self.number(MIN_PAUSE) and self.number(MAX_CONCURRENT) > 1:
            self.notes.add((_WARNING, "pause-with-concurrency"))
        if 0 < self.number(INTERVAL) < self.number(MIN_PAUSE):
            self._derive(INTERVAL, self._value(MIN_PAUSE))
            self.notes.add((_WARNING, "interval-raised"))

    def _store(self) -> None:
        if self._value(DIRECTORY):
            if STORAGE not in self._stated:
                self._derive(STORAGE, "filesystem")
            if re.search(r"/chk-\d+/?$", self._value(DIRECTORY)):
                self.notes.add((_LINT, "directory-of-one-checkpoint"))
        elif self._value(STORAGE) == "filesystem" or self._value("state.backend.type") == "rocksdb":
            self._derive(STORAGE, "jobmanager")
            self.notes.add((_WARNING, "no-directory"))

    def _back_up(self) -> None:
        backup = f"{CHECKPOINTING}.local-backup.enabled"
        if self._value("execution.state-recovery.from-local") == "true" and backup not in self._stated:
            self._derive(backup, "true")

    def _restart(self, profile: str) -> None:
        """Unset: none without checkpoints; with them, the endless fixed delay of 1.14 or the growing one of 2.x."""
        if STRATEGY in self._stated or not self.number(INTERVAL):
            return
        if profile == FLINK_1_14:
            self._derive(f"{RESTART}.fixed-delay.attempts", UNLIMITED)
            self._derive(f"{RESTART}.fixed-delay.delay", "1000 ms")
        name = "fixed-delay" if profile == FLINK_1_14 else "exponential-delay"
        self.settings[STRATEGY] = Expected(name, Origin.DEFAULT)

    def _lint(self) -> None:
        strategy, rate = self._value(STRATEGY), f"{RESTART}.failure-rate"
        fastest_ms = self.number(f"{rate}.max-failures-per-interval") * self.number(f"{rate}.delay")
        if strategy == "failure-rate" and self.number(f"{rate}.failure-rate-interval") <= fastest_ms:
            self.notes.add((_LINT, "failure-rate-never-reached"))
        idle = [each for each in _STRATEGIES if each != strategy]
        if any(key.startswith(tuple(f"{RESTART}.{each}." for each in idle)) for key in self._stated):
            self.notes.add((_LINT, "strategy-not-in-force"))
        if self.number(TIMEOUT) < self.number(INTERVAL):
            self.notes.add((_LINT, "timeout-below-interval"))
        kept = self._value(f"{CHECKPOINTING}.externalized-checkpoint-retention")
        if self._value("execution.state-recovery.path") and kept == "NO_EXTERNALIZED_CHECKPOINTS":
            self.notes.add((_LINT, "nothing-retained"))
        if self._value("state.backend.async") == "false":
            self.notes.add((_LINT, "synchronous-snapshots"))


def _strangers(options: Mapping[str, Stated]) -> Iterator[tuple[NoteKind, str]]:
    if any(key not in NORMAL and each.origin is Origin.FILE for key, each in options.items()):
        yield _WARNING, "unknown-option"


def keepable(plan: Plan) -> Claims:
    """The most that a job can claim: the least of its sources, its state and its sinks (E2E-01)."""
    options = stated(plan)
    mode = NORMAL[MODE](options[MODE].text) if MODE in options else "EXACTLY_ONCE"
    state = EXACTLY_ONCE if mode == "EXACTLY_ONCE" or plan.job.never_aligns() else AT_LEAST_ONCE
    if plan.job.iterative or any(source.socket for source in plan.job.of_kind(VertexKind.SOURCE)):
        state -= {Guarantee.NO_LOSS}
    sink = options.get("sink.delivery-guarantee")
    return Claims(state, state & (AT_LEAST_ONCE if sink and sink.text.lower() == "at-least-once" else EXACTLY_ONCE))
