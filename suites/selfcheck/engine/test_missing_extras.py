"""The conftest of the repository, from the outside: what an extra that is not installed does to a file of tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import suites

CONFTEST = Path(suites.__path__[0]).parent / "conftest.py"
ABSENT = "\nimport sys\n\nsys.modules['toxiproxy'] = None\nsys.modules['nobody_has_it'] = None\n"


def run_pytest(folder: Path, imported: str, *arguments: str) -> tuple[int, str]:
    """Exit code and words of a session whose only file imports a module, where neither of two can be imported."""
    (folder / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8") + ABSENT, encoding="utf-8")
    (folder / "test_it.py").write_text(f"import {imported}\n\ndef test_it():\n    pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_file_that_needs_an_absent_extra_is_skipped_by_name_with_what_to_install(
    processes: str, tmp_path: Path
) -> None:
    code, text = run_pytest(tmp_path, "toxiproxy.exceptions", "-n", processes)
    assert code == 5, text  # No test was collected.
    assert "extra containers is not installed: test files that need it are skipped" in text
    assert "1 skipped" in text
    assert "need the extra containers, which is not installed (pip install -e '.[containers]'): test_it.py" in text


@pytest.mark.parametrize(
    ("imported", "arguments"),
    [
        pytest.param("toxiproxy", ("--holdfast-require-tier=containers",), id="required"),
        pytest.param("nobody_has_it", (), id="of-no-extra"),
    ],
)
def test_what_is_required_or_of_no_extra_is_an_error(tmp_path: Path, imported: str, arguments: tuple[str, ...]) -> None:
    code, text = run_pytest(tmp_path, imported, "-n", "0", *arguments)
    assert code == 2, text
    assert "1 error" in text


def test_another_tier_is_not_meant_by_a_required_one(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, "toxiproxy", "-n", "0", "--holdfast-require-tier=sim")[0] == 5


def test_no_system_needs_a_client_of_services_or_containers_before_a_plan_does() -> None:
    absent = ("boto3", "confluent_kafka", "docker", "minio", "testcontainers", "toxiproxy")
    systems = (
        "flink.jar_system",
        "json_lines.system",
        "kafka_streams.system",
        "reference",
        "structured_streaming.system",
    )
    lines = [f"import sys\nsys.modules.update(dict.fromkeys({absent}))"]
    lines += [f"import holdfast.fixtures.systems.{name}" for name in systems]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
