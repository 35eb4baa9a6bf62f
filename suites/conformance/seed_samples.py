"""Every configuration sample of the source documents, submitted and run (RULES CFG-09)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.process import kill
from holdfast.harness.model.configuration import Call
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Schedule
from holdfast.harness.model.target import STORAGE
from holdfast.suites.conformance.plans import STATE_IN_FILES, WORKERS, case, decides, plan, submitted, with_needs
from holdfast.suites.conformance.samples import Sample, samples

PROFILE = {"holdfast.profile": "flink-1.14"}
"""Of which the seeds speak."""
PRELUDE = Call("enable_checkpointing", (5_000,))
"""What the source documents' samples of single settings take for granted."""
MINUTE_MS = 60_000
SHORT = Bounds(safety_ms=4 * MINUTE_MS, liveness_ms=4 * MINUTE_MS)
LONG = Bounds(safety_ms=90 * MINUTE_MS, liveness_ms=60 * MINUTE_MS)
"""Where a checkpoint happens every 15 min."""
FEW = {"records": 40, "records_per_second": 10}


def failing(checkpoints: int, after: int) -> FaultSpec:
    """So many checkpoints in a row fail, because neither worker can write its state."""
    parameters: dict[str, int | str] = {"operation": "write-state", "occurrences": 2 * checkpoints}
    return FaultSpec("storage-error", STORAGE, Schedule(after_checkpoint=after), MINUTE_MS, parameters)


def tolerant(*faults: FaultSpec, end: ExpectedEnd) -> Plan:
    """The sample that tolerates two failures in a row; the job does not restart, so that the third is its end."""
    sample = next(each for each in samples() if each.name == "every-setting")
    return replace(
        plan(*faults, records=FEW, bounds=SHORT),
        options=PROFILE | STATE_IN_FILES | {"restart-strategy.type": "none", "source.max-batch-records": "4"},
        calls=sample.program,
        expected_end=end,
    )


def stays_down(sample: Sample) -> bool:
    """Whether a job with it does not restart."""
    return sample.settings.get("restart-strategy.type") == "none"


def run_of(sample: Sample) -> Plan:
    """A sample runs, a worker is killed, and what its restart strategy says happens."""
    return replace(
        plan(kill(WORKERS[0], after_checkpoint=1), records=FEW, bounds=LONG if sample.name == "large-state" else SHORT),
        options=PROFILE | {"source.max-batch-records": "4"},
        calls=(PRELUDE, *sample.program),
        configuration_file=sample.cluster,
        expected_end=ExpectedEnd.FAILED if stays_down(sample) else ExpectedEnd.RUNNING,
    )


CASES = with_needs(
    case("samples/golden", "Does each configuration sample of the source documents come to what it should?",
         [submitted(PROFILE, *sample.program, file=sample.cluster) for sample in samples()],
         decides("CFG-09", "SAMPLES/sample-differs", wrong="ignores-calls"),
         decides("CFG-09", "SAMPLES/sample-notes-differ", wrong="lints-nothing"),
         method="Each is submitted as it stands, under the profile of Flink 1.14.",
         passes="It is accepted, with the golden effective configuration, warnings and lints."),
    case("samples/defaults", "Is every default the one that is listed for its version?",
         [submitted(profile) for profile in ({}, PROFILE, {"holdfast.profile": "flink-2.x"})],
         decides("CFG-04", "SAMPLES/default-differs", wrong="knows-one-profile"),
         method="A job without options is submitted under each profile, and under none.",
         passes="Every option that is listed has its listed default."),
    case("samples/third-failure", "Is the third failed checkpoint in a row too many for the sample that tolerates two?",
         [tolerant(failing(3, after=1), end=ExpectedEnd.FAILED)],
         decides("CFG-09", "LIVE/end-not-reached", wrong="tolerates-any-number"),
         method="Three checkpoints in a row fail, of a job that does not restart.",
         passes="The job fails with the third."),
    case("samples/success-in-between",
         "Does a checkpoint that completes make the sample that tolerates two failures forget those before it?",
         [tolerant(failing(2, after=1), failing(2, after=2), end=ExpectedEnd.RUNNING)],
         decides("CFG-09", "LIVE/end-not-reached", wrong="never-forgives"),
         method="Two checkpoints fail, one completes, and two more fail, of a job that does not restart.",
         passes="The job continues."),
    *(case(f"samples/run-{sample.name}", f"Does a job run under the sample {sample.name}?", [run_of(sample)],
           # Without the calls there is no checkpoint, and so no kill, which the end of what stays down rests on.
           decides("CFG-09", "LIVE/end-not-reached",
                   wrong="restarts-after-none" if stays_down(sample) else "ignores-calls"),
           method="A job runs with it on the virtual clock, and a worker is killed.",
           passes="It restarts, or stays down if the sample demands it.")
      for sample in samples()),
)  # fmt: skip
