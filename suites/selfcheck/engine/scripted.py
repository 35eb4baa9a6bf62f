"""A system that is played from a script, with the smallest faults, oracles and workload that go with it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model.capability import Capability, Claims, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    FaultInjected,
    JobStatus,
    JobSwitched,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.journal import CaseResult
from holdfast.harness.model.plan import Bounds, FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output, Partition
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.controls.job import GateControl
from holdfast.harness.spi.controls.network import BOTH, Detail, LinkControl
from holdfast.harness.spi.controls.process import ProcessControl, TargetAbsent
from holdfast.harness.spi.system import WATCHED, Deployment, GateReached, OptionAccount, OptionUse, Recording

LENGTHS = (3, 2)
WORKER = Target(Role.WORKER, 0)
CHANNEL = Target(Role.CHANNEL, 1)


class Effect(msgspec.Struct, frozen=True):
    """An effect that a gate can hold; `then` happens once it is let go."""

    name: str
    target: Target = WORKER
    then: tuple[Event, ...] = ()


Item = tuple[float, Event | Effect]


class Checkpoints(msgspec.Struct, frozen=True):
    """Checkpoint after checkpoint, each of which covers all input; can be played again."""

    every_ms: float = 100
    lasting_ms: float = 40
    until_ms: float = float("inf")

    def __iter__(self) -> Iterator[Item]:
        for number in count(1):
            start_ms = number * self.every_ms
            if start_ms > self.until_ms:
                return
            yield start_ms, CheckpointTriggered(checkpoint=number, participants=("source[0]",))
            yield start_ms + self.lasting_ms, CheckpointCompleted(checkpoint=number, positions=LENGTHS)


class ScriptedControl:
    """Processes, links and gates: it writes down what was asked for; a killed target lives again after `restart_ms`."""

    def __init__(
        self,
        clock: Callable[[], float],
        restart_ms: float,
        refuses: frozenset[str],
        absent: frozenset[str],
    ) -> None:
        self.calls: list[str] = []
        self.armed: dict[int, Gate] = {}
        self.held: set[int] = set()
        self._clock = clock
        self._restart_ms = restart_ms
        self._refuses = refuses
        self._absent = absent
        self._alive_at: dict[Target, float] = {}

    def _note(self, verb: str, *details: object) -> None:
        self.calls.append(" ".join(map(str, (f"{self._clock():.0f}", verb, *details))))
        if verb in self._refuses:
            raise OSError(f"no {verb} today")
        if verb in self._absent:
            raise TargetAbsent(f"nothing to {verb} at all")

    def kill(self, target: Target, part: str = "") -> None:
        self._note("kill", target)
        self._alive_at[target] = self._clock() + self._restart_ms

    def pause(self, target: Target, part: str = "") -> None:
        self._note("pause", target)

    def resume(self, target: Target) -> None:
        self._note("resume", target)

    def cut(self, link: Target, direction: str = BOTH) -> None:
        self._note("cut", link)

    def slow(self, link: Target, delay_ms: int) -> None:
        self._note("slow", link, delay_ms)

    def restore(self, link: Target, kind: str, detail: Detail = "") -> None:
        self._note("restore", link)

    def whole(self, link: Target, kind: str, detail: Detail = "") -> bool:
        return True

    def arm(self, gate: Gate) -> int:
        number = len(self.armed)
        self.armed[number] = gate
        self._note("arm", gate.effect)
        return number

    def release(self, gate: int) -> None:
        self._note("release", gate)
        self.held.discard(gate)

    def disarm(self, gate: int) -> None:
        self._note("disarm", gate)
        self.armed.pop(gate)

    def alive(self, target: Target) -> bool:
        return self._clock() >= self._alive_at.get(target, 0.0)


class ScriptedDeployment:
    """Plays the items of a script at their times, and stands still while a gate holds."""

    def __init__(self, system: ScriptedSystem) -> None:
        self._script = heapq.merge(*system.scripts, key=itemgetter(0))
        self._next: Item | None = next(self._script, None)
        self._now_ms = 0.0
        self._pending: list[Event] = []
        self.scripted = ScriptedControl(lambda: self._now_ms, system.restart_ms, system.refuses, system.absent)
        self.trace: list[Event] = []
        self.closed = False
        self._system = system

    @property
    def controls(self) -> Controls:
        controls = Controls()
        controls.offer(ProcessControl, self.scripted, stamps=False)
        controls.offer(LinkControl, self.scripted, stamps=False)
        controls.offer(GateControl, self.scripted)
        return controls

    @property
    def now_ms(self) -> float:
        return self._now_ms

    def advance(self, until_ms: float) -> Sequence[Event | GateReached]:
        if self._now_ms >= self._system.silent_after_ms:
            return ()
        if self._now_ms >= self._system.dead_after_ms:
            raise OSError("the adapter answered garbage")
        if self._pending and not self.scripted.held:
            return (self._play(self._pending.pop(0)),)
        while self._next is not None and self._next[0] <= until_ms:
            self._now_ms, item = self._next
            self._next = next(self._script, None)
            if isinstance(item, Effect):
                self._pending.extend(item.then)
                return self._at_gate(item) or self.advance(until_ms)
            played = self._play(item)
            if str(item.__struct_config__.tag) in WATCHED:
                return (played,)
        self._now_ms = until_ms
        return ()

    def _at_gate(self, effect: Effect) -> tuple[GateReached, ...]:
        for number, gate in list(self.scripted.armed.items()):
            if (gate.effect, gate.target) == (effect.name, effect.target):
                self.scripted.held.add(number)
                del self.scripted.armed[number]
                return (GateReached(number, "worker-0.0"),)
        return ()

    def record(self, event: Event) -> None:
        self._play(event)

    def _play(self, event: Event) -> Event:
        """The event of the script as it happens now."""
        time_ns = int(self._now_ms * 1_000_000)
        self.trace.append(msgspec.structs.replace(event, node="played.0", sequence=len(self.trace), time_ns=time_ns))
        return self.trace[-1]

    def drained(self) -> bool:
        return self._now_ms >= self._system.drained_at_ms

    def feed_markers(self) -> None:
        """They are there from the start."""

    def stop(self, *, audit: bool) -> Recording:
        self.audited = audit
        return Recording((self.trace,), ordered=True, output=Output(), dispatched=len(self.trace), trace_hash="h")

    def close(self) -> None:
        self.closed = True


class ScriptedSystem:
    """One system under test; every deployment plays the same script from its start.

    Args:
        scripts: items with ascending times; several are merged.
        restart_ms: how long a killed target stays dead.
        refuses: verbs that raise OSError.
        absent: verbs that raise TargetAbsent.
        evidence: False for a system that tells of nothing.
        refused_option: an option whose value is refused at submit.
    """

    name = "scripted"
    subject = "RT"
    capabilities: Mapping[Tier, frozenset[str]] = dict.fromkeys((Tier.SIM, Tier.PROCESS), frozenset(Capability))
    gates = frozenset({"commit", "acknowledge"})
    profile = "flink-2.x"
    supplied_by_author: tuple[str, ...] = ()
    strict = False
    silent_after_ms = float("inf")
    dead_after_ms = float("inf")
    drained_at_ms = 0.0

    def __init__(
        self,
        *scripts: Iterable[Item],
        restart_ms: float = 0.0,
        refuses: frozenset[str] = frozenset(),
        absent: frozenset[str] = frozenset(),
        evidence: bool = True,
        refused_option: str = "",
    ) -> None:
        self._scripts = list(scripts)
        self.restart_ms = restart_ms
        self.refuses = refuses
        self.absent = absent
        self._evidence = evidence
        self._refused_option = refused_option
        self.deployments: list[ScriptedDeployment] = []

    @property
    def scripts(self) -> list[Iterable[Item]]:
        return self._scripts

    def claims(self, plan: Plan) -> Claims:
        return Claims()

    def evidence(self) -> Mapping[str, Evidence]:
        return {"checkpoint_completed": Evidence.NATIVE} if self._evidence else {}

    def account(self, plan: Plan) -> Sequence[OptionAccount]:
        if self._refused_option in plan.options:
            raise ValueError(f"{self._refused_option} = {plan.options[self._refused_option]!r} is too small")
        return [
            OptionAccount(key, OptionUse.UNSUPPORTED if key == "unsupported" else OptionUse.APPLIED)
            for key in plan.options
        ]

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        deployment = ScriptedDeployment(self)
        self.deployments.append(deployment)
        return deployment

    @property
    def controls(self) -> ScriptedControl:
        """Of the last deployment."""
        return self.deployments[-1].scripted


class Breaks(ScriptedSystem):
    """Has a bug."""

    def deploy(self, *arguments: object) -> ScriptedDeployment:
        raise KeyError("boom")


class ScriptedFault:
    """Kills, or cuts and restores; lands when it was recorded."""

    roles = frozenset(Role)
    parameters: Mapping[str, tuple[type, str]] = {"delay_ms": (int, "how slow")}
    colour = "red"
    leaves = "nothing"

    def __init__(self, kind: str, *, lasting: bool, lands: bool | None = True) -> None:
        self.kind = kind
        self.lasting = lasting
        self.control: type[Any] = LinkControl if lasting else ProcessControl
        self._lands = lands

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.CUT_CHANNEL if self.lasting else Capability.KILL_WORKER

    def inject(self, control: Any, spec: FaultSpec) -> None:
        if self.lasting:
            control.cut(spec.target)
        else:
            control.kill(spec.target)

    def undo(self, control: Any, spec: FaultSpec) -> None:
        if self.lasting:
            control.restore(spec.target, self.kind)

    def healed(self, control: Any, spec: FaultSpec) -> bool:
        return self.lasting or bool(control.alive(spec.target))

    def landed(self, history: History, fault: int) -> bool | None:
        return self._lands and any(event.fault == fault for event in history.of(FaultInjected))


class ScriptedOracle:
    """Returns one outcome, or raises it."""

    invariant = "as the test says"
    clauses: Mapping[str, str] = {"clause": "as the test says"}

    def __init__(
        self,
        name: str,
        answer: Outcome | Exception = Outcome.PASS,
        evidence: tuple[type[Event], ...] = (),
        checked: int = 1,
    ) -> None:
        self.name = name
        self.evidence = evidence
        self._checked = {"clause": checked} if checked else {}
        self._answer = answer

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        if isinstance(self._answer, Exception):
            raise self._answer
        anomalies = (Anomaly("clause", "as the test says"),) if self._answer is Outcome.FAIL else ()
        reason = "cannot tell" if self._answer is Outcome.INCONCLUSIVE else ""
        return Verdict(self.name, self._answer, anomalies, self._checked, reason)


class ScriptedWorkload:
    """Two partitions of two records and one, to each of which a marker comes."""

    name = "tiny"
    parameters: Mapping[str, tuple[int | str, str]] = {"records": (5, "how many"), "skew": ("none", "which")}

    def generate(self, parameters: Mapping[str, int | str], seed: int) -> InputLog:
        if int(parameters.get("records", 5)) < 1:
            raise ValueError("workload tiny: records = 0 is too few: give at least 1.")
        column = np.arange(3, dtype=np.int64)
        regular = [length - 1 for length in LENGTHS]
        return InputLog(("a", "b", "c"), tuple(Partition(column[:n], column[:n], preloaded=n) for n in regular))


def toolbox(*oracles: ScriptedOracle, lands: bool | None = True) -> Toolbox:
    """Tools for the scripted system; one oracle that passes if none is given."""
    return Toolbox(
        faults={
            "kill": ScriptedFault("kill", lasting=False, lands=lands),
            "cut": ScriptedFault("cut", lasting=True, lands=lands),
        },
        workloads={"tiny": ScriptedWorkload()},
        oracles=oracles or (ScriptedOracle("PASSES"),),
    )


def plan(*faults: FaultSpec, **changes: object) -> Plan:
    """The plan that the tests start from."""
    base = Plan(
        system="scripted",
        job=KEYED_SUM,
        workload=WorkloadSpec("tiny"),
        faults=faults,
        bounds=Bounds(safety_ms=1_000, liveness_ms=2_000, settle_ms=50),
    )
    return msgspec.structs.replace(base, **changes)


def failed(time_ms: float, reason: str = "policy") -> Item:
    """The job goes to FAILED."""
    return time_ms, JobSwitched(status=JobStatus.FAILED, reason=reason)


def kill(target: Target = WORKER, **schedule: object) -> FaultSpec:
    return FaultSpec("kill", target, Schedule(**schedule))  # type: ignore[arg-type]


def cut(duration_ms: int = 0, **schedule: object) -> FaultSpec:
    return FaultSpec("cut", CHANNEL, Schedule(**schedule), duration_ms)  # type: ignore[arg-type]


def played(system: ScriptedSystem, of_plan: Plan) -> tuple[Run, list[str]]:
    run = run_plan(of_plan, system, toolbox())
    return run, system.controls.calls


class Silent:
    """See request.Observer."""

    def expect(self, cases: object, widths: object) -> None: ...

    def begin(self, case: str, tier: Tier, demanded: int) -> None: ...

    def ran(self, result: object, kept: object) -> None: ...

    def shrinking(self, result: object) -> None: ...

    def shrunk(self, result: object, small: object) -> None: ...

    def end(self, result: CaseResult) -> None: ...

    def expect_checks(self, kit: str, checks: object, alone_s: float) -> None: ...

    def end_check(self, kit: str, check: object) -> None: ...
