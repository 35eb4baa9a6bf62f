"""Tasks in processes: inputs take turns, burdens keep them busy, and a recovery imports nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.process_faults import BurdenedTasks
from holdfast.fixtures.reference.drivers.processes.deployment import WARM
from holdfast.fixtures.reference.drivers.processes.shared_pages import Burdens
from holdfast.fixtures.reference.drivers.processes.worker_channels import HostedTask, LocalChannel
from holdfast.fixtures.reference.drivers.targets import Targets
from holdfast.fixtures.reference.operators.batches import size_bytes
from holdfast.fixtures.reference.protocol.channels.buffers import OutputBuffers
from holdfast.fixtures.reference.protocol.execution_graph import execution_graph
from holdfast.fixtures.reference.protocol.messages import Barrier, Element, Records
from holdfast.harness.model.jobs import REBALANCE
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls import NOBODY, Acting
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.processes.test_channel import CAPACITY, barrier, batch, full, nobody, records


def unattached(*, announces: bool = True) -> tuple[HostedTask, list[str], OutputBuffers]:
    """A task with two inputs that are not there yet, and room for one batch below."""
    graph = execution_graph(REBALANCE, Topology(parallelism=2), chaining=False)
    task = HostedTask(graph.tasks["map[0]"], 2, lambda name: CAPACITY, size_bytes, [], [], announces=announces)
    (edge,) = graph.tasks["map[0]"].outputs
    output = task.outputs[edge.channels[0]] = LocalChannel(1, nobody)
    return task, list(graph.tasks["map[0]"].inputs), output.output


def hosted() -> tuple[HostedTask, list[str], OutputBuffers]:
    """As `unattached`; its inputs are there, and hold two batches and a barrier each."""
    task, names, output = unattached()
    for name in names:
        channel = LocalChannel(CAPACITY, nobody)
        task.attach(name, channel)
        for element in (records(0, name), records(1, name), barrier(1, channel=name)):
            channel.send(element)
    return task, names, output


def take_of(task: HostedTask) -> Element | None:
    element = task.inputs.take()
    if isinstance(element, Records):
        task.grant(element.channel)
    return element


def taken(task: HostedTask) -> tuple[str, int] | None:
    element = take_of(task)
    if element is None:
        return None
    assert isinstance(element, Records | Barrier)
    return element.channel, element.position if isinstance(element, Records) else -element.checkpoint


def set_blocked(task: HostedTask, name: str, blocked: bool) -> None:
    task.inputs.buffers[name].blocked = blocked


def test_what_arrives_makes_its_task_ready() -> None:
    task, (first, _), _ = unattached()
    task.arrive(records(0, first))
    assert task.ready == [task.subtask]


def test_inputs_take_turns_and_what_is_blocked_or_has_no_room_waits() -> None:
    task, (first, second), output = hosted()
    assert [taken(task), taken(task), taken(task)] == [(first, 0), (second, 0), (first, 1)]
    set_blocked(task, second, True)
    assert [taken(task), taken(task)] == [(first, -1), None]
    set_blocked(task, second, False)
    output.offer(records(0))
    assert taken(task) is None, "a batch waits for room"
    output.waiting.clear()
    assert [taken(task), taken(task), taken(task)] == [(second, 1), (second, -1), None]


def test_nothing_is_taken_while_state_is_written_and_what_was_in_flight_comes_first() -> None:
    task, (first, second), _ = hosted()
    task.inputs.buffers[first].restore((records(7, first, origin=1),))
    task.inputs.suspend("map[0]")
    task.inputs.suspend("sink[0]")
    assert not task.inputs.resume("map[0]")
    assert taken(task) is None
    assert task.inputs.resume("sink[0]")
    assert not task.inputs.resume("sink[0]"), "it goes on already"
    element = take_of(task)
    assert isinstance(element, Records)
    assert (element.channel, element.position, element.origin) == (first, 7, 1)
    assert [taken(task), taken(task)] == [(second, 0), (first, 0)]


def test_a_barrier_that_overtakes_needs_no_room_and_brings_what_it_overtook() -> None:
    task, (_, second), output = unattached()
    task.inputs.buffers[second].restore((records(7, second, origin=1),))
    output.offer(records(0))
    channel = LocalChannel(CAPACITY, nobody)
    task.attach(second, channel)
    for sent in (records(0, second), barrier(2, overtakes=True, channel=second)):
        channel.send(sent)
    element = take_of(task)
    assert isinstance(element, Barrier)
    assert (element.channel, element.checkpoint, element.unaligned) == (second, 2, True)
    assert [(each.origin, each.position) for each in element.overtaken] == [(1, 7), (0, 0)]
    assert taken(task) is None, "batches still wait for room"


def test_a_barrier_that_overtakes_comes_before_the_turn_of_others_and_says_what_they_hold() -> None:
    task, (first, second), _ = hosted()
    set_blocked(task, first, True)
    task.arrive(barrier(2, overtakes=True, channel=second))
    element = take_of(task)
    assert isinstance(element, Barrier)
    assert (element.channel, element.checkpoint) == (second, 2)
    assert element.held_bytes == 2 * size_bytes(batch(0)), "what waits behind the barrier of the other input"
    assert [event.checkpoint for event in task.announced] == [1, 1], "one that overtakes is not announced"


@pytest.mark.parametrize("announces", [True, False])
def test_barriers_are_announced_where_checkpoints_may_become_unaligned(*, announces: bool) -> None:
    task, (first, _), _ = unattached(announces=announces)
    task.arrive(barrier(2, channel=first))
    assert [event.checkpoint for event in task.announced] == [2] * announces


def test_what_was_in_flight_is_taken_before_its_channel_is_there_and_uses_buffers() -> None:
    task, (first, _), _ = unattached()
    task.inputs.buffers[first].restore(tuple(records(position, first, origin=1) for position in range(CAPACITY + 1)))
    assert taken(task) == (first, 0)
    channel = LocalChannel(CAPACITY, nobody)
    task.attach(first, channel)
    for position in range(CAPACITY):
        channel.send(records(position, first))
    assert full(channel), "what was restored takes all buffers of the receiver"
    assert [taken(task) for _ in range(CAPACITY)] == [(first, position) for position in range(1, CAPACITY + 1)]
    assert not full(channel)
    assert [taken(task) for _ in range(CAPACITY)] == [(first, position) for position in range(CAPACITY)]


SUM, OTHER = Target(Role.TASK, 2), Target(Role.TASK, 3)
PLAN = plan()
TARGETS = Targets(PLAN.job, PLAN.topology, 2)


@pytest.mark.parametrize(("healed", "left"), [(20, 700), (700, 20)])
def test_one_burden_is_healed_and_the_other_goes_on(tmp_path: Path, healed: int, left: int) -> None:
    acting, page, worker = Acting(), Burdens(tmp_path, PLAN), Burdens(tmp_path, PLAN)
    tasks = BurdenedTasks(TARGETS, acting, page.burden)

    def seen(task: Target) -> tuple[int, int]:
        """How long a batch takes it by now, and for which fault."""
        subtask = TARGETS.subtask(task)
        return worker.get(subtask), worker.by(subtask)

    for fault, delay_ms in enumerate((20, 700)):
        acting.fault = fault
        tasks.slow(SUM, delay_ms)
        assert seen(SUM) == (delay_ms, fault)
    tasks.slow(OTHER, 5)
    by = {20: 0, 700: 1}
    acting.fault = by[healed]
    tasks.restore(SUM, healed)
    assert (seen(SUM), seen(OTHER)) == ((left, by[left]), (5, 1))
    assert tasks.whole(SUM, healed)
    acting.fault = by[left]
    assert not tasks.whole(SUM, left)
    tasks.restore(SUM, left)
    assert (seen(SUM), tasks.whole(SUM, left)) == ((0, NOBODY), True)
    acting.fault = 1
    assert not tasks.whole(OTHER, 5)


def test_what_is_no_subtask_is_refused() -> None:
    with pytest.raises(ValueError, match=r"this job has \d+ tasks"):
        TARGETS.subtask(Target(Role.TASK, 99))
    with pytest.raises(ValueError, match="this job has 2 workers"):
        TARGETS.process(Target(Role.WORKER, 2))


NODE = """
import importlib
import sys
from pathlib import Path

import msgspec

from holdfast.fixtures.reference.drivers.processes.deployment import PRELOAD
from holdfast.fixtures.reference.drivers.processes.file_log import write_log
from holdfast.fixtures.reference.drivers.processes.run_context import RunContext, RunSettings
from holdfast.fixtures.reference.operators.pass_through import ReadRun
from holdfast.fixtures.reference.parts import Variant
from holdfast.harness.adapter.network.sockets import Address
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.model.jobs import KEYED_SUM, SLIDING_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec

for module in PRELOAD:
    importlib.import_module(module)
job = KEYED_SUM if sys.argv[2] == KEYED_SUM.name else SLIDING_SUM
plan = Plan(job=job, workload=WorkloadSpec("synthetic"), options={"state.backend.type": sys.argv[3]})
folder = Path(sys.argv[1])
(folder / "log").mkdir()
write_log(folder / "log", Synthetic().generate({}, 1))
run = RunContext(RunSettings(plan, Variant(), str(folder), Address("", 0), (), {}, event_steps_ms=(10, 10)))
imported = set(sys.modules)
offset, key, value = run.log.read(0, 0, 10)
operators = {name: run.operator(descriptor, run.graph, 1) for name, descriptor in run.graph.tasks.items()}
batch = operators["source[0]"].process(run.representation.read(ReadRun(0, offset, key, value)))
run.representation.from_arrow(run.representation.to_arrow(batch))
for operator in operators.values():
    operator.open()
    operator.state.close()
print(sorted(set(sys.modules) - imported))
"""


@pytest.mark.parametrize(
    ("job", "backend"), [("keyed-sum", "hashmap"), ("keyed-sum", "rocksdb"), ("sliding-sum", "hashmap")]
)
def test_whatever_a_node_needs_is_imported_before_it_is_forked(job: str, backend: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", NODE, str(tmp_path), job, backend]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (answer.stdout, answer.stderr) == ("[]\n", "")


def test_arrow_does_without_pandas_and_pandas_is_there_for_others() -> None:
    pytest.importorskip("pandas")
    code = f"import sys, {WARM}; print('pandas' in sys.modules); import pandas; print('pandas' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (answer.stdout, answer.stderr) == ("False\nTrue\n", "")
