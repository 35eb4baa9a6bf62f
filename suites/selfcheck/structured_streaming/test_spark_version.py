"""A Spark of another version than the one that is installed here: named, in an environment of its own, and told what it
lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.images.spark_releases import named_release, spark_releases
from holdfast.fixtures.services.processes import installation
from holdfast.fixtures.services.processes.installation import missing
from holdfast.fixtures.systems.structured_streaming import spark_version
from holdfast.fixtures.systems.structured_streaming import system as system_module
from holdfast.fixtures.systems.structured_streaming.spark_version import has_all, release_in
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.suites.selfcheck.marks import unless
from holdfast.suites.selfcheck.structured_streaming.test_output_pairs import PLAN, judged_as_said

OLDER = named_release("3.5")
ABSENT = missing(OLDER.environment_part)
MODULE = """SCHEMA = "order_id long"
IDENTITY = "order_id"

def generate(number, partition, offset, random):
    return {{"order_id": number}}


def build(spark, endpoints):
    {}
"""


@pytest.mark.parametrize(
    ("variant", "minor", "rest"),
    [
        ("3.5+./orders.py", "3.5", "./orders.py"),
        ("3.5", "3.5", ""),
        ("4.1+./orders.py", None, "./orders.py"),
        ("./3.5+orders.py", None, "./3.5+orders.py"),
        ("3.5.py", None, "3.5.py"),
        ("package.module", None, "package.module"),
    ],
)
def test_a_version_stands_before_the_pipeline(
    variant: str, minor: str | None, rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_version, "installed_spark_version", lambda: "4.1.1")
    release, named = release_in(variant)
    assert (release and release.minor, named) == (minor, rest)


def test_a_version_that_is_not_known_is_named() -> None:
    with pytest.raises(UsageError, match=r"Spark '3\.4' is not known, known are 4\.1, 4\.0, 3\.5\."):
        registry.system("spark+3.4+./orders.py")


def system(version: str, folder: Path, body: str) -> StructuredStreaming:
    path = folder / "orders.py"
    path.write_text(MODULE.format(body))
    made = registry.system(f"spark{version}+{path}")
    assert isinstance(made, StructuredStreaming)
    return made


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("spark.dataSource.register(object)", "data sources in Python"),
        ("return endpoints.read(spark).groupBy('a').transformWithStateInPandas(None)", "transformWithState"),
        ("from pyspark.sql.datasource import DataSource", "data sources in Python"),
        ("return endpoints.read(spark)  # no transformWithState here", ""),
    ],
    ids=["source", "state", "import", "none"],
)
def test_what_a_version_lacks_is_said_before_a_run(
    body: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_version, "missing", lambda part: "")
    said = system("+3.5", tmp_path, body).objection(PLAN, Tier.SPARK)
    assert said.startswith(f"orders.py:9 uses {what}, which Spark has from 4.0 on" if what else "")
    assert bool(what) is bool(said)
    if has_all(installation.installed_spark_version()):
        assert system("", tmp_path, body).objection(PLAN, Tier.SPARK) == ""


def test_an_environment_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    said = system("+3.5", tmp_path, "pass").objection(PLAN, Tier.SPARK)
    assert said == "spark-3.5 is not installed on this machine: run holdfast services install spark-3.5."


def test_stored_state_is_claimed_where_it_can_be_read(tmp_path: Path) -> None:
    older, own = StructuredStreaming("3.5"), StructuredStreaming("4.1")
    assert older.capabilities.keys() == {Tier.SPARK}
    assert older.versions(Tier.SPARK)["pyspark"] == "3.5.1"
    assert "subtask_audited" not in older.evidence()
    assert "subtask_audited" in own.evidence()
    totals = replace(PLAN, job=KEYED_SUM)
    assert not older.claims(totals).state
    assert own.claims(totals).state


def test_the_doctor_names_the_version_and_its_known_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    older, default = StructuredStreaming("3.5"), spark_releases()[0]
    said = dict(older.described())
    assert said["Spark"].startswith("3.5.1, without a data source for state")
    assert said["known bugs of its state stores"] == "SPARK-47036, SPARK-47568"
    monkeypatch.setattr(system_module, "installed_spark_version", lambda: default.version)
    monkeypatch.setattr(spark_version, "installed_spark_version", lambda: default.version)
    said = dict(StructuredStreaming().described())
    assert said["Spark"] == default.version
    assert "known bugs of its state stores" not in said


def test_what_is_made_later_is_no_change_of_an_environment(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "module.py").write_text("one")
    noted = installation._digests(tmp_path)
    for later in ("var/holdfast/archive", "lib/__pycache__/module.pyc"):
        (tmp_path / later).parent.mkdir(parents=True)
        (tmp_path / later).touch()
    assert installation._digests(tmp_path) == noted
    (tmp_path / "lib" / "module.py").write_text("other")
    assert installation._digests(tmp_path) != noted


def test_an_environment_needs_a_python_that_its_spark_supports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = installation._Source("spark-3.5", "pip", b"pyspark==3.5.1", python=("3.1",))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OSError, match=r"spark-3\.5 needs Python 3\.1, which is not on the PATH"):
        list(installation._environment(source, tmp_path, tmp_path / "made"))
    (tmp_path / "python3.1").touch(mode=0o755)
    first, second = installation._environment(source, tmp_path, tmp_path / "made")
    assert first[0] == str(tmp_path / "python3.1")
    assert second[0] == str(tmp_path / "made" / "bin" / "python")


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize("version", ["", pytest.param("3.5+", marks=unless(ABSENT))], ids=["default", "3.5"])
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("appended_always", "appended_once"),
        ("overwritten_partitions", "overwritten_batches"),
        ("added_totals", "upserted_totals"),
    ],
)
def test_a_pair_is_judged_alike_on_both_versions(version: str, wrong: str, right: str, tmp_path: Path) -> None:
    judged_as_said(wrong, right, Tier.SPARK, tmp_path, PLAN, version)
