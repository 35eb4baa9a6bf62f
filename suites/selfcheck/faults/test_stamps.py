"""An effect is proved by two things: its mechanism recorded it as this injection's, and the history shows it.

Each fault of the simulator acts in a plan where it hits. Then its mechanism acts and records nothing, and
then it records everything that it did and does nothing: both prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.drivers.outbox import Outbox
from holdfast.fixtures.reference.drivers.simulated.world import World
from holdfast.harness.engine.executor.judge import took_effect
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.consequence import FaultFate
from holdfast.harness.model.events import Event, FaultInjected, FaultStruck, NodeDied
from holdfast.harness.model.plan import FaultSpec, Plan, Schedule
from holdfast.harness.model.target import Target
from holdfast.harness.spi.fault import AnyFault
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.directed_plans import directed_plans
from holdfast.suites.selfcheck.faults.scene import BY_KIND, WORKER, at, history_of

ABLE = registry.system("reference").capabilities[Tier.SIM]
DURATION_MS = 200
ONLY_READ = frozenset({"jump-clock", "skew-clock", "stale-listing"})
"""Who reads the wrong clock, or the older listing, records that; nothing else in a history shows what was read."""
KINDS = sorted(
    kind
    for kind, fault in BY_KIND.items()
    if {fault.needs(FaultSpec(kind, Target(role))) for role in fault.roles} & ABLE
)
"""What the simulator offers."""


class Idle:
    """A fault whose mechanism records what it was seen to do, and does nothing."""

    def __init__(self, fault: AnyFault, number: int, seen: tuple[str, ...], worlds: list[World]) -> None:
        self._fault = fault
        self._number = number
        self._seen = seen
        self._worlds = worlds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fault, name)

    def inject(self, control: Any, spec: FaultSpec) -> None:
        world = self._worlds[-1]
        if world.acting.fault != self._number:
            self._fault.inject(control, spec)
            return
        for what in self._seen:
            world.struck(self._number, what)

    def undo(self, control: Any, spec: FaultSpec) -> None:
        if self._worlds[-1].acting.fault != self._number:
            self._fault.undo(control, spec)

    def healed(self, control: Any, spec: FaultSpec) -> bool:
        return self._worlds[-1].acting.fault == self._number or self._fault.healed(control, spec)


def run(chosen: Plan, **faults: Any) -> Run:
    """With these in place of the registered ones."""
    tools = registry.toolbox()
    return run_plan(chosen, registry.system("reference"), replace(tools, faults={**tools.faults, **faults}))


def plans_with(kind: str) -> Iterator[Plan]:
    """Those that were made for something, the one with the fewest faults first; then plans with such a fault alone."""
    directed = (each for each in directed_plans().values() if kind in {spec.kind for spec in each.faults})
    yield from sorted(directed, key=lambda each: len(each.faults))
    fault, schedule = BY_KIND[kind], Schedule(after_checkpoint=1)
    for role in sorted(fault.roles):
        yield plan(FaultSpec(kind, Target(role), schedule, DURATION_MS if fault.lasting else 0))


@cache
def hit(kind: str) -> tuple[Run, int]:
    """A run in which a fault of a kind hits, and its number."""
    for chosen in plans_with(kind):
        ended = run(chosen)
        for number, spec in enumerate(chosen.faults):
            if spec.kind == kind and ended.history.end.fault_fates[number] is FaultFate.LANDED:
                return ended, number
    raise AssertionError(f"no {kind} hits")


def struck(ended: Run, number: int) -> tuple[str, ...]:
    return tuple(event.what for event in ended.history.of(FaultStruck) if event.fault == number)


@pytest.mark.parametrize("kind", KINDS)
def test_who_acts_and_records_it_proves_that(kind: str) -> None:
    ended, number = hit(kind)
    assert struck(ended, number)


@pytest.mark.parametrize("kind", KINDS)
def test_who_acts_and_does_not_record_it_proves_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, number = hit(kind)
    monkeypatch.setattr(World, "struck", lambda world, fault, what: None)
    monkeypatch.setattr(Outbox, "struck", lambda outbox, fault, what: None)
    ended = run(before.history.plan)
    assert ended.trace_hash == before.trace_hash, "recording changes nothing"
    assert ended.history.end.faults_acted[number]
    assert ended.history.end.fault_fates[number] is FaultFate.WITHOUT_EFFECT
    assert not ended.history.of(FaultStruck)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - ONLY_READ))
def test_who_records_it_and_does_not_act_proves_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, number = hit(kind)
    worlds: list[World] = []
    begin = World.__init__

    def noted(world: World, *arguments: Any) -> None:
        begin(world, *arguments)
        worlds.append(world)

    monkeypatch.setattr(World, "__init__", noted)
    idle = Idle(BY_KIND[kind], number, struck(before, number), worlds)
    ended = run(before.history.plan, **{kind: idle})
    assert not ended.history.end.faults_acted[number] or struck(ended, number)
    assert ended.history.end.fault_fates[number] is not FaultFate.LANDED


@pytest.mark.parametrize("kind", sorted(BY_KIND))
def test_every_fault_needs_the_record(kind: str) -> None:
    """Whatever its own proof says: here it says yes."""

    class Convinced:
        def __getattr__(self, name: str) -> Any:
            return getattr(BY_KIND[kind], name)

        def landed(self, history: object, fault: int) -> bool:
            return True

    spec = FaultSpec(kind, Target(min(BY_KIND[kind].roles)))
    convinced: Any = Convinced()

    def proof(*events: Event, stamped: bool = True) -> bool | None:
        injected = FaultInjected(fault=0, fault_kind=kind, target=str(spec.target), stamped=stamped)
        return took_effect(history_of(spec, [at(100, "harness", injected), *events]), 0, convinced)

    assert proof() is False
    assert proof(at(110, "harness", FaultStruck(fault=1, what="of another"))) is False
    assert proof(at(110, "harness", FaultStruck(fault=0, what="its own"))) is True
    assert proof(stamped=False) is True, "a foreign system carries no identity"


def test_a_death_that_another_kill_is_recorded_for_proves_that_one_alone() -> None:
    kills = (FaultSpec("kill", WORKER), FaultSpec("kill", WORKER))
    recorded: list[Event] = [
        at(100 + number, "harness", FaultInjected(fault=number, fault_kind="kill", target="worker[1]", stamped=True))
        for number in range(2)
    ]
    recorded += [
        at(110, "harness", FaultStruck(fault=1, what="worker-1.0")),
        at(110, "harness", NodeDied(dead_node="worker-1.0", cause="kill")),
    ]
    history = history_of(kills[0], recorded, kills)
    assert [took_effect(history, number, BY_KIND["kill"]) for number in range(2)] == [False, True]
