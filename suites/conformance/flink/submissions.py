"""Which options Flink takes (RULES CFG, RST-07)."""

from __future__ import annotations

from holdfast.suites.conformance import configuration, configuration_layers
from holdfast.suites.conformance.flink.twins import UNALIGNED, flink, refused, twin
from holdfast.suites.conformance.plans import CHECKPOINTING, RESTART, with_needs

NOT_REFUSED = frozenset({f"{CHECKPOINTING}.num-retained", f"{CHECKPOINTING}.data-inline-threshold",
                         "state.backend.rocksdb.writebuffer.count"})  # fmt: skip
"""A job does not decide how many are retained. An inline threshold above 1 MB is a documented difference: Flink logs
"Ignoring invalid file size threshold value", and goes on with its default. One write buffer is enough for Flink, whose
`RocksDBConfigurableOptions` refuses none or fewer, when a task opens its backend."""
BEYOND = tuple(refused({key: bad}) for key, bad, _ in configuration.LIMITS if key not in NOT_REFUSED)
EXCLUSIVE = (refused({**UNALIGNED, f"{CHECKPOINTING}.max-concurrent-checkpoints": "2"}),)
AT_LIMITS = {key: good for key, _, good in configuration.LIMITS if not key.endswith((".interval", ".timeout"))}
"""An interval of 10 ms leaves a reader no time to look, a timeout of 10 ms leaves checkpoints none."""

CASES = with_needs(
    twin(configuration.CASES, "flink/configuration-refused", BEYOND, "LOUD/accepted-bad-option",
         method="A job is submitted with each option of its own one step beyond its limit."),
    twin(configuration.CASES, "flink/configuration-accepted", flink(options=AT_LIMITS), "LOUD/refused-good-option",
         method="A job runs with options exactly at their limits."),
    twin(configuration.CASES, "flink/configuration-unaligned-and-concurrent", EXCLUSIVE, "LOUD/accepted-bad-option",
         method="A job is submitted with both."),
    twin(configuration.CASES, "flink/configuration-no-directories",
         tuple(refused({f"{CHECKPOINTING}.dir": each}) for each in configuration.NO_DIRECTORIES),
         "LOUD/accepted-bad-option",
         method="A job is submitted with directories of unknown schemes, without a scheme, and without a path."),
    twin(configuration_layers.CASES, "flink/configuration-unknown-names",
         (refused({f"{RESTART}.type": "sometimes"}), refused({f"{CHECKPOINTING}.mode": "MOSTLY_ONCE"})),
         "LOUD/accepted-bad-option", method="A job is submitted with a restart strategy and a mode that do not exist."),
)  # fmt: skip
