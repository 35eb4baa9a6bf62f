"""Connections are begun and accepted in one place each; every other is listed here, with the reason."""

from __future__ import annotations

import ast
import re

from holdfast.suites.selfcheck.source_files import files_with

OPENS = {"create_connection", "create_server", "connect_ex", "open_connection", "start_server", "HTTPServer"}
OPENS |= {"ThreadingHTTPServer", "TCPServer", "accept"}
LIBRARY = re.compile(r"^\s*(?:import|from) (?:socket|socketserver|http\.server|asyncio)\b", re.MULTILINE)
EXCEPTIONS = {
    "harness/adapter/network/sockets.py": "the one place that begins connections",
    "harness/adapter/network/acceptor.py": "the one place that accepts them",
    "harness/engine/job_cluster/endpoint.py": "HTTP, which carries the token in a header",
    "harness/engine/site/machine.py": "asks whether Docker answers",
    "fixtures/images/daemon.py": "asks whether Docker answers",
    "fixtures/services/given_spark.py": "asks whether a Spark master answers",
    "fixtures/services/worker_probe.py": "asks whether an executor reaches an address; it says nothing",
    "fixtures/systems/flink/cluster.py": "asks whether Flink's endpoint answers",
}


def opens(source: str) -> bool:
    """Whether a source begins or accepts connections by itself."""
    if not LIBRARY.search(source):
        return False
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    methods = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    return bool(names & OPENS) or "connect" in methods


def test_connections_begin_and_end_in_one_place() -> None:
    found = files_with(opens, "harness", "faults", "fixtures", "reports")
    assert found == EXCEPTIONS.keys(), "use harness.adapter.network: call, connect, Acceptor"
