"""Who may not be blamed is worked out in one place, and only what happened exempts anybody."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.harness import oracles
from holdfast.harness.model.events import (
    AttemptStarted,
    CoordinatorClaimed,
    FaultHealed,
    FaultInjected,
    NodeDied,
    ObjectDamaged,
    ObjectMended,
    TaskStarted,
)
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.succession import of_the_job
from holdfast.harness.model.target import Role, Target
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.suites.selfcheck.oracles.builder import MS, Line, at, in_real_time, story

COORDINATOR, WORKER = Target(Role.COORDINATOR), Target(Role.WORKER, 1)
PAUSES = (FaultSpec("pause", COORDINATOR), FaultSpec("pause", WORKER))
FORGERIES = (
    FaultSpec("forge", COORDINATOR, parameters={"message": "acknowledge", "subtask": "sum[1]"}),
    FaultSpec("forge", COORDINATOR, parameters={"message": "trigger", "subtask": "source[0]"}),
)


def acting(*faults: int, plan: tuple[FaultSpec, ...]) -> Exemptions:
    """Of a run in which these faults of a plan acted."""
    lines = [FaultInjected(fault=each, fault_kind=plan[each].kind, target=str(plan[each].target)) for each in faults]
    return Exemptions(story(AttemptStarted(attempt=1), *lines, faults=plan))


def test_a_pause_exempts_whom_it_hit_once_it_acted() -> None:
    for faults, paused, stopped in (((), False, False), ((1,), False, True), ((0,), True, True)):
        exempt = acting(*faults, plan=PAUSES)
        assert (exempt.coordinator_paused, exempt.stopped_within_steps) == (paused, stopped)
        assert exempt.punctual is not paused


def test_a_forged_message_exempts_once_it_was_sent() -> None:
    assert acting(plan=FORGERIES).forged_acknowledgements == set()
    assert acting(0, plan=FORGERIES).forged_acknowledgements == {"sum[1]"}
    assert not acting(0, plan=FORGERIES).forged_triggers
    assert acting(1, plan=FORGERIES).forged_triggers


def test_a_gate_may_stop_a_step_as_soon_as_it_is_planned() -> None:
    gate = FaultSpec("kill", WORKER, Schedule(gate=Gate("commit", WORKER)))
    exempt = acting(plan=(gate,))
    assert exempt.stopped_within_steps
    assert not exempt.exact_clocks
    assert acting(plan=(FaultSpec("kill", WORKER),)).exact_clocks


def test_a_real_clock_exempts_who_is_late() -> None:
    exempt = Exemptions(in_real_time(story(AttemptStarted(attempt=1))))
    assert (exempt.real_time, exempt.punctual, exempt.exact_clocks) == (True, False, False)


def test_the_dead_are_those_lives_that_ended() -> None:
    exempt = Exemptions(story(AttemptStarted(attempt=1), NodeDied(dead_node="worker-1", cause="kill"), 5))
    assert exempt.dead == {"worker-1.0"}
    assert exempt.deaths_ns({"worker-1.0", "worker-1.1"}) == [2 * MS]
    assert exempt.deaths_ns({"worker-1.1"}) == []


@pytest.mark.parametrize(
    ("between", "expected"), [([], True), ([NodeDied(dead_node="coordinator", cause="kill")], False)]
)
def test_who_lives_while_a_successor_claims_its_job_is_superseded(between: list[Line], expected: bool) -> None:
    """Also where it does not say so any more."""
    claims = CoordinatorClaimed(epoch=1), at("coordinator.1", CoordinatorClaimed(epoch=2))
    assert Exemptions(of_the_job(story(claims[0], *between, claims[1]))).superseded is expected


def injected(kind: str, target: str) -> FaultInjected:
    return FaultInjected(fault=0, fault_kind=kind, target=target)


def test_a_fault_holds_up_what_sources_send_until_it_is_healed() -> None:
    healed = FaultHealed(fault=0, fault_kind="slow", target="channel[0]")
    assert Exemptions(story(injected("slow", "channel[0]"), 10, healed)).held_up_ns() == [(1 * MS, 12 * MS)]
    assert Exemptions(story(injected("slow", "coordinator[0]"))).held_up_ns() == []
    assert Exemptions(story(injected("kill", "worker[0]"))).held_up_ns() == []


def test_an_object_is_spoilt_until_it_is_put_back() -> None:
    events = [
        ObjectDamaged(path="a", checkpoint=1, published=(1,), length=9, left=0), TaskStarted(subtask="sum[0]"),
        ObjectMended(path="a", length=9), TaskStarted(subtask="sum[1]"),
    ]  # fmt: skip
    history = story(*events)
    exempt = Exemptions(history)
    assert [exempt.hold(event, "a") for event in history.of(TaskStarted)] == [True, False]
    assert not exempt.hold(history.of(TaskStarted)[0], "b")
    assert exempt.ever_held("a")
    assert not exempt.hold_at_end("a")


# --- in one place ---

HOME = Path(oracles.__file__).parent
THE_PLACE = "exemptions.py"


def _gathers_the_dead(node: ast.AST) -> bool:
    """`{death.dead_node for death in history.of(NodeDied)}`, and the like."""
    return isinstance(node, ast.SetComp | ast.ListComp | ast.GeneratorExp | ast.DictComp) and any(
        "NodeDied" in ast.unparse(each.iter) for each in node.generators
    )


def _compares_with(*kinds: str) -> Callable[[ast.AST], bool]:
    def compares(node: ast.AST) -> bool:
        return isinstance(node, ast.Compare) and any(
            isinstance(each, ast.Constant) and each.value in kinds for each in (node.left, *node.comparators)
        )

    return compares


def _names(*words: str) -> Callable[[ast.AST], bool]:
    def names(node: ast.AST) -> bool:
        named = getattr(node, "attr", getattr(node, "id", ""))
        return isinstance(node, ast.Attribute | ast.Name) and named in words

    return names


WORKED_OUT: dict[str, Callable[[ast.AST], bool]] = {
    "dead": _gathers_the_dead,
    "paused": _compares_with("pause"),
    "forged": _compares_with("forge"),
    "superseded": _names("CoordinatorSuperseded"),
    "on a real clock": lambda node: isinstance(node, ast.Attribute) and ast.unparse(node).endswith("end.real_time"),
    "stopped at a gate": lambda node: isinstance(node, ast.Attribute) and ast.unparse(node).endswith("schedule.gate"),
    "waited": lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == "Stalls",
    "spoilt": _names("ObjectMended"),
}
"""How each exemption is worked out, where it is."""
OF_ITS_OWN = {"superseded": {"coordinator"}}
"""What an area looks at because it is what it judges."""


def areas_that_work_out(sources: dict[str, str], found: Callable[[ast.AST], bool]) -> set[str]:
    """The areas, by the source of each file, in which an exemption is worked out."""
    return {
        name.partition("/")[0]
        for name, source in sources.items()
        if not name.endswith(THE_PLACE) and any(map(found, ast.walk(ast.parse(source))))
    }


@pytest.mark.parametrize("exemption", WORKED_OUT)
def test_an_exemption_is_worked_out_in_one_place(exemption: str) -> None:
    sources = {str(each.relative_to(HOME)): each.read_text() for each in HOME.glob("*/*.py")}
    assert areas_that_work_out(sources, WORKED_OUT[exemption]) == OF_ITS_OWN.get(exemption, set())


@pytest.mark.parametrize(
    ("exemption", "worked_out", "asked"),
    [
        ("dead", "dead = {each.dead_node for each in history.of(NodeDied)}", "late = event.node in exempt.dead"),
        ("paused", "any(fault.kind == 'pause' for fault in faults)", "exempt.coordinator_paused"),
        ("forged", "fault.kind == 'forge'", "exempt.forged_triggers"),
        ("superseded", "history.of(CoordinatorSuperseded)", "exempt.superseded"),
        ("on a real clock", "if history.end.real_time: pass", "if exempt.real_time: pass"),
        ("stopped at a gate", "any(each.schedule.gate for each in faults)", "exempt.exact_clocks"),
        ("waited", "Stalls(history).within_ns(0, 1)", "exempt.stalls.within_ns(0, 1)"),
        ("spoilt", "history.of(ObjectMended)", "exempt.hold(event, path)"),
    ],
)
def test_who_works_one_out_is_found(exemption: str, worked_out: str, asked: str) -> None:
    found = WORKED_OUT[exemption]
    assert areas_that_work_out({"barriers/cut.py": worked_out, "sinks/txn.py": asked}, found) == {"barriers"}
    assert areas_that_work_out({"shared/exemptions.py": worked_out}, found) == set()
