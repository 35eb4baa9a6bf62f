"""The judge reads files of others by one opener; every other place that reads one is listed, with the reason."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

READS = {"read_bytes", "read_text", "read_table", "ParquetFile", "open_file", "memory_map", "fromfile", "loadtxt"}
OPENS = {"open", "fdopen"}
WRITING = ("w", "a", "x")
FOLDERS = ("harness", "reports", "fixtures/systems/json_lines")
OWN_KERNEL, OWN_PACKAGE, OWN_LOG = "the kernel's", "of an installed package", "a log that this process has begun"
EXCEPTIONS: Mapping[str, str] = {
    "fixtures/systems/json_lines/store.py": "compares a file that the harness has damaged with what it wrote there",
    "harness/adapter/child.py": OWN_LOG,
    "harness/adapter/label.py": OWN_KERNEL,
    "harness/adapter/network/peer.py": OWN_KERNEL,
    "harness/adapter/process_stat.py": OWN_KERNEL,
    "harness/adapter/reader_process.py": "its standard input, which the harness holds",
    "harness/commands/certify.py": "the result that this process has just written",
    "harness/commands/doctor_system.py": OWN_LOG,
    "harness/commands/kits.py": "the result that this process has just written",
    "harness/commands/nightly.py": "the result that this process has just written",
    "harness/commands/stream.py": "the null device, in place of a stream that is closed",
    "harness/engine/artefacts/history_files.py": "digests what this process has just written",
    "harness/engine/artefacts/output_file.py": "opened behind require_regular; its rows are read in groups",
    "harness/engine/artefacts/owner.py": OWN_KERNEL,
    "harness/engine/artefacts/record_files.py": "the one place that reads Parquet; it looks at the footer first",
    "harness/engine/certification/begun.py": "digests code that is imported",
    "harness/engine/certification/last_call.py": "the file that the pool has made for a worker",
    "harness/engine/certification/result_log.py": "what open_outside has opened",
    "harness/engine/certification/run_store.py": "digests what this process has just written",
    "harness/engine/exploration/fingerprint.py": OWN_PACKAGE,
    "harness/engine/exploration/on_spark.py": OWN_PACKAGE,
    "harness/engine/job_cluster/__main__.py": "settings that its client has just written",
    "harness/engine/job_cluster/client.py": "what the cluster has written, which only its owner can",
    "harness/engine/job_cluster/token.py": "makes a new file",
    "harness/engine/site/code.py": "code that is to be imported",
    "harness/engine/site/machine.py": OWN_KERNEL,
    "harness/engine/site/services.py": "no file: services are opened",
    "harness/engine/site/spark_session.py": OWN_LOG,
    "harness/engine/site/thread_waits.py": OWN_KERNEL,
    "harness/engine/site/usage.py": OWN_KERNEL,
    "harness/engine/verification/sent.py": "opened behind require_regular; read line by line, within limits of its own",
    "harness/groups.py": "a folder that this process has made",
    "harness/oracles/output/spark/delivery.py": "on executors, in groups of rows",
    "harness/oracles/output/spark/partial_counters.py": "on executors, in groups of rows",
    "harness/spi/outside_files.py": "the one opener",
    "reports/nights/exchange.py": "reports that this process has just written",
    "reports/pages.py": OWN_PACKAGE,
    "reports/pictures/drawing.py": OWN_PACKAGE,
    "reports/timeline.py": OWN_PACKAGE,
}


def reads(path: Path) -> bool:
    """Whether a file reads files by itself."""
    return any(_reads(node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _reads(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in READS:
        return True
    modes = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return name in OPENS and not any(mode.startswith(WRITING) for mode in modes)


def test_files_of_others_are_read_in_one_place() -> None:
    root = Path(str(files("holdfast.harness"))).parent
    found = {
        str(path.relative_to(root))
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
        if reads(path)
    }
    assert found == EXCEPTIONS.keys(), "use harness.spi.outside_files, or read_content of harness.engine.artefacts"
