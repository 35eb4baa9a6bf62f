"""What these suites bring (entry point `holdfast.suites`)."""

from __future__ import annotations

from holdfast.harness.spi.suite import Suite

_HERE = "holdfast.suites"
_CONFORMANCE = (
    "asynchronous", "barriers", "claimed_checkpoints", "claims", "clocks", "configuration", "configuration_layers",
    "coordinator", "coordinator_memory", "delivery", "engines", "failed_checkpoints", "finishing",
    "flink.checkpoints", "flink.connected", "flink.ends", "flink.jars", "flink.links", "flink.objects",
    "flink.recoveries", "flink.restarts", "flink.shapes", "flink.storing", "flink.submissions", "incremental",
    "iteration", "job_records", "local_recovery", "long_runs", "messages", "moved_state", "observability", "offers",
    "operators", "processes", "programs", "queues", "recovery", "regions", "rescaling", "rescaling_in_place",
    "restart", "retention", "savepoints", "seed_samples", "sockets", "source_systems", "sources", "spark",
    "state_backends", "storage", "structured_streaming", "succession", "tables", "timers", "transactions",
    "triggering", "two_inputs", "unaligned",
)  # fmt: skip
_CHAOS = ("flink", "queues", "reference", "structured_streaming")
_KITS = f"{_HERE}.certify"
_SCAFFOLDS = f"{_HERE}.certify.scaffolds"

SUITE = Suite(
    rules=(f"{_HERE}.spec:load_rules",),
    cases=(
        *(f"{_HERE}.conformance.{area}:CASES" for area in _CONFORMANCE),
        *(f"{_HERE}.chaos.{system}:CASES" for system in _CHAOS),
    ),
    case_costs=(f"{_HERE}.spec.costs:load_costs",),
    histories=(f"{_HERE}.selfcheck.oracles.histories:HISTORIES",),
    kits={
        "checkpoint-storage": f"{_KITS}.checkpoint_storage.registered:CheckpointStorageKit",
        "file-system": f"{_KITS}.file_system.registered:FileSystemKit",
        "restart-strategy": f"{_KITS}.restart_strategy.registered:RestartStrategyKit",
        "sink": f"{_KITS}.sink.registered:SinkKit",
        "source": f"{_KITS}.source.registered:SourceKit",
        "state-backend": f"{_KITS}.state_backend.registered:StateBackendKit",
    },
    scaffolds={
        "checkpoint-storage": f"{_SCAFFOLDS}.parts:CHECKPOINT_STORAGE",
        "file-system": f"{_SCAFFOLDS}.parts:FILE_SYSTEM",
        "pipeline": f"{_SCAFFOLDS}.pipelines:PIPELINE",
        "program": f"{_SCAFFOLDS}.programs:PROGRAM",
        "restart-strategy": f"{_SCAFFOLDS}.parts:RESTART_STRATEGY",
        "sink": f"{_SCAFFOLDS}.parts:SINK",
        "source": f"{_SCAFFOLDS}.parts:SOURCE",
        "state-backend": f"{_SCAFFOLDS}.parts:STATE_BACKEND",
        "system": f"{_SCAFFOLDS}.systems:SYSTEM",
    },
)
