"""What these suites bring (entry point `holdfast.suites`)."""

from __future__ import annotations

from holdfast.harness.spi.suite import Suite

_HERE = "holdfast.suites"
_CONFORMANCE = (
    "asynchronous", "barriers", "retention:CLAIMED_CASES", "sources:CLAIM_CASES", "clocks", "configuration",
    "configuration_layers", "coordinator", "coordinator:MEMORY_CASES", "transactions:DELIVERY_CASES",
    "programs:ENGINE_CASES", "failed_checkpoints", "finishing", "flink.checkpoints", "flink.connected",
    "flink.ends", "flink.jars", "flink.links", "flink.objects", "flink.recoveries",
    "flink.recoveries:RESTART_CASES", "flink.shapes", "flink.checkpoints:STORING_CASES", "flink.submissions",
    "incremental", "operators:ITERATION_CASES", "coordinator:RECORD_CASES", "recovery:LOCAL_CASES",
    "clocks:LONG_RUN_CASES", "failed_checkpoints:MESSAGE_CASES", "savepoints:MOVED_CASES",
    "coordinator:OBSERVED_CASES", "programs:OFFER_CASES", "operators", "pipelines", "processes", "programs",
    "sources:QUEUE_CASES", "recovery", "recovery:REGION_CASES", "rescaling", "rescaling_in_place", "restart",
    "retention", "savepoints", "seed_samples", "sources:SOCKET_CASES", "sources:SYSTEM_CASES", "sources", "spark",
    "state_backends", "storage", "structured_streaming", "coordinator:SUCCESSION_CASES", "transactions:TABLE_CASES",
    "operators:TIMER_CASES", "transactions", "triggering", "operators:TWO_INPUT_CASES", "barriers:UNALIGNED_CASES",
)  # fmt: skip
"""Modules, each with its table unless that is CASES, in the order of a certificate."""
_CHAOS = ("flink", "queues", "reference", "structured_streaming")
_KITS = f"{_HERE}.certify"
_SCAFFOLDS = f"{_HERE}.certify.scaffolds"

SUITE = Suite(
    rules=(f"{_HERE}.spec:load_rules",),
    cases=(
        *(f"{_HERE}.conformance.{area if ':' in area else f'{area}:CASES'}" for area in _CONFORMANCE),
        *(f"{_HERE}.chaos.{system}:CASES" for system in _CHAOS),
    ),
    case_costs=(f"{_HERE}.spec.costs:load_costs",),
    histories=(f"{_HERE}.selfcheck.oracles.histories:HISTORIES",),
    kits={
        "checkpoint-storage": f"{_KITS}.checkpoint_storage:CheckpointStorageKit",
        "file-system": f"{_KITS}.file_system:FileSystemKit",
        "restart-strategy": f"{_KITS}.restart_strategy:RestartStrategyKit",
        "sink": f"{_KITS}.sink:SinkKit",
        "source": f"{_KITS}.source.under_faults:SourceKit",
        "state-backend": f"{_KITS}.state_backend:StateBackendKit",
    },
    scaffolds={
        "checkpoint-storage": f"{_SCAFFOLDS}.parts:CHECKPOINT_STORAGE",
        "file-system": f"{_SCAFFOLDS}.parts:FILE_SYSTEM",
        "pipeline": f"{_SCAFFOLDS}.parts:PIPELINE",
        "program": f"{_SCAFFOLDS}.programs:PROGRAM",
        "restart-strategy": f"{_SCAFFOLDS}.parts:RESTART_STRATEGY",
        "sink": f"{_SCAFFOLDS}.parts:SINK",
        "source": f"{_SCAFFOLDS}.parts:SOURCE",
        "state-backend": f"{_SCAFFOLDS}.parts:STATE_BACKEND",
        "system": f"{_SCAFFOLDS}.parts:SYSTEM",
    },
)
