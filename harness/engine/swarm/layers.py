"""Where the options of a drawn plan are stated: in the cluster's file, by calls, in older spellings, more than once.

It is the same configuration wherever it stands, so nothing else of the plan depends on it.
"""

from __future__ import annotations

import msgspec

from holdfast.harness.model import profile
from holdfast.harness.model.configuration import Call, ConfigurationFile
from holdfast.harness.model.plan import Plan
from holdfast.harness.sim.streams import Stream

FLAT, NESTED = "flink-conf.yaml", "config.yaml"
_MAPPING = "execution"
_OLDER_OF = {newest[0]: older for older, newest in profile.OLDER.items() if len(newest) == 1}
_OVERRULED = {
    profile.STRATEGY: "none",
    profile.INTERVAL: "1 h",
    profile.TIMEOUT: "10 ms",
    profile.RETAINED: "9",
    profile.DELIVERY: "at-least-once",
}
"""What a cluster may say in vain about options that the program states."""


def state_elsewhere(plan: Plan, stream: Stream) -> Plan:
    """The plan with its options in several places."""
    places: dict[str, list[tuple[str, str]]] = {"code": [], "call": [], "file": []}
    for key, text in [*plan.options.items(), (profile.PROFILE, stream.choice((profile.FLINK_1_14, profile.FLINK_2)))]:
        place = stream.choice(("code", "call", "file", "file"))
        places[place].append((_spelled(key, stream), text))
        if place != "file" and key in _OVERRULED:
            places["file"].append((_spelled(key, stream), _OVERRULED[key]))
    write = stream.choice((_flat, _nested))
    return msgspec.structs.replace(
        plan,
        options=dict(places["code"]),
        calls=tuple(Call("configure", pair) for pair in places["call"]),
        configuration_file=write(places["file"]),
    )


def _spelled(key: str, stream: Stream) -> str:
    return stream.choice((key, _OLDER_OF.get(key, key)))


def _flat(options: list[tuple[str, str]]) -> ConfigurationFile:
    return ConfigurationFile(FLAT, "".join(f"{key}: {text}\n" for key, text in options))


def _nested(options: list[tuple[str, str]]) -> ConfigurationFile:
    """What belongs to the execution stands below it, the rest under keys with dots."""
    below = f"{_MAPPING}."
    inner = [f"  {key.removeprefix(below)}: {text}\n" for key, text in options if key.startswith(below)]
    outer = [f"{key}: {text}\n" for key, text in options if not key.startswith(below)]
    return ConfigurationFile(NESTED, "".join([*outer, *([f"{_MAPPING}:\n", *inner] if inner else [])]))
