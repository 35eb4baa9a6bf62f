"""Plans that are run one after the other in one process: what each leads to, and what it costs.

    python block.py [--calls] < plans > ran

Each line that is read is a plan as JSON, each line that is written a `Ran`. The module stands on the harness alone, so
that a commit from before it was there can be run by it, too (see suites/bench/against.py).
"""

from __future__ import annotations

import cProfile
import gc
import hashlib
import sys
import time
from functools import cache

import msgspec

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model import profile
from holdfast.harness.model.events import Event, JobConfigured
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import without_clauses
from holdfast.harness.spi.system import System

DIGITS = 16
"""Of each digest that is kept: enough to tell plans apart, and half as many as there are."""
_encoder = msgspec.json.Encoder(order="deterministic")


class Scope(msgspec.Struct, frozen=True):
    """What digests tell of: whatever came later makes no difference by being there.

    Attributes:
        clauses: by oracle, those whose decisions are counted.
        options: keys.
    """

    clauses: dict[str, frozenset[str]]
    options: frozenset[str]


class Behaviour(msgspec.Struct, frozen=True):
    """What a plan led to.

    Attributes:
        outcome: of the run.
        reason: what made it inconclusive, in words.
        findings: each clause that refuted something, as `ORACLE/clause`.
        verdicts: digest of all verdicts, with how often each clause had something to decide; of clauses of a scope.
        output: digest of the committed output.
        events: digest of what each node did, in the order of each node and without times; of options of a scope.
        trace: beginning of the trace hash.
    """

    outcome: str
    reason: str
    findings: tuple[str, ...]
    verdicts: str
    output: str
    events: str
    trace: str


class Ran(msgspec.Struct, frozen=True):
    """A plan that was run.

    Attributes:
        behaviour: what it led to; None: it could not be run.
        problem: why not.
        processor_s: processor time of the run with its judging.
        events: that were recorded.
        calls: of Python, where they were to be counted; then the time means nothing.
    """

    behaviour: Behaviour | None
    problem: str = ""
    processor_s: float = 0.0
    events: int = 0
    calls: int = 0


def run_judged(plan: Plan) -> Run:
    """Run a plan on the simulator.

    Raises:
        RuntimeError: the run has left an exception that is being handled still, as only compiled code can: these pile
            up in a campaign.
    """
    run = run_plan(plan, _system(plan.system), registry.toolbox())
    if (left := sys.exc_info()[1]) is not None:
        raise RuntimeError(f"an exception is being handled behind the run of seed {plan.draw_seed}: {left!r}")
    return run


def whole_scope() -> Scope:
    """All that there is in this code."""
    clauses = {oracle.name: frozenset(oracle.clauses) for oracle in registry.toolbox().oracles}
    return Scope(clauses, frozenset(profile.OPTIONS))


def behaviour(run: Run, scope: Scope) -> Behaviour:
    """What a run led to.

    Args:
        run: that was judged.
        scope: of its digests. What a clause beyond it refutes is among the findings all the same.
    """
    verdicts = [
        without_clauses(each, each.checked.keys() - scope.clauses[each.oracle])
        for each in run.verdicts
        if each.oracle in scope.clauses
    ]
    found = {f"{verdict.oracle}/{anomaly.clause}" for verdict in run.verdicts for anomaly in verdict.anomalies}
    return Behaviour(
        outcome=run.outcome.value,
        reason=run.reason,
        findings=tuple(sorted(found)),
        verdicts=_digest(verdicts),
        output=_digest(run.history.output),
        events=_digest(_by_node(run, scope)),
        trace=run.trace_hash[:DIGITS],
    )


def run_line(line: bytes, *, counts_calls: bool) -> Ran:
    """Run the plan of a line."""
    profiler = cProfile.Profile(builtins=False) if counts_calls else None
    try:
        plan = msgspec.json.decode(line, type=Plan)
        _system(plan.system)
        started = time.process_time()
        run = profiler.runcall(run_judged, plan) if profiler else run_judged(plan)
        spent = time.process_time() - started
    except Exception as error:
        return Ran(None, problem=f"{type(error).__name__}: {error}")
    calls = sum(entry.callcount for entry in profiler.getstats()) if profiler else 0
    return Ran(behaviour(run, whole_scope()), processor_s=spent, events=len(run.history.events), calls=calls)


@cache
def _system(name: str) -> System:
    return registry.system(name)


def _by_node(run: Run, scope: Scope) -> dict[str, list[Event]]:
    nodes: dict[str, list[Event]] = {}
    for event in run.history.events:
        event = msgspec.structs.replace(event, time_ns=0)
        if isinstance(event, JobConfigured):
            settings = tuple(each for each in event.configuration.settings if each.key in scope.options)
            event.configuration = msgspec.structs.replace(event.configuration, settings=settings)
        nodes.setdefault(event.node, []).append(event)
    return nodes


def _digest(content: object) -> str:
    return hashlib.blake2b(_encoder.encode(content), digest_size=DIGITS).hexdigest()[:DIGITS]


if __name__ == "__main__":
    registry.toolbox()
    gc.collect()
    for each in sys.stdin.buffer:
        sys.stdout.buffer.write(_encoder.encode(run_line(each, counts_calls="--calls" in sys.argv)) + b"\n")
        sys.stdout.buffer.flush()
