"""Imports run downwards, and connections, temporary folders and files of others have one way each."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from holdfast.fixtures.reference import protocol
from holdfast.suites.selfcheck.source_files import files_with, source_files

PACKAGE = protocol.__name__


def imported(source: str) -> Iterator[str]:
    """Each module, or name in one, that a source imports anywhere; under TYPE_CHECKING as well."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def circle(sources: Mapping[str, str]) -> list[str]:
    """Modules that import each other in a circle, by name; the list is empty if there is none.

    A package counts as imported only by those that import names of it: its own modules do not.
    """
    edges = {
        name: {each for each in imported(source) if each in sources and not name.startswith(f"{each}.")}
        for name, source in sources.items()
    }
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def class_slots(source: str) -> list[str]:
    """Class attributes that hold a class, as `Class.attribute`; a field of a frozen dataclass is none."""
    return [
        f"{made.name}.{slot}"
        for made in ast.walk(ast.parse(source))
        if isinstance(made, ast.ClassDef)
        for node in made.body
        if (slot := _slot(node))
    ]


def _slot(node: ast.stmt) -> str:
    """The attribute that a statement makes a slot for a class; empty if it makes none."""
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).startswith("ClassVar[type["):
        return ast.unparse(node.target)
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)):
        return ""
    return ast.unparse(node.targets[0]) if node.value.id.lstrip("_")[:1].isupper() else ""


def _protocol() -> dict[str, str]:
    named = {}
    for path, source in source_files("fixtures/reference/protocol"):
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        named[f"holdfast.{module}"] = source
    return named


def test_no_part_of_the_protocol_names_its_owner() -> None:
    sources = _protocol()
    assert f"{PACKAGE}.tasks.task" in sources
    assert circle(sources) == []


def test_no_class_of_the_protocol_has_a_slot_for_a_class() -> None:
    assert [f"{name}: {slot}" for name, source in _protocol().items() for slot in class_slots(source)] == []


def test_a_part_that_names_its_owner_is_found_and_one_that_names_its_neighbour_is_not() -> None:
    owner = "from house.part import Part\nfrom house.neighbour import Neighbour\n"
    upward = "if TYPE_CHECKING:\n    from house.owner import Owner\n"
    sideways = "from house.neighbour import Neighbour\n"
    assert set(circle({"house.owner": owner, "house.part": upward, "house.neighbour": ""})) == {
        "house.owner",
        "house.part",
    }
    assert circle({"house.owner": owner, "house.part": sideways, "house.neighbour": ""}) == []


def test_a_slot_for_a_class_is_found_and_a_number_or_a_field_is_none() -> None:
    slots = "class Task:\n    output_class: ClassVar[type[Output]] = Output\n    meter = Meter\n"
    fields = "class Parts:\n    output: type[Output] = Output\n    most: ClassVar[int] = 3\n    blocking = True\n"
    assert class_slots(slots) == ["Task.output_class", "Task.meter"]
    assert class_slots(fields) == []


READS = {
    "read_bytes", "read_text", "read_table", "read_csv", "read_json", "ParquetFile", "ORCFile", "ZipFile", "DeltaTable",
    "open_file", "open_input_file", "open_input_stream", "input_stream", "memory_map", "OSFile", "FileIO", "fromfile",
    "loadtxt", "copyfile", "copytree", "from_metadata",
}  # fmt: skip
OPENS = {"open", "fdopen"}
DATABASES = {"sqlite3"}
"""Modules whose `connect` opens a file."""
WRITING = ("w", "a", "x")
ON_TRIAL = (
    "fixtures/backends/",
    "fixtures/feeders.py",
    "fixtures/mutants/",
    "fixtures/reference/drivers/",
    "fixtures/reference/operators/",
    "fixtures/reference/protocol/",
    "fixtures/sinks/",
    "fixtures/sources/",
    "fixtures/storages/",
    "fixtures/systems/programs/",
)
"""What is judged, and reads what it wrote itself. Of it, what looks at the parts of others is listed below."""
BEHIND_LAKE = "its libraries read it, behind LakeTable, which looks at files first and reads rows in batches"
OWN_KERNEL, OWN_PACKAGE, OWN_LOG = "the kernel's", "of an installed package", "a log that this process has begun"
READERS: Mapping[str, str] = {
    "fixtures/host/installed_spark.py": OWN_PACKAGE,
    "fixtures/host/kept_file.py": "reads again what it has just written",
    "fixtures/images/archive_spark_classes.py": "in an image, what its recipe has put there",
    "fixtures/images/builder.py": "no file: packs what is sent to the container engine",
    "fixtures/images/recipe.py": "of an installed package, and what this machine trusts, laid by its owner",
    "fixtures/images/versions.py": OWN_PACKAGE,
    "fixtures/pipelines/loading.py": "code that is to be imported",
    "fixtures/pipelines/input/incoming.py": "opened behind require_regular_mode; it looks at the footer first",
    "fixtures/pipelines/output/delta_table.py": BEHIND_LAKE,
    "fixtures/pipelines/output/file_formats.py": "what read_outside has read; it looks at the footer first",
    "fixtures/pipelines/output/stored_output.py": "rows that the committed reader has put aside within its limits",
    "fixtures/reference/connectors/rows.py": "rows that a sink under trial has written, within the driver's limits",
    "fixtures/services/ourselves.py": OWN_PACKAGE,
    "fixtures/services/processes/installation.py": "of an installed package, and programs that are to be run",
    "fixtures/systems/flink/our_job.py": "makes a new file",
    "fixtures/systems/flink/rest.py": "a job that is to be run",
    "fixtures/systems/structured_streaming/fetched_results.py": "what read_outside has read",
    "fixtures/systems/structured_streaming/driver_results.py": "in the driver program, what the harness has written",
    "fixtures/systems/structured_streaming/cluster_host.py": "pipes that this process has made",
    "fixtures/systems/structured_streaming/session.py": OWN_KERNEL,
    "fixtures/tables/readers.py": "opened behind require_regular_mode; its rows are read within limits",
    "fixtures/workloads/flights_file.py": "opened behind require_regular_mode; it looks at the footer first",
    "harness/label.py": OWN_KERNEL,
    "harness/adapter/network/acceptor.py": OWN_KERNEL,
    "harness/adapter/process.py": OWN_KERNEL,
    "harness/adapter/recorder.py": "makes a new file",
    "harness/adapter/reader_process.py": "its standard input, which the harness holds",
    "harness/commands/certify.py": "the result that this process has just written",
    "harness/commands/doctor_system.py": OWN_LOG,
    "harness/commands/kits.py": "the result that this process has just written",
    "harness/commands/nightly.py": "the result that this process has just written",
    "harness/commands/standard_streams.py": "the null device, in place of a stream that is closed",
    "harness/engine/artefacts/history_files.py": "digests what this process has just written",
    "harness/engine/artefacts/output_file.py": "opened behind require_regular; its rows are read in groups",
    "harness/engine/artefacts/owner.py": "locks a folder",
    "harness/engine/artefacts/record_files.py": "the one place that reads Parquet; it looks at the footer first",
    "harness/engine/artefacts/remote_run.py": "no file: objects of a store, as far as a file may be long",
    "harness/engine/certification/begun.py": "digests code that is imported",
    "harness/engine/certification/run_store.py": "digests what this process has just written",
    "harness/engine/exploration/fingerprint.py": OWN_PACKAGE,
    "harness/engine/exploration/on_spark.py": OWN_PACKAGE,
    "harness/engine/exploration/spark_task.py": "on executors, code that the harness has sent",
    "harness/engine/job_cluster/__main__.py": "settings that its client has just written",
    "harness/engine/job_cluster/client.py": "what the cluster has written, which only its owner can",
    "harness/engine/job_cluster/folder.py": "makes a new file",
    "harness/engine/site/places.py": "code that is to be imported",
    "harness/engine/site/machine.py": OWN_KERNEL,
    "harness/engine/site/services.py": "no file: services are opened",
    "harness/engine/site/spark_session.py": OWN_LOG,
    "harness/engine/executor/stall_trace.py": OWN_KERNEL,
    "harness/engine/site/usage.py": OWN_KERNEL,
    "harness/groups.py": "a folder that this process has made",
    "harness/lease.py": "the id of this machine",
    "harness/oracles/output/spark/delivery.py": "on executors, in groups of rows",
    "harness/oracles/output/spark/partial_counters.py": "on executors, in groups of rows",
    "harness/spi/outside_files.py": "the one opener",
    "reports/nights/exchange.py": "reports that this process has just written",
    "reports/pages.py": OWN_PACKAGE,
    "reports/pictures/drawing.py": OWN_PACKAGE,
    "reports/timeline.py": OWN_PACKAGE,
}


def reads(source: str) -> bool:
    """Whether a source reads files by itself."""
    return any(_reads(node) for node in ast.walk(ast.parse(source)))


def _reads(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in READS:
        return True
    modes = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and name == "connect":
        return node.func.value.id in DATABASES
    return name in OPENS and not any(mode.startswith(WRITING) for mode in modes)


MAKERS = {"mkdtemp", "TemporaryDirectory", "mkstemp", "NamedTemporaryFile"}
FOLDER_MAKERS = {
    "harness/lease.py": "the one place that makes them",
    "fixtures/images/builder.py": "debootstrap mounts in it, and no sweep goes through a mount",
    "fixtures/images/archive_spark_classes.py": "runs where an image is built, without Holdfast",
}


def makes_one(source: str) -> bool:
    """Whether a source makes a temporary folder or file in no folder of its own (`dir=`)."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = [call for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) in MAKERS]
    return any("dir" not in {word.arg for word in call.keywords} for call in names)


CONNECTS = {"create_connection", "create_server", "connect_ex", "open_connection", "start_server", "HTTPServer"}
CONNECTS |= {"ThreadingHTTPServer", "TCPServer", "accept"}
LIBRARY = re.compile(r"^\s*(?:import|from) (?:socket|socketserver|http\.server|asyncio)\b", re.MULTILINE)
CONNECTORS = {
    "harness/adapter/network/sockets.py": "the one place that begins connections",
    "harness/adapter/network/acceptor.py": "the one place that accepts them",
    "harness/engine/job_cluster/endpoint.py": "HTTP, which carries the token in a header",
    "harness/engine/site/machine.py": "asks whether Docker answers",
    "fixtures/images/daemon.py": "asks whether Docker answers",
    "fixtures/services/spark_cluster.py": "asks whether a Spark master answers",
    "fixtures/services/worker_probe.py": "asks whether an executor reaches an address; it says nothing",
    "fixtures/systems/flink/cluster.py": "asks whether Flink's endpoint answers",
}


def connects(source: str) -> bool:
    """Whether a source begins or accepts connections by itself."""
    if not LIBRARY.search(source):
        return False
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    methods = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    return bool(names & CONNECTS) or "connect" in methods


EVERYWHERE = ("harness", "faults", "fixtures", "reports")


@pytest.mark.parametrize(
    ("condition", "places", "but_for", "listed", "instead"),
    [
        pytest.param(
            reads, EVERYWHERE, ON_TRIAL, READERS,
            "use harness.spi.outside_files, or read_content of harness.engine.artefacts", id="files of others",
        ),
        pytest.param(
            makes_one, (*EVERYWHERE, "suites/certify"), ("suites/certify/scaffolds/",), FOLDER_MAKERS,
            "use harness.lease.Lease", id="temporary folders",
        ),
        pytest.param(
            connects, EVERYWHERE, (), CONNECTORS, "use harness.adapter.network: call, connect, Acceptor",
            id="connections",
        ),
    ],
)  # fmt: skip
def test_it_is_done_in_one_place(
    condition: Callable[[str], bool],
    places: tuple[str, ...],
    but_for: tuple[str, ...],
    listed: Mapping[str, str],
    instead: str,
) -> None:
    assert files_with(condition, *places, but_for=but_for) == listed.keys(), instead


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("with tempfile.TemporaryDirectory(prefix='x-') as folder: ...", True),
        ("made = mkdtemp()", True),
        ("made = mkdtemp(dir=target.parent)", False),
        ("with Lease('x') as folder: ...", False),
    ],
)
def test_a_temporary_folder_beside_them_is_seen(source: str, seen: bool) -> None:
    assert makes_one(source) is seen
