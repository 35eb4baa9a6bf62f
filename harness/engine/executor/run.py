"""The only executor: a plan on a system, judged.

1. deploy; 2. safety phase: workload and faults together; 3. heal: every undo was written down before its fault acted;
4. liveness phase: the expected end within its bound, then the settle window; 5. stop, with audit; 6. the history is
built, landings are proved from it, and the oracles judge. Whatever happens, faults are healed and the deployment is
closed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from math import prod
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor import run_folder
from holdfast.harness.engine.executor.conductor import NEVER, Conductor
from holdfast.harness.engine.executor.judge import judge, on_its_word, outcome_of, took_effect, unclaimed
from holdfast.harness.engine.executor.phases import Phases, rehearsed
from holdfast.harness.engine.executor.progress import Progress
from holdfast.harness.engine.executor.stall_trace import NoStalls, StallTrace
from holdfast.harness.engine.site.answers import account_of, claims_of, configuration_of, deployed, evidence_of
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.engine.site.garbage import rare_collections
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability, Claims, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import CheckpointCompleted, Event, InputAcknowledged, JobConfigured, RowsVisible
from holdfast.harness.model.history import History, RunEnd, causal_order
from holdfast.harness.model.job import Job, VertexKind
from holdfast.harness.model.own_deaths import OwnDeaths
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.records import InputLog, Output, Partition
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.oracles.output.settle_window import lengthened
from holdfast.harness.oracles.shared.stated_options import texts
from holdfast.harness.spi.fault import AnyFault, UndoRecord
from holdfast.harness.spi.system import ConfigurationAware, DiedAtOnce, Recording, System

MARKER_KEY = "marker"
MARKER_VALUE = 1


def with_markers(inputs: InputLog, job: Job) -> InputLog:
    """The input with markers behind the partitions of unbounded sources. They arrive when every fault is healed.

    What lies before a marker that has its effect in the committed output, and has none itself, is lost: nothing holds
    it up any more. What is missing together with its marker may still come. A bounded partition ends with its own last
    record.

    All markers have one key, which belongs to them alone unless the workload has it too: a join then has both sides of
    it. There are so many in each partition that a filter keeps one at least.
    """
    sources = job.of_kind(VertexKind.SOURCE)
    keys = inputs.keys if MARKER_KEY in inputs.keys else (*inputs.keys, MARKER_KEY)
    count = prod(vertex.modulus for vertex in job.of_kind(VertexKind.FILTER))
    partitions = tuple(
        each if sources[number % len(sources)].bounded else _marked(each, keys.index(MARKER_KEY), count)
        for number, each in enumerate(inputs.partitions)
    )
    return inputs if job.bounded else replace(inputs, keys=keys, partitions=partitions)


def _marked(partition: Partition, code: int, count: int) -> Partition:
    key = np.concatenate((partition.key, np.full(count, code, partition.key.dtype)))
    value = np.concatenate((partition.value, np.full(count, MARKER_VALUE, partition.value.dtype)))
    return replace(partition, key=key, value=value, markers=partition.markers + count)


REAL_SLICE_MS = 100
"""Longest step where steps take real time: how late an interruption may take effect."""
SUBMIT = "submit"
"""The node of what is recorded before anything runs."""
_COMPLETED = str(CheckpointCompleted.__struct_config__.tag)
_ACKNOWLEDGED = str(InputAcknowledged.__struct_config__.tag)
_VISIBLE = str(RowsVisible.__struct_config__.tag)
_LATEST = "latest-offset"
"""Under this option the output need not hold what was there before the job."""
NO_INPUT = InputLog(keys=(), partitions=())
NOTHING_RECORDED = Recording(nodes=(), ordered=False, output=Output())


class Run(msgspec.Struct, frozen=True):
    """An executed and judged plan.

    Attributes:
        tier: where it ran.
        history: what happened, with the plan and how it ended.
        verdicts: of every oracle that has its evidence and applies.
        outcome: the worst verdict, or inconclusive for `reason`.
        reason: the cause of an inconclusive run.
        precisions: by fault that acted at a gate, how exactly the gate held.
        dispatched, trace_hash: of the simulator.
        died_at_once: the system under test ended by itself so often before it did anything; None: it did not.
        on_its_word: clauses, as `ORACLE/clause`, that rest on what the system under test records of itself.
        unclaimed: clauses, as `ORACLE/clause`, that are about nothing that the system claims under the plan.
        lacks: of a rehearsal: what is missing, so that no fault need be tried.
        absent: what the plan strikes that the system has not, as the run showed; empty: it has all.
    """

    tier: Tier
    history: History
    verdicts: tuple[Verdict, ...]
    outcome: Outcome
    reason: str
    precisions: dict[int, str] = {}
    dispatched: int = 0
    trace_hash: str = ""
    died_at_once: OwnDeaths | None = None
    on_its_word: frozenset[str] = frozenset()
    unclaimed: frozenset[str] = frozenset()
    lacks: str = ""
    absent: str = ""


class _Setting(msgspec.Struct, frozen=True):
    """Everything that an execution needs."""

    plan: Plan
    system: System
    faults: Mapping[str, AnyFault]
    inputs: InputLog
    tier: Tier
    folder: Path | None
    interrupted: Callable[[], str]
    audit: bool


class _Execution(msgspec.Struct, frozen=True):
    """A run that was not judged yet. `timed_out`: the expected end was still possible when its bound passed."""

    end: RunEnd
    recording: Recording = NOTHING_RECORDED
    acted: tuple[bool, ...] = ()
    troubles: tuple[str, ...] = ()
    precisions: dict[int, str] = {}
    timed_out: bool = False
    died_at_once: OwnDeaths | None = None
    absent: str = ""


def never_interrupted() -> str:
    """Nothing asks the run to end early."""
    return ""


def run_plan(
    plan: Plan,
    system: System,
    tools: Toolbox,
    tier: Tier = Tier.SIM,
    folder: Path | None = None,
    interrupted: Callable[[], str] = never_interrupted,
    *,
    rehearsal: bool = False,
    audit: bool = True,
) -> Run:
    """Execute and judge a plan that was validated, or drawn, for this system.

    Args:
        plan: what to do.
        system: the system under test.
        tools: registered faults, workloads and oracles.
        tier: one of the system's.
        folder: of the run, existing; None on the simulator, where nothing is written.
        interrupted: returns the reason to end early, or an empty text; called between any two steps.
        rehearsal: the plan has no faults, and is to show whether others need be run: see phases.rehearsed.
        audit: read back what was persisted, once the run is over (`Deployment.stop`).

    Raises:
        ForeignError: the system, or what acts on it, tried to end this process.
    """
    ours = os.getpid()
    with foreign(f"system {plan.system!r}"), rare_collections() if tier is Tier.SIM else nullcontext():
        run = _run_plan(plan, system, tools, tier, folder, interrupted, rehearsal=rehearsal, audit=audit)
    if os.getpid() != ours:  # A part has forked, and its child came here.
        os._exit(0)
    return run


def _run_plan(
    plan: Plan,
    system: System,
    tools: Toolbox,
    tier: Tier,
    folder: Path | None,
    interrupted: Callable[[], str],
    *,
    rehearsal: bool,
    audit: bool,
) -> Run:
    inputs, claims = NO_INPUT, Claims()
    if plan.expected_end is ExpectedEnd.REFUSED:
        execution = _submit(plan, system)
    elif plan.expected_end is ExpectedEnd.ACCEPTED:
        execution = _configure(plan, system)
        claims = claims_of(system, plan) if execution.end.reached else claims
    else:
        inputs = _inputs(plan, tools)
        try:
            claims = claims_of(system, plan)
            setting = _Setting(plan, system, tools.faults, inputs, tier, folder, interrupted, audit)
            execution = _execute(setting)
        except ValueError:
            # A system that refuses what it should run did not reach its end; anything else is an error of the adapter.
            execution = _submit(plan, system)
            if not execution.end.reached:
                raise
            execution = _Execution(_refused(execution.end.reason))
        if execution.recording.job_error:
            execution = _with_its_error(execution, plan)
        if execution.timed_out and plan.faults and tier is not Tier.SIM:
            execution = _compared_with_control(execution, setting)
            if reason := interrupted():  # The control ended early, so it shows nothing.
                execution = msgspec.structs.replace(
                    execution, end=msgspec.structs.replace(execution.end, problem=reason)
                )
    evidence = evidence_of(system)
    if rehearsal and not _failed_by_itself(execution):
        shows_rows = evidence.get(_VISIBLE, Evidence.NONE) is not Evidence.NONE
        end, recording = rehearsed(execution.end, execution.recording, inputs, shows_rows=shows_rows)
        execution = msgspec.structs.replace(execution, end=end, recording=recording)
    history = _history(plan, claims, inputs, execution, tools.faults, real_time=tier is not Tier.SIM)
    verdicts = judge(history, tools.oracles, evidence)
    outcome, reason = outcome_of(history, verdicts)
    return Run(
        tier=tier,
        history=history,
        verdicts=verdicts,
        outcome=outcome,
        reason=reason,
        precisions=execution.precisions,
        dispatched=execution.recording.dispatched,
        trace_hash=execution.recording.trace_hash,
        died_at_once=execution.died_at_once,
        on_its_word=on_its_word(tools.oracles, evidence),
        unclaimed=unclaimed(tools.oracles, claims),
        lacks=history.end.problem if rehearsal and not interrupted() else "",
        absent=execution.absent,
    )


def _inputs(plan: Plan, tools: Toolbox) -> InputLog:
    try:
        inputs = tools.workloads[plan.workload.name].generate(plan.workload.parameters, plan.run_seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    inputs = with_markers(inputs, plan.job)
    if texts(plan).get(profile.STARTUP) != _LATEST:
        return inputs
    return msgspec.structs.replace(inputs, first_offsets=tuple(each.preloaded for each in inputs.partitions))


def _submit(plan: Plan, system: System) -> _Execution:
    """Ask for a plan that must be refused; nothing is deployed whatever the answer."""
    try:
        refusal = _refusal(plan, system)
    except OSError as error:
        return _Execution(RunEnd(reached=False, problem=f"whether the options are refused is not known: {error}"))
    return _Execution(RunEnd(reached=bool(refusal), reason=refusal or "the configuration was accepted"))


def _configure(plan: Plan, system: System) -> _Execution:
    """Ask for what would be in force; nothing is deployed."""
    assert isinstance(system, ConfigurationAware), f"{system.name} declares what it does not have"
    try:
        configured = JobConfigured(node=SUBMIT, sequence=0, configuration=configuration_of(system, plan))
    except ValueError as error:
        return _Execution(_refused(str(error)))
    return _Execution(RunEnd(reached=True), msgspec.structs.replace(NOTHING_RECORDED, nodes=([configured],)))


def _refused(reason: str) -> RunEnd:
    """The end of a run whose options were not taken though they should have been."""
    return RunEnd(reached=False, reason=f"refused at submit: {reason}")


def _refusal(plan: Plan, system: System) -> str:
    """Why a system does not take the options of a plan; empty if it does."""
    try:
        account_of(system, plan)
    except ValueError as error:
        return str(error)
    return ""


def _execute(setting: _Setting) -> _Execution:
    plan, system, folder = setting.plan, setting.system, setting.folder
    write_undo = run_folder.undo_writer(folder) if folder else _not_written
    try:
        deployment = deployed(
            system, plan, setting.inputs, setting.tier, run_folder.new_work_folder(folder) if folder else None
        )
    except OSError as error:
        return _Execution(RunEnd(reached=False, problem=f"the system under test cannot be started: {error}"))
    conductor = Conductor(plan.faults, setting.faults, deployment, write_undo)
    evidence = evidence_of(system)
    # What a program calls a checkpoint comes and goes as it likes: it has taken all input that it has acknowledged, to
    # the harness itself.
    acknowledges = evidence.get(_ACKNOWLEDGED) is Evidence.BOUNDARY
    tells_checkpoints = evidence.get(_COMPLETED, Evidence.NONE) is not Evidence.NONE and not acknowledges
    simulated = setting.tier is Tier.SIM  # Where it costs nothing to wait.
    drained = None if tells_checkpoints else deployment.drained
    micro_batches = Capability.MICRO_BATCHES in system.capabilities.get(setting.tier, ())
    progress = Progress(
        plan,
        setting.inputs,
        drained,
        waits_out=simulated,
        micro_batches=micro_batches,
        # Sources of such a system note what they like: a pipeline brings its own.
        settled=deployment.drained if micro_batches else None,
    )
    slice_ms = NEVER if simulated and tells_checkpoints else REAL_SLICE_MS
    stalls = NoStalls() if setting.tier is Tier.SIM else StallTrace(deployment)
    phases = Phases(lengthened(plan), deployment, conductor, progress, setting.interrupted, slice_ms, stalls)
    died_at_once = None
    try:
        end = phases.run()
        recording = deployment.stop(audit=setting.audit and not end.problem)
    except OSError as error:
        end, recording = RunEnd(reached=False, problem=str(error)), NOTHING_RECORDED
        died_at_once = error.deaths if isinstance(error, DiedAtOnce) else None
    finally:
        try:
            with suppress(OSError):
                conductor.heal()
        finally:
            stalls.close()
            deployment.close()
    return _Execution(
        end,
        recording,
        conductor.acted(),
        conductor.troubles(),
        conductor.precisions,
        phases.timed_out,
        died_at_once,
        conductor.absent,
    )


def _compared_with_control(execution: _Execution, setting: _Setting) -> _Execution:
    """On real tiers an exceeded bound counts only if the same machine meets it without faults."""
    folder = setting.folder / run_folder.CONTROL if setting.folder else None
    found = setting.interrupted()  # A control that ended early would show nothing.
    if not found:
        try:
            control = _execute(msgspec.structs.replace(setting, plan=without_faults(setting.plan), folder=folder))
        except ValueError as error:
            found = f"the fault-free control was refused: {error}"
        else:
            if control.end.reached:
                return execution
            found = f"the fault-free control missed the bound too: {control.end.reason}"
    problem = execution.end.problem or found
    return msgspec.structs.replace(execution, end=msgspec.structs.replace(execution.end, problem=problem))


def _with_its_error(execution: _Execution, plan: Plan) -> _Execution:
    """The end of a job whose first error is known: where nothing was broken, that tells its failure."""
    end, error = execution.end, execution.recording.job_error
    alone = _failed_by_itself(execution) and not plan.faults
    return replace(
        execution, end=replace(end, job_error=error, reason=f"the job failed: {error}" if alone else end.reason)
    )


def _failed_by_itself(execution: _Execution) -> bool:
    """Whether the job has ended before its time by an error of its own. A run that waited for its end in vain, or that
    could not go on, shows less."""
    end = execution.end
    return bool(execution.recording.job_error) and not (end.reached or end.problem or execution.timed_out)


def without_faults(plan: Plan) -> Plan:
    """A plan without its faults; it must run, whatever these were to lead to."""
    end = ExpectedEnd.FINISHED if plan.job.bounded else ExpectedEnd.RUNNING
    return msgspec.structs.replace(plan, faults=(), expected_end=end)


def _history(
    plan: Plan,
    claims: Claims,
    inputs: InputLog,
    execution: _Execution,
    faults: Mapping[str, AnyFault],
    *,
    real_time: bool,
) -> History:
    end, recording = execution.end, execution.recording
    problem = end.problem or recording.problem
    try:
        events: Sequence[Event] = recording.nodes[0] if recording.ordered else causal_order(recording.nodes)
    except ValueError as error:
        problem, events = problem or str(error), ()
    history = History(plan, claims, inputs, recording.output, events, end)
    acted = execution.acted or (False,) * len(plan.faults)
    landed = tuple(
        took_effect(history, index, faults[spec.kind]) if acts else None
        for index, (spec, acts) in enumerate(zip(plan.faults, acted, strict=True))
    )
    history.end = msgspec.structs.replace(
        end,
        problem=problem,
        wrote_nothing=recording.wrote_nothing,
        unread=recording.unread,
        blind=bool(recording.problem),
        real_time=real_time,
        faults_acted=acted,
        faults_landed=landed,
        fault_troubles=execution.troubles or ("",) * len(landed),
    )
    if recording.expected is not None:
        history.inputs = recording.expected
        for event in history.of(CheckpointCompleted):
            event.positions = ()  # They count records of the input.
    return history


def _not_written(undo: UndoRecord) -> None:
    """On the simulator nothing outlives the process, so nothing has to be undone from another one."""
