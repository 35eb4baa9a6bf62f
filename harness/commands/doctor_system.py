"""`holdfast doctor SYSTEM`: whether a system under test can be judged at all, in some seconds and a line for each step.

The system must load, declare what it claims and offers where it can, run without a fault, acknowledge something or
complete a checkpoint, and go on behind one kill.
What is found here is no certificate: two short runs decide no rule. So nothing that they persisted is read back, which
takes longer than the runs on some systems.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from time import monotonic  # noqa: TID251 - what a user sees; no run depends on it

import typer
from msgspec.structs import replace

from holdfast.harness.commands.console import EXIT_CODES
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.plans.validate import fit_to_system
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import listening
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.lease import Lease
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import CheckpointCompleted, InputAcknowledged
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, Topology, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import Described

_PLAN = Plan(
    job=KEYED_SUM,
    topology=Topology(parallelism=1),
    options={profile.INTERVAL: "200 ms"},
    workload=WorkloadSpec("synthetic", {"records": 1_000, "keys": 8, "partitions": 2, "records_per_second": 500}),
    bounds=Bounds(safety_ms=5_000, liveness_ms=10_000, settle_ms=500),
)
_KILL = FaultSpec("kill", Target(Role.WORKER, 0), Schedule(after_acknowledged=1))
_SETTLE_MS = 500
_LAST_LINES = 3
_FRAME = re.compile(r"\s+(at \S|\.\.\. \d+ more)")
"""A line of Java's stack trace, which hides what went wrong behind where."""
_NAMES = 11
"""Columns of the names."""


def examine_system(name: str) -> int:
    """Say step by step how far a system comes; the exit code is that of the worse of its two runs.

    Args:
        name: registered, or `module:name`; with a variant behind a plus sign.

    Raises:
        UsageError: it cannot be loaded, or is no system.
    """
    system = registry.system(name)
    tier = next((each for each in Tier if each in system.capabilities and not lacking(each)), None)
    if tier is None:
        raise UsageError(f"system {name!r} runs on {', '.join(system.capabilities)}, and this machine on none of them.")
    _say("loads", f"{type(system).__name__}, on tier {tier}")
    for name, words in system.described() if isinstance(system, Described) else ():
        _say(name, words)
    plan = shortened_plan(fit_to_system(_PLAN, system, tier))
    with listening() as interruption, Lease("doctor") as place:

        def run(what: str, planned: Plan) -> Run:
            folder = place / what
            folder.mkdir()
            tools, where = registry.toolbox(), None if tier is Tier.SIM else folder
            with interruption.breakable():
                fault_free = not planned.faults
                return run_plan(
                    planned, system, tools, tier, where, interruption.reason, rehearsal=fault_free, audit=False
                )

        found = _step("runs", plan, run, place)
        if found.outcome is not Outcome.PASS:
            return EXIT_CODES[found.outcome]
        first = _first_progress_ms(found)
        if first is None:
            _say("progress", "no checkpoint completed, and no input was acknowledged: there is nothing to recover from")
            return EXIT_CODES[Outcome.INCONCLUSIVE]
        _say("progress", first)
        return EXIT_CODES[_step("survives", replace(plan, faults=(_KILL,)), run, place).outcome]


def shortened_plan(plan: Plan) -> Plan:
    """A plan shortened to the least time: input in two portions, checkpoints as often as the committed reader can
    follow, and a settle window that is no longer than the options need. Realistic times are for a certificate."""
    parameters = {**plan.workload.parameters, "records_per_second": 0}
    options = {**plan.options, profile.INTERVAL: "500 ms"} if profile.INTERVAL in plan.options else plan.options
    workload = replace(plan.workload, parameters=parameters)
    return replace(plan, workload=workload, options=options, bounds=replace(plan.bounds, settle_ms=_SETTLE_MS))


def _step(name: str, plan: Plan, run: Callable[[str, Plan], Run], place: Path) -> Run:
    """One run in one line, with its seconds, and the last lines of a log where something is wrong."""
    begun_s = monotonic()
    what = "with a kill of its worker behind the first progress" if plan.faults else "without a fault"
    found = run(name, plan)
    clauses = sorted({f"{each.oracle}/{wrong.clause}" for each in found.verdicts for wrong in each.anomalies})
    why = ", ".join(clauses) if found.outcome is Outcome.FAIL else found.reason
    _say(name, f"{found.outcome} {what}{f': {why}' if why else ''} ({monotonic() - begun_s:.0f} s)")
    if found.outcome is not Outcome.PASS:
        for line in last_lines(place / name):
            _say("log", line)
    return found


def _first_progress_ms(run: Run) -> str | None:
    """When something was persisted for the first time, in words."""
    kinds = {CheckpointCompleted: "checkpoint", InputAcknowledged: "acknowledgement"}
    found = [(each.time_ns, kinds[type(each)]) for each in run.history.events if type(each) in kinds]
    return f"first {min(found)[1]} after {min(found)[0] // 1_000_000} ms" if found else None


def last_lines(folder: Path) -> list[str]:
    """The last lines of the newest log in a folder, or beside a folder of input and output."""
    named = {*folder.rglob("*.log"), *folder.rglob("logs/**/*")}
    logs = [file for file in named if file.is_file() and file.stat().st_size]
    if not logs:
        return []
    newest = max(logs, key=lambda file: file.stat().st_mtime_ns)
    lines = newest.read_text(errors="replace").splitlines()
    return [line for line in lines if line.strip() and not _FRAME.match(line)][-_LAST_LINES:]


def _say(name: str, words: str) -> None:
    typer.echo(f"{name:<{_NAMES}}{words}")
