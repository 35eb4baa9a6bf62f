"""What is refused at the edge, and in which words: one sentence with field, value, what is allowed and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from holdfast.harness.engine.artefacts.json_files import read_plan
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.validate import check_options, check_plan, check_sizes
from holdfast.harness.model.capability import Capability, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import ITERATION
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.system import WATCHED
from holdfast.suites.selfcheck.engine.scripted import ScriptedSystem, plan, toolbox


def raw_plan(edit: Callable[[dict[str, Any]], object] = lambda _: None) -> bytes:
    tree = msgspec.json.decode(msgspec.json.encode(plan()))
    edit(tree)
    return msgspec.json.encode(tree)


def with_fault(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda tree: tree.update(faults=[{"kind": "kill", **fields}])


def at(**schedule: Any) -> Callable[[dict[str, Any]], object]:
    return with_fault(schedule=schedule)


def gate(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return at(gate={"effect": "commit", "target": {"role": "worker"}, **fields})


def vertex(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda tree: tree["job"]["vertices"][1].update(fields)


def on_the_way(partitioning: str, *, beside: bool = False) -> Callable[[dict[str, Any]], object]:
    """A map between source and sum, or on a second way between them."""

    def edit(tree: dict[str, Any]) -> None:
        job = tree["job"]
        job["vertices"].insert(1, {"name": "map", "kind": "map"})
        exchange = job["edges"][0]
        job["edges"].append({"upstream": "source", "downstream": "map", "partitioning": partitioning})
        job["edges"].append({**exchange, "upstream": "map"})
        if not beside:
            job["edges"].remove(exchange)

    return edit


def looped(**changes: Any) -> Callable[[dict[str, Any]], object]:
    """The job with a loop, with another contract or an edge changed."""

    def edit(tree: dict[str, Any]) -> None:
        job = tree["job"] = msgspec.to_builtins(ITERATION)
        job["edges"][1].update(changes.pop("edge", {}))
        job["vertices"][0].update(changes.pop("source", {}))
        job.update(changes)

    return edit


GOOD = [
    looped(),
    lambda tree: tree["job"]["vertices"][0].update(socket=True),
    on_the_way("forward"),
    lambda _: None,
    with_fault(),
    with_fault(target={"role": "channel", "index": 3}),
    with_fault(kind="cut", duration_ms=10, parameters={"delay_ms": 3}),
    at(at_event="rows_visible", after_rows=3),
    at(at_event="program_ready", after_acknowledged=2, after_restored=1),
    at(at_time_ms=0),
    gate(vertex="sink", occurrence=2),
    lambda tree: tree.update(options={"execution.checkpointing.interval": "100 ms"}),
    lambda tree: tree["workload"].update(parameters={"records": 7, "skew": "zipf"}),
]
BAD = [
    (looped(edge={"downstream": "sink"}), "as a feedback edge: these begin and end at one iteration."),
    (looped(edge={"feedback": False}), "list vertices upstream first"),
    (looped(contract="fold"), "use contract records and sources without an end."),
    (looped(source={"bounded": True}), "use contract records and sources without an end."),
    (vertex(kind="iteration"), "job.edges give 'sum', an iteration, other edges than it can use"),
    *(
        (vertex(name=name), f"job.vertices names {name!r}; subtasks, channels and files are named by it")
        for name in ("", "a->b", "a[0]", "../a", "..", "a\n", "a" * 101)
    ),
    (vertex(socket=True), "socket is True, but only a source has any: remove it."),
    (looped(source={"socket": True, "union_state": True}), "a socket has neither an end nor positions: leave out"),
    (lambda tree: tree.update(version=3), "version 3 of a plan is newer than 2"),
    (lambda tree: tree.update(version=0), "version 0 of a plan is older than 1"),
    (lambda tree: tree.update(spped=1), "unknown field 'spped' at the top level; none of 14 is near, some are "),
    (with_fault(colour=1), "unknown field 'colour' at faults[0]; allowed are kind, target, schedule"),
    (with_fault(target={"role": "workr"}), 'faults[0].target.role is "workr"; allowed are coordinator, worker'),
    (lambda tree: tree.pop("job"), "missing required field `job`: add it."),
    (lambda tree: tree["topology"].update(parallelism="2"), 'topology.parallelism is "2": expected `int`, got `str`.'),
    (lambda tree: tree["topology"].update(parallelism=0), "topology.parallelism is 0; allowed is 1 to 128: change it."),
    (lambda tree: tree["topology"].update(max_parallelism=-1), "topology.max_parallelism is -1"),
    (lambda tree: tree["bounds"].update(safety_ms=0), "bounds.safety_ms is 0; allowed is at least 1"),
    (
        lambda tree: tree["bounds"].update(settle_ms=2_600_000_000),
        "bounds.settle_ms is 2600000000; allowed is at most 2592000000, which is 30 days on tier sim: make it smaller.",
    ),
    (lambda tree: tree["bounds"].update(safety_ms=1 << 62), "bounds.safety_ms is 4611686018427387904; allowed"),
    (with_fault(duration_ms=1 << 40), "faults[0].duration_ms is 1099511627776; allowed is at most 2592000000"),
    (with_fault(kind="cut", parameters={"delay_ms": 1 << 40}), "faults[0].parameters.delay_ms is 1099511627776"),
    (at(after_rows=1 << 40), "faults[0].schedule.after_rows is 1099511627776; allowed is at most 1000000000"),
    (lambda tree: tree.update(faults=[{"kind": "kill"}] * 1_001), "faults has 1001 entries; allowed are at most 1000"),
    (
        lambda tree: tree["topology"].update(parallelism=32_768, max_parallelism=32_768),
        "topology.parallelism is 32768, which gives job ",
    ),
    (
        lambda tree: tree.update(options={"heartbeat.timeout": "31 d"}),
        "options and faults lengthen bounds.settle_ms to 26784",
    ),
    (lambda tree: tree["job"]["vertices"].pop(), "job.vertices has no sink: add one."),
    (lambda tree: tree["job"]["edges"].pop(), "vertex 'sum' loose"),
    (lambda tree: tree["job"]["edges"][0].update(upstream="x"), "job.edges[0] names 'x'; the vertices are sink, so"),
    (lambda tree: tree["job"]["edges"][0].update(partitioning="rebalance"), "'sum' is keyed: use hash."),
    (lambda tree: tree["job"]["edges"][0].update(upstream="sink"), "list vertices upstream first"),
    (lambda tree: tree["job"]["vertices"][0].update(name="sum"), "give each vertex a name of its own"),
    (lambda tree: tree["job"]["vertices"][1].update(copies=2), "copies is 2, but only a flat-map has any: remove it."),
    (vertex(kind="filter", modulus=2, remainder=2), "remainder is 2: use 0 to 1, less than the modulus."),
    (vertex(kind="flat-map", copies=0), "job.vertices[1].copies is 0: use at least 1."),
    (vertex(kind="sliding-sum"), "job.vertices[1].slide_ms is 0: use 1 to window_ms, which is 0."),
    (vertex(kind="top-sum"), "job.vertices[1].top is 0: use at least 1."),
    (vertex(kind="top-sum", top=1, state_version=3), "job.vertices[1].state_version is 3: use 1 or 2."),
    (vertex(kind="session-sum", gap_ms=9), "job.contract is fold, but 'sum' is a session-sum: use window."),
    (vertex(window_ms=9), "window_ms is 9, but only a sliding-sum has any: remove it."),
    (lambda tree: tree["job"]["vertices"][0].update(straggling=2), "has records that come late, and only a sliding"),
    (lambda tree: tree["job"]["vertices"][0].update(idleness_ms=-1), "vertices[0].idleness_ms is -1: use at least 0."),
    (lambda tree: tree["job"]["vertices"][0].update(idleness_ms=9), "late behind an idle split, and only a"),
    (vertex(kind="join"), "job.edges give 'sum', a join, 1 inputs: give it 2."),
    (lambda tree: tree["job"]["edges"].append(tree["job"]["edges"][0]), "joins two vertices twice: put a map on one"),
    (lambda tree: tree["job"]["edges"][1].update(partitioning="broadcast"), "a broadcast-sum or a ruled-sum takes"),
    (vertex(kind="interval-join", lower_ms=3, upper_ms=2), "job.vertices[1].lower_ms is 3: use at most upper_ms"),
    (
        lambda tree: tree["job"]["vertices"][1].update(kind="ruled-sum"),
        "job.edges give 'sum', a ruled-sum, something else than 2 sources of its own",
    ),
    (on_the_way("rebalance"), "job.edges rebalance above 'sum', so that records of a key lose their order"),
    (on_the_way("forward", beside=True), "bring one source to 'sum' on two ways, so that its records lose their order"),
    (lambda tree: tree["workload"].update(name="huge"), "unknown workload 'huge'; known: tiny."),
    (lambda tree: tree["workload"].update(parameters={"rows": 1}), "parameters has 'rows'; allowed are records"),
    (lambda tree: tree["workload"].update(parameters={"records": "x"}), "records is 'x': give a whole number."),
    (at(after_acknowledged=-1), "faults[0].schedule.after_acknowledged is -1; allowed is at least 0: change it."),
    (at(after_restored=-2), "faults[0].schedule.after_restored is -2; allowed is at least 0: change it."),
    (with_fault(kind="kil"), "unknown fault 'kil'; known: cut, kill."),
    (with_fault(target={"role": "worker", "index": 2}), "faults[0].target.index is 2; allowed is 0 to 1: change it."),
    (with_fault(target={"role": "channel", "index": 4}), "faults[0].target.index is 4; allowed is 0 to 3"),
    (with_fault(duration_ms=5), "faults[0].duration_ms is 5, but a kill does not last: set it to 0."),
    (with_fault(duration_ms=-5), "faults[0].duration_ms is -5; allowed is at least 0"),
    (with_fault(parameters={"dely": 5}), "faults[0].parameters has 'dely'; allowed are delay_ms"),
    (at(at_event="rows"), "faults[0].schedule.at_event is 'rows'; the nearest of 27 is rows_visible: use one of these"),
    (at(after_checkpoint=-1), "faults[0].schedule.after_checkpoint is -1"),
    (gate(vertex="reduce"), "gate.vertex is 'reduce'; the vertices are sink, source, sum"),
    (gate(occurrence=0), "gate.occurrence is 0; allowed is at least 1"),
    (at(gate={"effect": "commit", "target": {"role": "worker"}}, at_time_ms=3), "a gate and at_time_ms: remove one"),
    (lambda tree: tree.update(expected_end="refused", faults=[{"kind": "kill"}]), "to be refused starts nothing"),
]  # fmt: skip


class Telling(ScriptedSystem):
    """It reports whatever a fault may wait for."""

    def evidence(self) -> Mapping[str, Evidence]:
        return dict.fromkeys(WATCHED, Evidence.NATIVE)


def check(raw: bytes, tier: Tier = Tier.SIM, system: ScriptedSystem | None = None) -> Plan:
    read = read_plan(raw, "plan.json")
    system = system or Telling()
    check_plan(read, system, tier, toolbox())
    check_options(read, system)
    return read


@pytest.mark.parametrize("edit", GOOD, ids=range(len(GOOD)))
def test_a_good_plan_is_accepted_unchanged(edit: Callable[[dict[str, Any]], object]) -> None:
    raw = raw_plan(edit)
    read = check(raw)
    assert msgspec.json.decode(msgspec.json.encode(read), type=Plan) == read


@pytest.mark.parametrize(("edit", "sentence"), BAD, ids=range(len(BAD)))
def test_a_bad_plan_is_refused_in_one_sentence(edit: Callable[[dict[str, Any]], object], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        check(raw_plan(edit))
    said = str(caught.value)
    assert sentence in said
    assert "\n" not in said
    assert said.endswith(".")


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", raw_plan()[:100]], ids=range(4))
def test_a_truncated_plan_is_refused_by_the_name_of_its_file(raw: bytes) -> None:
    with pytest.raises(UsageError, match=r"^plan\.json: not whole JSON"):
        check(raw)


def test_where_time_is_real_none_is_longer_than_a_day() -> None:
    tree = msgspec.to_builtins(plan())
    tree["bounds"]["settle_ms"] = 90_000_000
    read = read_plan(msgspec.json.encode(tree), "plan.json")
    check_sizes(read, Tier.SIM)
    with pytest.raises(UsageError, match="settle_ms is 90000000; allowed is at most 86400000, which is 1 day on tier"):
        check_sizes(read, Tier.PROCESS)


def test_times_are_for_the_simulator_only() -> None:
    with pytest.raises(UsageError, match="at_time_ms is 5, but only tier sim can keep a time"):
        check(raw_plan(at(at_time_ms=5)), Tier.PROCESS)


class Restricted(ScriptedSystem):
    """Cannot be killed and has no gates."""

    capabilities = dict.fromkeys(
        (Tier.SIM, Tier.PROCESS), frozenset(Capability) - {Capability.KILL_WORKER, Capability.GATES}
    )


@pytest.mark.parametrize(
    ("edit", "tier", "system", "sentence"),
    [
        (with_fault(), Tier.SIM, Restricted(), "does not declare kill-worker, which faults[0] (kill) needs"),
        (gate(effect="fsync"), Tier.SIM, None, "gate.effect is 'fsync'; system 'scripted' has acknowledge, commit."),
        (lambda _: None, Tier.SPARK, None, "does not run on tier spark; it runs on process, sim."),
        (lambda tree: tree.update(options={"unsupported": "1"}), Tier.SIM, None, "not support option 'unsupported'"),
    ],
    ids=range(4),
)  # fmt: skip
def test_what_a_system_does_not_declare_is_not_applicable_to_it(
    edit: Callable[[dict[str, Any]], object], tier: Tier, system: ScriptedSystem | None, sentence: str
) -> None:
    with pytest.raises(NotApplicable) as caught:
        check(raw_plan(edit), tier, system)
    assert sentence in str(caught.value)


def test_an_option_that_the_adapter_forgets_is_not_applied_silently() -> None:
    class Forgetful(ScriptedSystem):
        def account(self, plan: Plan) -> list[Any]:
            return []

    with pytest.raises(NotApplicable, match="does not account for option 'a'"):
        check(raw_plan(lambda tree: tree.update(options={"a": "1"})), system=Forgetful())


def test_a_refused_value_is_a_sentence_unless_the_plan_wants_the_refusal() -> None:
    options = {"execution.checkpointing.interval": "1 ms"}
    system = ScriptedSystem(refused_option="execution.checkpointing.interval")
    with pytest.raises(UsageError, match=r"options: execution\.checkpointing\.interval = '1 ms' is too small"):
        check(raw_plan(lambda tree: tree.update(options=options)), system=system)
    check(raw_plan(lambda tree: tree.update(options=options, expected_end="refused")), system=system)


def test_a_fault_waits_for_nothing_that_the_system_never_reports() -> None:
    raw = raw_plan(at(at_event="rows_visible"))
    check(raw)
    with pytest.raises(NotApplicable, match="at_event is 'rows_visible', which system 'scripted' does not report"):
        check(raw, system=ScriptedSystem())
