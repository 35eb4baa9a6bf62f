"""Plans that are submitted and do not run: what counts is the answer."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.harness.model.configuration import Call, ConfigurationFile
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.suites.conformance.plans import plan

Options = dict[str, str]
FLAT, NESTED = "flink-conf.yaml", "config.yaml"


def submitted(options: Options, *calls: Call, file: ConfigurationFile | None = None, **fields: Any) -> Plan:
    """A job with these options and no others, to be accepted unless the fields say otherwise."""
    bare = replace(plan(), options=dict(options), calls=calls, configuration_file=file)
    return replace(bare, **{"expected_end": ExpectedEnd.ACCEPTED, **fields})


def refused(options: Options, *calls: Call, file: ConfigurationFile | None = None, **fields: Any) -> Plan:
    """The same, to be refused."""
    return submitted(options, *calls, file=file, expected_end=ExpectedEnd.REFUSED, **fields)


def flat(options: Options) -> ConfigurationFile:
    """The file of Flink 1.14 that says this."""
    return ConfigurationFile(FLAT, "".join(f"{key}: {value}\n" for key, value in options.items()))


def nested(options: Options) -> ConfigurationFile:
    """The file of Flink 2.x that says this, each key as deep as it has dots unless another begins like it."""
    lines = ["# a cluster"]
    first = [key.partition(".")[0] for key in options]
    for key, value in options.items():
        names = key.split(".") if first.count(key.partition(".")[0]) == 1 else [key]
        lines += [f"{'  ' * depth}{name}:" for depth, name in enumerate(names)]
        lines[-1] += f" {value}"
    return ConfigurationFile(NESTED, "\n".join(lines))
