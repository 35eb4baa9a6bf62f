"""What a machine is said to lack leaves cases and files of tests out as a whole, by name, and nothing else."""

from __future__ import annotations

import json
import os
import socket  # noqa: TID251 - a listener of its own
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import suites
from holdfast.fixtures.services.processes.installation import java
from holdfast.fixtures.systems.reference import CAPABILITIES, ReferenceSystem
from holdfast.harness.engine.cases.case import why_not_applicable
from holdfast.harness.engine.site import machine, registry
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier


@pytest.fixture
def looked_at_afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the clients of services installed, whether they are or not."""
    monkeypatch.setattr(machine, "_CLIENTS", ())
    machine.lacking.cache_clear()
    yield
    machine.lacking.cache_clear()


@pytest.mark.usefixtures("looked_at_afresh")
def test_an_engine_is_asked_where_its_clients_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "docker.sock"
    with closing(socket.socket(socket.AF_UNIX)) as engine:
        engine.bind(str(path))
        engine.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        assert machine.lacking(Tier.CONTAINERS) == ""
    machine.lacking.cache_clear()
    assert machine.lacking(Tier.CONTAINERS) == (
        f"needs a Docker engine that responds at unix://{path} (Debian: apt install docker.io)"
    )


@pytest.mark.usefixtures("looked_at_afresh")
def test_an_engine_whose_processes_are_not_seen_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container that has the socket of its host: the number of a process there is somebody else here."""
    path = tmp_path / "docker.sock"
    with closing(socket.socket(socket.AF_UNIX)) as engine:
        engine.bind(str(path))
        engine.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        assert machine._peer(f"unix://{path}") == os.getpid()
        monkeypatch.setattr(machine, "_peer", lambda _: 0)
        assert machine.lacking(Tier.CONTAINERS) == (
            f"needs to see the processes of the Docker engine at unix://{path} (in a container: --pid host)"
        )


@pytest.mark.usefixtures("looked_at_afresh")
def test_an_engine_may_be_reached_by_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as engine:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{engine.getsockname()[1]}")
        assert machine.lacking(Tier.CONTAINERS) == ""


@pytest.mark.usefixtures("looked_at_afresh")
@pytest.mark.parametrize("address", ["unix:///none", "tcp://127.0.0.1:x", "ssh://127.0.0.1:1", "nonsense"])
def test_an_address_where_nobody_responds_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    assert f"a Docker engine that responds at {address} " in machine.lacking(Tier.CONTAINERS)


def java_of(version: int, folder: Path) -> Path:
    """A home of Java that says no more than its version."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}.0.1\" 2023-10-17' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.usefixtures("looked_at_afresh")
@pytest.mark.parametrize(("of_home", "on_path"), [(17, 11), (11, 17), (None, 17), (0, 17)])
def test_the_java_of_java_home_is_looked_at_before_the_one_on_the_path(
    of_home: int | None, on_path: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 0 stands for a home that is not there: nobody falls back to another Java."""
    monkeypatch.setattr(machine, "find_spec", lambda name: name)
    monkeypatch.setenv("PATH", f"{java_of(on_path, tmp_path / 'path') / 'bin'}{os.pathsep}/bin")
    home = tmp_path / "home"
    if of_home is None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
    else:
        monkeypatch.setenv("JAVA_HOME", str(java_of(of_home, home) if of_home else home))
    where = "" if of_home is None else f" in JAVA_HOME, which is {home}"
    found = on_path if of_home is None else of_home
    wanted = "" if found == 17 else f"needs Java 17 or 21{where} (Debian: apt install openjdk-17-jre-headless)"
    assert machine.lacking(Tier.SPARK) == wanted
    if found:
        assert java("Kafka") == str((tmp_path / "path" if of_home is None else home) / "bin" / "java")
    else:
        with pytest.raises(OSError, match=f"Kafka needs Java 17 or 21{where}: install"):
            java("Kafka")


NEEDED = Capability.INCREMENTAL_CHECKPOINTS
PACKAGES = (
    "allure_commons", "boto3", "botocore", "confluent_kafka", "deltalake", "docker", "duckdb", "fastavro",
    "hdfs_native", "jsonschema", "minio", "pandas", "pika", "psycopg", "py4j", "pyiceberg", "pyspark", "requests",
    "rocksdict", "testcontainers", "toxiproxy", "urllib3", "xdist",
)  # fmt: skip
"""Whatever an extra brings: a program that knows nothing of them is started with none that can be found."""
SYSTEMS = ("reference", "kafka-streams", "spark", "persists-first")
HIDDEN = """
import sys
from importlib.machinery import PathFinder

class WithoutExtras(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {packages!r} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutExtras
"""
LOOK = """
import json
from holdfast.harness.engine.cases.case import plan_of, system_under_test, why_not_applicable
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier

tools, applies, reasons, wrong = registry.toolbox(), 0, set(), []
for name in {systems!r}:
    system = registry.system(name)
    for case in registry.cases():
        for tier in set(case.tiers) & system.capabilities.keys() - {{Tier.CONTAINERS}}:
            try:
                under_test = system_under_test(case, system, first_seed=1)
                if reason := why_not_applicable(case, under_test, tier, tools):
                    reasons.add(reason)
                    continue
            except NotApplicable:
                continue
            except UsageError:  # It is what the run shows.
                continue
            except Exception as error:
                wrong.append(f"{{name}}, {{case.id}} on {{tier}} raises {{error!r}}")
                continue
            applies += 1
            if absent := case.needs - under_test.capabilities[tier]:
                wrong.append(f"{{name}}, {{case.id}} on {{tier}} applies, and needs {{sorted(absent)}}")
            for number in range(case.runs):
                try:
                    plan = plan_of(case, under_test, 1, number)
                    check_plan(plan, under_test, tier, tools)
                    check_options(plan, under_test)
                except NotApplicable as error:
                    wrong.append(f"{{name}}, {{case.id}} on {{tier}}, plan {{number}} alone does not apply: {{error}}")
                except UsageError:
                    continue
print(json.dumps([applies, sorted(reasons), wrong]))
"""


class OnOneTier(ReferenceSystem):
    """It has a capability on one tier, and not on another."""

    capabilities = {
        tier: declared - ({NEEDED} if tier is Tier.PROCESS else set()) for tier, declared in CAPABILITIES.items()
    }


def test_what_a_system_has_on_another_tier_is_not_enough() -> None:
    case = next(each for each in registry.cases() if each.id == "rescaling/in-place-increments")
    assert case.needs >= {NEEDED}
    system, tools = OnOneTier(), registry.toolbox()
    assert why_not_applicable(case, system, Tier.SIM, tools) == ""
    why = why_not_applicable(case, system, Tier.PROCESS, tools)
    assert why == "reference does not declare incremental-checkpoints on tier process"


def test_a_case_applies_with_all_its_plans_or_is_left_out_by_name(tmp_path: Path) -> None:
    program = tmp_path / "look.py"
    program.write_text(HIDDEN.format(packages=set(PACKAGES)) + LOOK.format(systems=SYSTEMS), encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    applies, reasons, wrong = json.loads(done.stdout)
    assert wrong == []
    assert applies > 400
    assert any("rocksdict" in each for each in reasons)
    assert any("pip install 'holdfast-chaos[services]'" in each for each in reasons)
    assert not any("does not declare" in each and "on tier process" in each for each in reasons)  # Names no package.


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
