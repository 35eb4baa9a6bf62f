"""Each mechanism of what runs as processes has one implementation; every other is listed here, with the reason. The
base that holds them stays small."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from holdfast.suites.selfcheck.source_files import source_files

Nodes = Sequence[ast.AST]
"""All that a file consists of, as `ast.walk` finds it."""
Recognised = Callable[[Nodes], bool]
MOST_FILES, MOST_LINES, LONGEST_FILE_LINES = 30, 5_200, 500
"""Of the base."""


def stamps_events(nodes: Nodes) -> bool:
    """Whether it gives events their place in the order of a node."""
    targets = (each for node in nodes if isinstance(node, ast.Assign) for each in node.targets)
    return any(
        isinstance(target, ast.Attribute) and target.attr == "sequence" and not _is_self(target.value)
        for target in targets
    )


def names_the_harness(nodes: Nodes) -> bool:
    """Whether it says what the node of the harness, or of what reads the output, is called."""
    assigned = (node.value for node in nodes if isinstance(node, ast.Assign))
    return any(isinstance(value, ast.Constant) and value.value in {"harness", "reader.0"} for value in assigned)


def calls(name: str) -> Recognised:
    """Whether it calls a function or class of this name, which is no method."""
    return lambda nodes: any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name for node in nodes
    )


def names_a_class(name: str) -> Recognised:
    """Whether it has a class of this name."""
    return lambda nodes: any(isinstance(node, ast.ClassDef) and node.name == name for node in nodes)


def stands_on(name: str) -> Recognised:
    """Whether a class of it has this one below it."""
    return lambda nodes: any(
        isinstance(base, ast.Name) and base.id == name
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    )


def holds_a(name: str) -> Recognised:
    """Whether it makes an object of this generic class, or has a class above it."""
    return lambda nodes: any(
        isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name) and each.value.id == name
        for node in nodes
        if isinstance(node, ast.ClassDef | ast.Call)
        for each in (node.bases if isinstance(node, ast.ClassDef) else [node.func])
    )


def defines(name: str) -> Recognised:
    """Whether it gives this name a value."""
    return lambda nodes: name in _given_a_value(nodes)


def waits_before_a_restart(nodes: Nodes) -> bool:
    """Whether it adds to a time how long an environment takes to start again what has died. Who says how long that is,
    and leaves the rest to others, does not."""
    sums = (node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add))
    names = (_name(each) for node in sums for each in ast.walk(node))
    return any(name == "_delay_ms" or "RESTART_DELAY" in name or "RESPAWN_" in name for name in names)


def calls_attribute(name: str) -> Recognised:
    """Whether it calls an attribute of this name."""
    return lambda nodes: any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name for node in nodes
    )


def mentions(name: str) -> Recognised:
    """Whether it uses an attribute of this name."""
    return lambda nodes: any(isinstance(node, ast.Attribute) and node.attr == name for node in nodes)


def defines_method(*names: str) -> Recognised:
    """Whether a class of it has methods of all of these names that take a target."""

    def targeted(node: ast.AST) -> bool:
        return isinstance(node, ast.FunctionDef) and [each.arg for each in node.args.args[1:2]] == ["target"]

    return lambda nodes: any(
        {each.name for each in node.body if isinstance(each, ast.FunctionDef) and targeted(each)} >= set(names)
        for node in nodes
        if isinstance(node, ast.ClassDef)
    )


def stands_still_and_goes_on(nodes: Nodes) -> bool:
    """Whether a class of it is something that is paused and resumed by itself, without a target."""

    def alone(node: ast.AST) -> bool:
        return isinstance(node, ast.FunctionDef) and len(node.args.args) == 1

    return any(
        {each.name for each in node.body if isinstance(each, ast.FunctionDef) and alone(each)} >= {"pause", "resume"}
        for node in nodes
        if isinstance(node, ast.ClassDef)
    )


def takes_the_last_line(nodes: Nodes) -> bool:
    """Whether it cuts a text at its last line break."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "rpartition"
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == "\n"
        for node in nodes
    )


def has_method(name: str) -> Recognised:
    """Whether a class of it, which is no protocol, has a method of this name."""
    return lambda nodes: any(
        isinstance(each, ast.FunctionDef) and each.name == name
        for node in nodes
        if isinstance(node, ast.ClassDef)
        and not any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)
        for each in node.body
    )


def advances_a_system(nodes: Nodes) -> bool:
    """Whether a class of it lets a system run until a time, as spi.system.Deployment.advance does."""
    return any(
        isinstance(each, ast.FunctionDef)
        and each.name == "advance"
        and [argument.arg for argument in each.args.args] == ["self", "until_ms"]
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for each in node.body
    )


def looks_for_the_last_time(nodes: Nodes) -> bool:
    """Whether it has an output looked at for the last time."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "poll"
        and any(keyword.arg == "final" for keyword in node.keywords)
        for node in nodes
    )


def _given_a_value(nodes: Nodes) -> Iterator[str]:
    """The names that are, with a type or without, alone or with others."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names = (each for each in ast.walk(target) if isinstance(each, ast.Name))
                yield from (each.id for each in names if isinstance(each.ctx, ast.Store))


def _name(node: ast.AST) -> str:
    """Of a variable or an attribute; empty for all else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


IMPLEMENTATIONS: Mapping[str, tuple[Recognised, Mapping[str, str]]] = {
    "loop in which a system is heard and tended": (
        advances_a_system,
        {
            "harness/adapter/stand.py": "the one",
            "fixtures/reference/drivers/simulated/deployment.py": "the simulator's",
        },
    ),
    "recorder": (
        stamps_events,
        {
            "harness/adapter/recorder.py": "the one",
            "fixtures/reference/drivers/simulated/events.py": "the simulator's: one order of all nodes",
            "fixtures/reference/drivers/audit.py": "of the audit: the simulator takes them as they are",
        },
    ),
    "who lets records arrive by the clock": (
        calls("arrived"),
        {
            "harness/adapter/feeder.py": "the one",
            "fixtures/reference/drivers/processes/file_log.py": "records that a surge had more arrive than usual",
        },
    ),
    "window of what is unanswered": (
        calls("Window"),
        {
            "harness/adapter/log_feeder.py": "of an engine, by what it has persisted",
            "fixtures/systems/json_lines/life.py": "of a program, by what it answers",
        },
    ),
    "producer into a topic": (
        calls("Producer"),
        {
            "fixtures/services/topics.py": "the one of the harness",
            "fixtures/reference/connectors/kafka_output.py": "of the sink of the reference, which is on trial",
        },
    ),
    "owner of a reader": (
        stands_on("ReaderOwner"),
        {
            "harness/adapter/committed_output.py": "of tables and logs of engines, whose rows come by pipe",
            "fixtures/pipelines/output/pipeline_output.py": "of pipelines, whose rows lie in files",
        },
    ),
    "class of what was committed": (
        names_a_class("CommittedOutput"),
        {"harness/adapter/committed_output.py": "the one"},
    ),
    "who asks for the last look": (mentions("last_look_limit_s"), {"harness/adapter/committed_output.py": "the one"}),
    "when a reader looks, gaps between looks, and the last look": (
        looks_for_the_last_time,
        {"harness/adapter/polled_output.py": "the one"},
    ),
    "how long a gap is": (defines("MOST_INTERVALS"), {"harness/adapter/polled_output.py": "the one"}),
    "start of a process": (
        mentions("Popen"),
        {
            "harness/adapter/child.py": "the one",
            "fixtures/reference/drivers/processes/spawner.py": "of the zygote, which outlives its thread",
            "fixtures/services/processes/installation.py": "of a tool that installs, which ends by itself",
            "fixtures/images/builder.py": "of a tool that makes images, which ends by itself",
        },
    ),
    "death with the one that started it": (mentions("prctl"), {"harness/adapter/launch.py": "the one"}),
    "wait until a process stands still": (
        calls("stands_still"),
        {"harness/adapter/process.py": "the one"},
    ),
    "who stops a process": (
        mentions("SIGSTOP"),
        {"harness/adapter/process.py": "the one", "harness/adapter/child.py": "of the rest of its group"},
    ),
    "life of a process": (
        stands_still_and_goes_on,
        {
            "harness/adapter/process.py": "the one",
            "harness/adapter/child.py": "the one, of a process that leads a group of ours",
            "harness/adapter/member.py": "what it does, wherever it runs",
            "fixtures/systems/structured_streaming/session.py": "a driver program, which is two processes",
            "fixtures/services/container.py": "of a container, by the engine",
            "fixtures/services/container_life.py": "of a container",
            "fixtures/services/own_service.py": "what faults need of a service",
            "fixtures/services/processes/own_process.py": "a service through its lives",
            "fixtures/services/processes/database.py": "a service whose children do the work",
        },
    ),
    "sweep of what carries a label": (
        calls("end_labelled"),
        {
            "harness/lease.py": "of what is left of a killed process",
            "harness/adapter/stand.py": "of an engine that ends in good order",
        },
    ),
    "how it is known that an owner lives": (
        defines("_OWNER"),
        {"harness/lease.py": "the one"},
    ),
    "last words": (
        takes_the_last_line,
        {
            "harness/adapter/process.py": "the one",
            "fixtures/systems/flink/connectors.py": "the whole lines of a file that grows",
        },
    ),
    "how a process ended, in words": (calls_attribute("Signals"), {"harness/adapter/process.py": "the one"}),
    "who starts again what has died": (
        waits_before_a_restart,
        {
            "harness/adapter/member.py": "the one",
            "fixtures/reference/drivers/simulated/host.py": "the simulator's",
            "fixtures/systems/structured_streaming/query.py": "of a query, which ends with its driver or without",
        },
    ),
    "process through its lives": (
        holds_a("Member"),
        {
            "harness/adapter/worker.py": "of engines and programs, which are started here",
            "fixtures/reference/drivers/processes/life.py": "of the reference, which have a control connection",
            "fixtures/systems/flink/cluster.py": "of a cluster, of whom run after run hears",
            "fixtures/systems/structured_streaming/lives.py": "a driver program, and executors that Spark starts",
        },
    ),
    "who raises that it died at once": (calls("DiedAtOnce"), {"harness/adapter/worker.py": "the one"}),
    "who kills and pauses what stands": (
        defines_method("alive", "kill", "pause", "resume"),
        {
            "harness/adapter/controls.py": "the one",
            "fixtures/reference/drivers/simulated/controls/world_controls.py": "the simulator's",
        },
    ),
    "who records deaths": (
        calls("NodeDied"),
        {
            "harness/adapter/member.py": "the one",
            "fixtures/reference/drivers/simulated/host.py": "the simulator's",
        },
    ),
    "waits until a service serves": (has_method("wait_until"), {"fixtures/services/session.py": "the one"}),
    "damage of a stored checkpoint": (
        calls("ObjectDamaged"),
        {
            "harness/adapter/damaged_file.py": "the one",
            "fixtures/reference/drivers/damage.py": "of the simulator, whose files are in memory",
        },
    ),
    "armed gates": (
        calls("GateReached"),
        {
            "harness/adapter/controls.py": "the one that counts",
            "fixtures/systems/structured_streaming/gates.py": "the relay in front of the store counts requests",
            "fixtures/systems/structured_streaming/output_gates.py": "of a folder in which output appears",
            "fixtures/reference/drivers/simulated/host.py": "of the simulator",
            "fixtures/reference/drivers/processes/supervisor.py": "a process of the reference counts its own effects",
        },
    ),
    "who offers services of a run to faults": (
        calls("offer_services"),
        {
            "fixtures/reference/drivers/processes/real_deployment.py": "of the reference, wherever it runs",
            "fixtures/systems/flink/deployment.py": "of Flink",
            "fixtures/systems/structured_streaming/controls.py": "of queries",
        },
    ),
    "service that goes down and up": (has_method("take_down"), {"fixtures/services/service_controls.py": "the one"}),
    "links as faults reach them": (has_method("black_hole"), {"harness/adapter/links.py": "the one"}),
    "relay": (
        has_method("impair"),
        {
            "harness/adapter/relay_process.py": "the one",
            "harness/adapter/network/relay.py": "its other end, in a process of its own",
            "fixtures/services/toxiproxy.py": "Toxiproxy, between containers",
        },
    ),
    "stack of services": (
        stands_on("BrokerAndStore"),
        {
            "fixtures/services/stack.py": "what it runs in: containers",
            "fixtures/services/processes/stack.py": "what it runs in: processes",
        },
    ),
    "session": (
        names_a_class("Session"),
        {
            "fixtures/services/session.py": "the one of services",
            "fixtures/services/container.py": "what those in containers have besides",
            "fixtures/services/processes/own_process.py": "what those that are processes have besides",
            "fixtures/reference/drivers/spark/cluster.py": "a driver program of the reference, which asks for runs",
            "fixtures/systems/structured_streaming/session.py": "a driver program of queries, which is told in lines",
            "fixtures/reference/operators/window_sums.py": "a window of a job",
        },
    ),
    "names of nodes that are ours": (names_the_harness, {"harness/adapter/recorder.py": "the one"}),
}


def nodes_of(source: str) -> Nodes:
    return tuple(ast.walk(ast.parse(source)))


def test_each_mechanism_has_one_implementation() -> None:
    """Of all at once: each file is parsed once, and its tree, which is large, is not kept."""
    found: dict[str, set[str]] = {mechanism: set() for mechanism in IMPLEMENTATIONS}
    for path, source in source_files("harness/lease.py", "harness/adapter", "fixtures"):
        nodes = nodes_of(source)
        for mechanism, (recognised, _) in IMPLEMENTATIONS.items():
            if recognised(nodes):
                found[mechanism].add(path)
    assert found == {mechanism: set(listed) for mechanism, (_, listed) in IMPLEMENTATIONS.items()}


def test_the_base_stays_small() -> None:
    lines = {name: len(source.splitlines()) for name, source in source_files("harness/adapter")}
    assert len(lines) <= MOST_FILES
    assert sum(lines.values()) <= MOST_LINES
    assert [name for name, number in lines.items() if number > LONGEST_FILE_LINES] == []


@pytest.mark.parametrize(
    "line",
    [
        "due_ms = now_ms + RESTART_DELAY_MS",
        "self._due_ms = self._recorder.now_ms + self._delay_ms",
        "due_ns = kernel.now_ns + between(*RESPAWN_NS)",
        "started(cluster.RESTART_DELAY_MS + now_ms())",
    ],
)
def test_a_delay_is_seen_however_it_is_written(line: str) -> None:
    assert waits_before_a_restart(nodes_of(line))


@pytest.mark.parametrize("line", ["RESTART_DELAY_MS = 100", "Member(process, nodes, RESTART_DELAY_MS)", "due_ms + 100"])
def test_who_only_names_a_delay_does_not_wait(line: str) -> None:
    assert not waits_before_a_restart(nodes_of(line))
