"""Who may not be blamed is worked out in one place, and only what happened exempts anybody."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from holdfast.harness import oracles
from holdfast.harness.engine.site import registry
from holdfast.harness.model.consequence import ANY_FAILURE, Consequence
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
from holdfast.harness.model.history import of_the_job
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.oracles.shared.exemptions import Exemptions, exemptions
from holdfast.harness.spi.fault import Declaring
from holdfast.suites.selfcheck.oracles.builder import MS, Line, at, injected, story
from holdfast.suites.selfcheck.source_files import files_with, source_files

COORDINATOR, WORKER = Target(Role.COORDINATOR), Target(Role.WORKER, 1)
PAUSES = (FaultSpec("pause", COORDINATOR), FaultSpec("pause", WORKER))
FORGERIES = (
    FaultSpec("forge", COORDINATOR, parameters={"message": "acknowledge", "subtask": "sum[1]"}),
    FaultSpec("forge", COORDINATOR, parameters={"message": "trigger", "subtask": "source[0]"}),
)


def acting(*faults: int, plan: tuple[FaultSpec, ...]) -> Exemptions:
    """Of a run in which these faults of a plan acted."""
    lines = [injected(plan[each].kind, str(plan[each].target), each) for each in faults]
    return exemptions(story(AttemptStarted(attempt=1), *lines, faults=plan))


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
    exempt = exemptions(story(AttemptStarted(attempt=1), real_time=True))
    assert (exempt.real_time, exempt.punctual, exempt.exact_clocks) == (True, False, False)


def test_the_dead_are_those_lives_that_ended() -> None:
    exempt = exemptions(story(AttemptStarted(attempt=1), NodeDied(dead_node="worker-1", cause="kill"), 5))
    assert exempt.dead == {"worker-1.0"}
    assert exempt.deaths_ns({"worker-1.0", "worker-1.1"}) == [2 * MS]
    assert exempt.deaths_ns({"worker-1.1"}) == []


@pytest.mark.parametrize(
    ("between", "expected"), [([], True), ([NodeDied(dead_node="coordinator", cause="kill")], False)]
)
def test_who_lives_while_a_successor_claims_its_job_is_superseded(between: list[Line], expected: bool) -> None:
    """Also where it does not say so any more."""
    claims = CoordinatorClaimed(epoch=1), at("coordinator.1", CoordinatorClaimed(epoch=2))
    assert exemptions(of_the_job(story(claims[0], *between, claims[1]))).superseded is expected


def test_a_fault_holds_up_what_sources_send_until_it_is_healed() -> None:
    healed = FaultHealed(fault=0, fault_kind="slow", target="channel[0]")
    assert exemptions(story(injected("slow", "channel[0]"), 10, healed)).held_up_ns() == [(1 * MS, 12 * MS)]
    assert exemptions(story(injected("slow", "coordinator[0]"))).held_up_ns() == []
    assert exemptions(story(injected("kill", "worker[0]"))).held_up_ns() == []


def test_an_object_is_spoilt_until_it_is_put_back() -> None:
    events = [
        ObjectDamaged(path="a", checkpoint=1, published=(1,), length=9, left=0), TaskStarted(subtask="sum[0]"),
        ObjectMended(path="a", length=9), TaskStarted(subtask="sum[1]"),
    ]  # fmt: skip
    history = story(*events)
    exempt = exemptions(history)
    assert [exempt.hold(event, "a") for event in history.of(TaskStarted)] == [True, False]
    assert not exempt.hold(history.of(TaskStarted)[0], "b")
    assert exempt.ever_held("a")
    assert not exempt.hold_at_end("a")


# --- in one place ---

HOME = Path(oracles.__file__).parent
THE_PLACE = "exemptions.py"
BUILDER = f"harness/oracles/shared/{THE_PLACE}"


def _gathers_the_dead(node: ast.AST) -> bool:
    """`{death.dead_node for death in history.of(NodeDied)}`, and the like."""
    return isinstance(node, ast.SetComp | ast.ListComp | ast.GeneratorExp | ast.DictComp) and any(
        "NodeDied" in ast.unparse(each.iter) for each in node.generators
    )


def _names(*words: str) -> Callable[[ast.AST], bool]:
    def names(node: ast.AST) -> bool:
        named = getattr(node, "attr", getattr(node, "id", ""))
        return isinstance(node, ast.Attribute | ast.Name) and named in words

    return names


WORKED_OUT: dict[str, Callable[[ast.AST], bool]] = {
    "dead": _gathers_the_dead,
    "what a fault may cause": _names("may_cause"),
    "superseded": _names("CoordinatorSuperseded"),
    "on a real clock": lambda node: isinstance(node, ast.Attribute) and ast.unparse(node).endswith("end.real_time"),
    "stopped at a gate": lambda node: isinstance(node, ast.Attribute) and ast.unparse(node).endswith("schedule.gate"),
    "waited": lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == "Stalls",
    "spoilt": _names("ObjectMended"),
}
"""How each exemption is worked out, where it is."""
OF_ITS_OWN = {"superseded": {"coordinator"}}
"""What an area looks at because it is what it judges."""


def areas_that_work_out(sources: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """By exemption, the areas, of path and source of each file, in which it is worked out."""
    areas: dict[str, set[str]] = {exemption: set() for exemption in WORKED_OUT}
    for name, source in sources:
        nodes = () if name.endswith(THE_PLACE) else tuple(ast.walk(ast.parse(source)))
        for exemption, found in WORKED_OUT.items():
            if any(map(found, nodes)):
                areas[exemption].add(name.partition("/")[0])
    return areas


def test_an_exemption_is_worked_out_in_one_place() -> None:
    sources = ((path, text) for path, text in source_files(below=HOME) if "/" in path)
    assert {name: areas for name, areas in areas_that_work_out(sources).items() if areas} == OF_ITS_OWN


@pytest.mark.parametrize(
    ("exemption", "worked_out", "asked"),
    [
        ("dead", "dead = {each.dead_node for each in history.of(NodeDied)}", "late = event.node in exempt.dead"),
        ("what a fault may cause", "Consequence.SLOWS_TASK in event.may_cause", "exempt.acted(Consequence.SLOWS_TASK)"),
        ("superseded", "history.of(CoordinatorSuperseded)", "exempt.superseded"),
        ("on a real clock", "if history.end.real_time: pass", "if exempt.real_time: pass"),
        ("stopped at a gate", "any(each.schedule.gate for each in faults)", "exempt.exact_clocks"),
        ("waited", "Stalls(history).within_ns(0, 1)", "exempt.stalls.within_ns(0, 1)"),
        ("spoilt", "history.of(ObjectMended)", "exempt.hold(event, path)"),
    ],
)
def test_who_works_one_out_is_found(exemption: str, worked_out: str, asked: str) -> None:
    assert areas_that_work_out([("barriers/cut.py", worked_out), ("sinks/txn.py", asked)])[exemption] == {"barriers"}
    assert areas_that_work_out([("shared/exemptions.py", worked_out)])[exemption] == set()


# --- without a name ---


def faults_by_name(source: str) -> set[str]:
    """The kinds of registered faults that a module of an oracle names."""
    texts = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    return {kind for kind in registry.toolbox().faults if kind in texts}


def test_no_oracle_names_a_fault() -> None:
    assert files_with(faults_by_name, "harness/oracles") == set()


def test_an_oracle_that_names_a_fault_is_found() -> None:
    assert faults_by_name("HOLDING = frozenset({'cut', 'theirs'})") == {"cut"}
    assert faults_by_name("if event.fault_kind == 'slow-task': pass") == {"slow-task"}
    assert faults_by_name("text = 'a cut or a kill'") == set()


def test_every_fault_of_ours_declares_what_it_may_cause() -> None:
    assert [kind for kind, fault in registry.toolbox().faults.items() if not isinstance(fault, Declaring)] == []


def theirs(*may_cause: Consequence, target: str = "channel[0]") -> FaultInjected:
    """A fault of a third party acts, of which nobody here knows the name."""
    return FaultInjected(fault=0, fault_kind="knead", target=target, may_cause=may_cause)


def test_a_fault_exempts_by_what_it_declares() -> None:
    exempt = exemptions(story(theirs(Consequence.HOLDS_UP_RECORDS), 10))
    assert exempt.held_up_ns() == [(1 * MS, exempt.held_up_ns()[0][1])]
    assert not exempt.acted(Consequence.SLOWS_TASK)
    assert not exempt.stopped_within_steps
    paused = exemptions(story(theirs(Consequence.PAUSES_PROCESS, target="coordinator[0]")))
    assert paused.coordinator_paused
    assert exemptions(story(theirs())).held_up_ns() == []


def test_a_fault_that_declares_nothing_explains_failures_and_no_delay() -> None:
    history = story(FaultInjected(fault=0, fault_kind="knead", target="channel[0]"))
    exempt = exemptions(history)
    assert all(exempt.acted(each) == history.events for each in ANY_FAILURE)
    assert not any(exempt.acted(each) for each in Consequence if each not in ANY_FAILURE)


@pytest.mark.parametrize(
    ("may_cause", "only_slow"),
    [
        ((Consequence.SLOWS_TASK,), True),
        ((Consequence.SLOWS_TASK, Consequence.HOLDS_UP_RECORDS), True),
        ((Consequence.SLOWS_TASK, Consequence.DISTURBS_MESSAGES), False),
        ((Consequence.HOLDS_UP_RECORDS,), False),
        ((), False),
    ],
)
def test_a_fault_that_only_slows_a_task_does_nothing_else(may_cause: tuple[Consequence, ...], only_slow: bool) -> None:
    acting = theirs(*may_cause)
    assert Exemptions.is_only(acting, Consequence.SLOWS_TASK, Consequence.HOLDS_UP_RECORDS) is only_slow


def test_only_deaths_are_faults_that_only_end_processes() -> None:
    besides = (Consequence.LOSES_PROCESS, Consequence.FAILS_TASK)
    kill, surge = injected("kill", "worker[0]"), injected("surge", "source_system[0]")
    assert exemptions(story(AttemptStarted(attempt=1))).only(Consequence.ENDS_PROCESS)
    assert exemptions(story(kill)).only(Consequence.ENDS_PROCESS, *besides)
    assert not exemptions(story(kill)).only(Consequence.ENDS_PROCESS)
    assert not exemptions(story(kill, surge)).only(Consequence.ENDS_PROCESS, *besides)


def test_exemptions_are_worked_out_once_for_a_history() -> None:
    history = story(AttemptStarted(attempt=1))
    assert exemptions(history) is exemptions(history)
    assert exemptions(story(AttemptStarted(attempt=1))) is not exemptions(history)


def test_nobody_but_the_place_builds_exemptions() -> None:
    assert files_with(lambda source: "Exemptions(" in source, "harness/oracles", but_for=(BUILDER,)) == set()
