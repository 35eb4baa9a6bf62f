"""One run of the reference runtime on real processes, in a process of its own so that its memory goes with it.

python -m holdfast.suites.bench.reference_run ORDER, an Order as JSON; prints what was measured as JSON.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered, SourceEmitted
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, Plan, WorkloadSpec
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.final_sums import check_final_sums
from holdfast.suites.bench.observed import Batches, ObservedReference, processor_time
from holdfast.suites.bench.peers.children import run_script
from holdfast.suites.bench.peers.peer import Demand, Latency, Throughput
from holdfast.suites.bench.peers.progress import Sample, rates_of

RECORDS_PER_YEAR = 336_776
ORIGINS = 3
AT_ONCE_S = 1e-6
"""Cold is until the output of the first checkpoint is visible, warm from there to that of the last one that did not
wait for input to end. So what is counted is committed, with all the work that a checkpoint and its output take."""
FEWEST_CHECKPOINTS = 2
SETTLED_AFTER_S = 2.0
ENGINE, MODE = "Holdfast reference", "real processes"


MODELLING = frozenset({"CUT", "RESTORE", "EXACT", "NOLOSS"})
"""The oracles that hold a model of the whole input in memory, some 50 bytes a record."""


class Order(msgspec.Struct, frozen=True):
    """What to run; one of these is given.

    Attributes:
        demand: how.
        judged_years: so many years as fast as possible, judged by every oracle, not measured.
        measured_years: so many years as fast as possible. Oracles that hold a model of the whole input are left out,
            and the last row of every key is compared with the sums of the whole input instead.
        offered: records that arrive per second; judged by every oracle.
    """

    demand: Demand
    judged_years: int = 0
    measured_years: int = 0
    offered: int = 0


class Saturated(msgspec.Struct, frozen=True):
    """What a run as fast as possible tells.

    Attributes:
        throughput: what the peers tell too.
        applied_ms: from a batch's leaving its source until it was in the sums.
        visible_ms: until the output of its checkpoint was visible.
    """

    throughput: Throughput
    applied_ms: tuple[float, ...]
    visible_ms: tuple[float, ...]


class _Answer(msgspec.Struct, frozen=True):
    saturated: Saturated | None = None
    latency: Latency | None = None


def judge(demand: Demand, years: int) -> None:
    """Have a run over so many years judged by every oracle, in a process of its own.

    Raises:
        OSError: it does not pass.
    """
    _ordered(Order(demand, judged_years=years))


def saturated(demand: Demand, years: int) -> Saturated:
    """Take all years as fast as possible, in a process of its own.

    Raises:
        OSError: the run does not count.
    """
    found = _ordered(Order(demand, measured_years=years)).saturated
    assert found is not None
    return found


def paced(demand: Demand, offered: int) -> Latency:
    """Let records arrive at a rate, in a process of its own.

    Raises:
        OSError: the run does not count.
    """
    found = _ordered(Order(demand, offered=offered)).latency
    assert found is not None
    return found


def measure_throughput(demand: Demand, years: int) -> Saturated:
    """Take all years as fast as possible.

    Raises:
        OSError: the run says nothing, or an oracle refused it.
    """
    under_test = ObservedReference()
    with processor_time() as spent:
        run = _run(under_test, demand, {"repeat": years}, seconds=demand.seconds * 10, modelled=False)
    batches = Batches(run.history)
    zero_ns = under_test.zero_ns
    samples = [Sample((zero_ns + time_ns) / 1e9, records) for time_ns, records in batches.committed_samples()]
    if len(samples) < FEWEST_CHECKPOINTS + 1:
        raise OSError(
            f"{years} years were read before {FEWEST_CHECKPOINTS} checkpoints were complete: raise the years."
        )
    return Saturated(
        throughput=Throughput(
            engine=ENGINE,
            mode=MODE,
            rates=rates_of(samples, spent, cold_s=AT_ONCE_S, warm_after_s=AT_ONCE_S),
            checkpoint_ms=_checkpoint_durations(run.history),
        ),
        applied_ms=tuple((batches.applied_ns(batch) - batch.time_ns) / 1e6 for batch in batches.emitted),
        visible_ms=tuple((batches.visible_ns(batch) - batch.time_ns) / 1e6 for batch in batches.emitted),
    )


def measure_latency(demand: Demand, offered: int) -> Latency:
    """Let records arrive at a rate; latency counts from the planned arrival of the first record of each batch that the
    sources emit, so it is an upper bound for the records of the batch.

    Raises:
        OSError: the run says nothing, or an oracle refused it.
    """
    under_test = ObservedReference()
    years = max(1, round(offered * (SETTLED_AFTER_S + demand.seconds) / RECORDS_PER_YEAR))
    rate = max(1, offered // ORIGINS)
    run = _run(under_test, demand, {"repeat": years, "records_per_second": rate}, seconds=demand.seconds * 2 + 60)
    batches = Batches(run.history)

    def arrived_ns(batch: SourceEmitted) -> float:
        return batch.first_offset * 1e9 / rate

    settled = [each for each in batches.emitted if arrived_ns(each) >= SETTLED_AFTER_S * 1e9]
    return Latency(
        engine=ENGINE,
        mode=MODE,
        offered=rate * ORIGINS,
        applied_ms=tuple((batches.applied_ns(each) - arrived_ns(each)) / 1e6 for each in settled),
        committed_ms=tuple((batches.visible_ns(each) - arrived_ns(each)) / 1e6 for each in settled),
    )


def _run(
    under_test: ObservedReference,
    demand: Demand,
    parameters: dict[str, int | str],
    seconds: float,
    *,
    modelled: bool = True,
) -> Run:
    tools = toolbox()
    if not modelled:
        oracles = tuple(oracle for oracle in tools.oracles if oracle.name not in MODELLING)
        tools = msgspec.structs.replace(tools, oracles=oracles)
    plan = Plan(
        job=KEYED_SUM,
        workload=WorkloadSpec("flights", {"key": demand.key, **parameters}),
        options={"execution.checkpointing.interval": "1 s"},
        bounds=Bounds(safety_ms=100, liveness_ms=int(seconds * 1000)),
    )
    with tempfile.TemporaryDirectory(dir=demand.folder) as folder:
        run = run_plan(plan, under_test, tools, Tier.PROCESS, Path(folder))
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    if failed or run.outcome is not Outcome.PASS:
        raise OSError(f"the run does not count: {run.outcome.value} {run.reason} {failed}")
    if not modelled:
        check_final_sums(run.history)
    return run


def _checkpoint_durations(history: History) -> tuple[float, ...]:
    triggered = {event.checkpoint: event.time_ns for event in history.of(CheckpointTriggered)}
    return tuple((event.time_ns - triggered[event.checkpoint]) / 1e6 for event in history.of(CheckpointCompleted))


def _ordered(order: Order) -> _Answer:
    command = [sys.executable, "-m", __spec__.name, msgspec.json.encode(order, enc_hook=str).decode()]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise OSError("the run of the reference runtime does not count: see above.")
    return msgspec.json.decode(done.stdout, type=_Answer)


def main(text: str) -> None:
    """Run what was ordered."""
    order = msgspec.json.decode(text, type=Order, dec_hook=lambda kind, value: kind(value))
    os.sched_setaffinity(0, order.demand.cores)
    answer = _Answer()
    if order.judged_years:
        _run(ObservedReference(), order.demand, {"repeat": order.judged_years}, seconds=order.demand.seconds * 10)
    elif order.measured_years:
        answer = _Answer(saturated=measure_throughput(order.demand, order.measured_years))
    else:
        answer = _Answer(latency=measure_latency(order.demand, order.offered))
    sys.stdout.buffer.write(msgspec.json.encode(answer))


if __name__ == "__main__":
    run_script(lambda: main(sys.argv[1]))
