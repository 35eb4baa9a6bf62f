"""What a plan states about options, in the oracles' own words: the program's code wins over the cluster's file.

Nothing here is shared with an accused: keys are listed once more, and files and calls are read once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from holdfast.harness.model.configuration import Call, ConfigurationFile, Origin
from holdfast.harness.model.plan import Plan

CHECKPOINTING, RESTART = "execution.checkpointing", "restart-strategy"
TOLERABLE, FAIL_FLAG = f"{CHECKPOINTING}.tolerable-failed-checkpoints", "holdfast.fail-on-checkpointing-errors"
UNLIMITED = str(2**31 - 1)
OLDER: Mapping[str, tuple[str, ...]] = {
    "restart-strategy": (f"{RESTART}.type",),
    "state.checkpoints.num-retained": (f"{CHECKPOINTING}.num-retained",),
    f"{CHECKPOINTING}.unaligned": (f"{CHECKPOINTING}.unaligned.enabled",),
    f"{CHECKPOINTING}.alignment-timeout": (f"{CHECKPOINTING}.aligned-checkpoint-timeout",),
    f"{CHECKPOINTING}.checkpoints-after-tasks-finish.enabled": (f"{CHECKPOINTING}.checkpoints-after-tasks-finish",),
    "state.storage.fs.memory-threshold": (f"{CHECKPOINTING}.data-inline-threshold",),
    "state.storage.fs.write-buffer-size": (f"{CHECKPOINTING}.write-buffer-size",),
    "state.backend": ("state.backend.type",),
    "state.backend.incremental": (f"{CHECKPOINTING}.incremental",),
    "state.checkpoint-storage": (f"{CHECKPOINTING}.storage",),
    "state.checkpoints.dir": (f"{CHECKPOINTING}.dir",),
    "state.savepoints.dir": (f"{CHECKPOINTING}.savepoint-dir",),
    "state.backend.local-recovery": (
        f"{CHECKPOINTING}.local-backup.enabled",
        "execution.state-recovery.from-local",
    ),
    "taskmanager.state.local.root-dirs": (f"{CHECKPOINTING}.local-backup.dirs",),
    "execution.savepoint.path": ("execution.state-recovery.path",),
    "pipeline.operator-chaining": ("pipeline.operator-chaining.enabled",),
}
"""By the spelling of Flink 1.14, what it is in 2.x."""
_OF_OLD = {*OLDER, FAIL_FLAG}
_BACKENDS = {
    "jobmanager": ("hashmap", "jobmanager"),
    "memorystatebackend": ("hashmap", "jobmanager"),
    "filesystem": ("hashmap", "filesystem"),
    "fsstatebackend": ("hashmap", "filesystem"),
    "rocksdbstatebackend": ("rocksdb", "filesystem"),
}
_FIXED, _RATE = f"{RESTART}.fixed-delay", f"{RESTART}.failure-rate"
_EXPONENTIAL = f"{RESTART}.exponential-delay"
_SETTERS: Mapping[str, tuple[str, ...]] = {
    "set_checkpointing_mode": (f"{CHECKPOINTING}.mode",),
    "set_checkpoint_timeout": (f"{CHECKPOINTING}.timeout",),
    "set_min_pause_between_checkpoints": (f"{CHECKPOINTING}.min-pause",),
    "set_max_concurrent_checkpoints": (f"{CHECKPOINTING}.max-concurrent-checkpoints",),
    "set_tolerable_checkpoint_failure_number": (f"{CHECKPOINTING}.tolerable-failed-checkpoints",),
    "set_fail_on_checkpointing_errors": ("holdfast.fail-on-checkpointing-errors",),
    "enable_externalized_checkpoints": (f"{CHECKPOINTING}.externalized-checkpoint-retention",),
    "enable_checkpointing": (f"{CHECKPOINTING}.interval", f"{CHECKPOINTING}.mode", "holdfast.force-checkpointing"),
    "no_restart": (),
    "fixed_delay_restart": (f"{_FIXED}.attempts", f"{_FIXED}.delay"),
    "failure_rate_restart": (
        f"{_RATE}.max-failures-per-interval", f"{_RATE}.failure-rate-interval", f"{_RATE}.delay",
    ),
    "exponential_delay_restart": (
        f"{_EXPONENTIAL}.initial-backoff", f"{_EXPONENTIAL}.max-backoff", f"{_EXPONENTIAL}.backoff-multiplier",
        f"{_EXPONENTIAL}.reset-backoff-threshold", f"{_EXPONENTIAL}.jitter-factor",
    ),
    "memory_state_backend": ("holdfast.storage.memory-limit",),
    "fs_state_backend": (f"{CHECKPOINTING}.dir", "state.backend.async"),
    "rocksdb_state_backend": (f"{CHECKPOINTING}.dir", f"{CHECKPOINTING}.incremental"),
}  # fmt: skip
"""By call, or by what a call is handed, the options that its arguments are."""
_FIXED_PARTS: Mapping[str, Mapping[str, str]] = {
    "no_restart": {f"{RESTART}.type": "none"},
    "fixed_delay_restart": {f"{RESTART}.type": "fixed-delay"},
    "failure_rate_restart": {f"{RESTART}.type": "failure-rate"},
    "exponential_delay_restart": {f"{RESTART}.type": "exponential-delay"},
    "memory_state_backend": {"state.backend": "MemoryStateBackend", "holdfast.storage.memory-limit": "5242880"},
    "fs_state_backend": {"state.backend": "FsStateBackend", "state.backend.async": "true"},
    "rocksdb_state_backend": {"state.backend": "RocksDBStateBackend", f"{CHECKPOINTING}.incremental": "false"},
    "enable_checkpointing": {f"{CHECKPOINTING}.mode": "EXACTLY_ONCE"},
    "enable_unaligned_checkpoints": {f"{CHECKPOINTING}.unaligned.enabled": "true"},
    "disable_operator_chaining": {"pipeline.operator-chaining.enabled": "false"},
}
"""What else such a call sets, unless its arguments say otherwise."""


class Stated(NamedTuple):
    """The value of an option as it was written, and by whom."""

    text: str
    origin: Origin


def stated(plan: Plan) -> Mapping[str, Stated]:
    """Every option that a plan states, by its newest spelling."""
    return _stated(tuple(plan.options.items()), plan.calls, plan.configuration_file)


def texts(plan: Plan) -> Mapping[str, str]:
    """The same without who stated it, and with the number of failures that the flag of old stands for."""
    options = plan.options
    if not plan.calls and plan.configuration_file is None and _OF_OLD.isdisjoint(options):
        return options
    found = {key: each.text for key, each in stated(plan).items()}
    if FAIL_FLAG in found:
        found.setdefault(TOLERABLE, "0" if found[FAIL_FLAG].lower() == "true" else UNLIMITED)
    return found


@lru_cache(maxsize=256)
def _stated(
    options: tuple[tuple[str, str], ...], calls: tuple[Call, ...], file: ConfigurationFile | None
) -> Mapping[str, Stated]:
    found: dict[str, Stated] = {}
    if file is not None:
        lines = _flat(file.text) if file.name.endswith("flink-conf.yaml") else _nested(file.text)
        found |= {key: Stated(text, Origin.FILE) for key, text in _newest(lines)}
    code = [*options, *(pair for call in calls for pair in _of_call(call))]
    found |= {key: Stated(text, Origin.CODE) for key, text in _newest(code)}
    return found


def _newest(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for key, text in pairs:
        pair = _BACKENDS.get(text.rpartition(".")[2].removesuffix("Factory").lower())
        if key in ("state.backend", "state.backend.type") and pair is not None:
            yield from zip(("state.backend.type", f"{CHECKPOINTING}.storage"), pair, strict=True)
        else:
            yield from ((newest, text) for newest in OLDER.get(key, (key,)))


def _of_call(call: Call) -> Iterator[tuple[str, str]]:
    arguments = [str(each).lower() if isinstance(each, bool) else str(each) for each in call.arguments]
    name = call.name
    if name == "configure" and len(arguments) == 2:
        yield arguments[0], arguments[1]
        return
    if name == "set_checkpoint_storage" and arguments:
        storage = arguments[0]
        yield f"{CHECKPOINTING}.storage", "jobmanager" if storage == "jobmanager" else "filesystem"
        if storage != "jobmanager":
            yield f"{CHECKPOINTING}.dir", storage
        return
    if name in ("set_state_backend", "set_restart_strategy") and arguments:
        name = arguments.pop(0)
        if name not in _FIXED_PARTS:
            yield "state.backend", name
    if name == "enable_unaligned_checkpoints" and arguments:
        yield f"{CHECKPOINTING}.unaligned.enabled", arguments[0]
        return
    yield from _FIXED_PARTS.get(name, {}).items()
    yield from zip(_SETTERS.get(name, ()), arguments, strict=False)


def _flat(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, colon, value = line.split("#")[0].partition(": ")
        if colon:
            yield key.strip(), value.strip()


def _nested(text: str) -> Iterator[tuple[str, str]]:
    """Each key hangs below the nearest line above it that is indented less."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        content = line.split(" #")[0].strip()
        if not content or content.startswith("#"):
            continue
        key, _, value = content.partition(":")
        indent = len(line) - len(line.lstrip())
        above = [each for each in above if each[0] < indent]
        above.append((indent, key.strip("'\" ")))
        if value:
            yield ".".join(name for _, name in above), value.strip("'\" ")
