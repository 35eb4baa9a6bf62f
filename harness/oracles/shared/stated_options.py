"""What a plan states about options, in the oracles' own words: the program's code wins over the cluster's file.

Nothing here is shared with the system under test but the keys: files and calls are read once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from holdfast.harness.model import profile
from holdfast.harness.model.configuration import Call, ConfigurationFile, Origin
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.submitted_jobs import kept_for_the_latest_plan

_FROM_1_14 = {*profile.OLDER, profile.FAIL_ON_ERRORS}
_BACKEND_KEYS = (profile.BACKEND, *profile.OPTIONS[profile.BACKEND].older)
_BACKENDS = {
    "jobmanager": ("hashmap", "jobmanager"),
    "memorystatebackend": ("hashmap", "jobmanager"),
    "filesystem": ("hashmap", "filesystem"),
    "fsstatebackend": ("hashmap", "filesystem"),
    "rocksdbstatebackend": ("rocksdb", "filesystem"),
}
_SETTERS: Mapping[str, tuple[str, ...]] = {
    "set_checkpointing_mode": (profile.MODE,),
    "set_checkpoint_timeout": (profile.TIMEOUT,),
    "set_min_pause_between_checkpoints": (profile.MIN_PAUSE,),
    "set_max_concurrent_checkpoints": (profile.MAX_CONCURRENT,),
    "set_tolerable_checkpoint_failure_number": (profile.TOLERABLE_FAILURES,),
    "set_fail_on_checkpointing_errors": (profile.FAIL_ON_ERRORS,),
    "enable_externalized_checkpoints": (profile.RETENTION,),
    "enable_checkpointing": (profile.INTERVAL, profile.MODE, profile.FORCED),
    "no_restart": (),
    "fixed_delay_restart": (profile.FIXED_ATTEMPTS, profile.FIXED_DELAY),
    "failure_rate_restart": (
        profile.RATE_FAILURES, profile.RATE_INTERVAL, profile.RATE_DELAY,
    ),
    "exponential_delay_restart": (
        profile.EXPONENTIAL_INITIAL, profile.EXPONENTIAL_MAX, profile.EXPONENTIAL_MULTIPLIER,
        profile.EXPONENTIAL_RESET, profile.EXPONENTIAL_JITTER,
    ),
    "memory_state_backend": (profile.MEMORY_LIMIT,),
    "fs_state_backend": (profile.DIRECTORY, profile.ASYNCHRONOUS),
    "rocksdb_state_backend": (profile.DIRECTORY, profile.INCREMENTAL),
}  # fmt: skip
"""By call, or by what a call is handed, the options that its arguments are."""
_FIXED_PARTS: Mapping[str, Mapping[str, str]] = {
    "no_restart": {profile.STRATEGY: "none"},
    "fixed_delay_restart": {profile.STRATEGY: "fixed-delay"},
    "failure_rate_restart": {profile.STRATEGY: "failure-rate"},
    "exponential_delay_restart": {profile.STRATEGY: "exponential-delay"},
    "memory_state_backend": {profile.BACKEND: "MemoryStateBackend", profile.MEMORY_LIMIT: "5242880"},
    "fs_state_backend": {profile.BACKEND: "FsStateBackend", profile.ASYNCHRONOUS: "true"},
    "rocksdb_state_backend": {profile.BACKEND: "RocksDBStateBackend", profile.INCREMENTAL: "false"},
    "enable_checkpointing": {profile.MODE: "EXACTLY_ONCE"},
    "enable_unaligned_checkpoints": {profile.UNALIGNED: "true"},
    "disable_operator_chaining": {profile.CHAINING: "false"},
}
"""What else such a call sets, unless its arguments say otherwise."""


class Stated(NamedTuple):
    """The value of an option as it was written, and by whom."""

    text: str
    origin: Origin


def stated(plan: Plan) -> Mapping[str, Stated]:
    """Every option that a plan states, by its newest spelling."""
    return _stated(tuple(plan.options.items()), plan.calls, plan.configuration_file)


@kept_for_the_latest_plan
def texts(plan: Plan) -> Mapping[str, str]:
    """The same without who stated it, and with the number of failures that the flag of old stands for."""
    options = plan.options
    if not plan.calls and plan.configuration_file is None and _FROM_1_14.isdisjoint(options):
        return options
    found = {key: each.text for key, each in stated(plan).items()}
    if profile.FAIL_ON_ERRORS in found:
        fails = found[profile.FAIL_ON_ERRORS].lower() == "true"
        found.setdefault(profile.TOLERABLE_FAILURES, "0" if fails else str(profile.UNLIMITED))
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
        if key in _BACKEND_KEYS and pair is not None:
            yield from zip((profile.BACKEND, profile.STORAGE), pair, strict=True)
        else:
            yield from ((newest, text) for newest in profile.OLDER.get(key, (key,)))


def _of_call(call: Call) -> Iterator[tuple[str, str]]:
    arguments = [str(each).lower() if isinstance(each, bool) else str(each) for each in call.arguments]
    name = call.name
    if name == "configure" and len(arguments) == 2:
        yield arguments[0], arguments[1]
        return
    if name == "set_checkpoint_storage" and arguments:
        storage = arguments[0]
        yield profile.STORAGE, "jobmanager" if storage == "jobmanager" else "filesystem"
        if storage != "jobmanager":
            yield profile.DIRECTORY, storage
        return
    if name in ("set_state_backend", "set_restart_strategy") and arguments:
        name = arguments.pop(0)
        if name not in _FIXED_PARTS:
            yield profile.BACKEND, name
    if name == "enable_unaligned_checkpoints" and arguments:
        yield profile.UNALIGNED, arguments[0]
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
