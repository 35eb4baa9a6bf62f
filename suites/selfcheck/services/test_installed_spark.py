"""One Spark for this machine and for the images: its home, versions and jars, and why a job of it failed."""

from __future__ import annotations

import os
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import split

import pytest
from msgspec.structs import replace
from packaging.requirements import Requirement

from holdfast.fixtures.host import installed_spark
from holdfast.fixtures.images.spark_releases import SparkRelease, connected_release, spark_releases
from holdfast.fixtures.services.spark_jobs import sentence_of
from holdfast.harness.spi.surroundings import tool_of_java


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a Spark of two jars is, whose archives would lie beside it."""
    jars = tmp_path / "pyspark" / "jars"
    jars.mkdir(parents=True)
    for name in ("one.jar", "other.jar"):
        (jars / name).write_text(name)
    monkeypatch.setattr(installed_spark, "installed", lambda prefix: jars.parent)
    monkeypatch.setattr(installed_spark, "_ARCHIVES", tmp_path / "archives")
    return jars.parent


def test_a_home_is_its_own_and_everything_else_is_where_it_is_installed(spark: Path, tmp_path: Path) -> None:
    home = installed_spark.make_home(tmp_path / "home")
    (home / "work").mkdir()
    assert not (spark / "work").exists()
    assert (home / "jars").resolve() == spark / "jars"


def test_without_an_archive_none_is_named(spark: Path) -> None:
    assert installed_spark.quick_java() == installed_spark.QUICK_JAVA


def test_an_archive_is_named_until_a_jar_is_another(spark: Path) -> None:
    archive = installed_spark._archive()
    archive.parent.mkdir()
    archive.touch()
    assert installed_spark.quick_java() == f"{installed_spark.QUICK_JAVA} -XX:SharedArchiveFile={archive}"
    (spark / "jars" / "other.jar").write_text("of another version")
    assert installed_spark.quick_java() == installed_spark.QUICK_JAVA


def test_what_cannot_be_archived_is_told_and_leaves_nothing(spark: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the classes of Spark cannot be archived"):
        installed_spark.archive_classes()
    assert not list((tmp_path / "archives").iterdir())


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize("fits", [True, False])
def test_java_takes_the_archive_for_the_class_path_of_a_home_and_for_no_other(tmp_path: Path, *, fits: bool) -> None:
    options = split(installed_spark.quick_java())
    if len(options) == len(installed_spark.QUICK_JAVA.split()):
        pytest.skip("the classes of Spark are not archived: python -m holdfast.fixtures.host.installed_spark")
    jars = installed_spark.make_home(tmp_path / "home") / "jars"
    first = next(jars.glob("slf4j-api-*" if fits else "arrow-*"))
    java = tool_of_java("java", os.environ)
    command = [java, *options, "-Xshare:on", "-cp", f"{first}:{jars}/*", "-version"]
    assert (subprocess.run(command, capture_output=True).returncode == 0) is fits


PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"
OF_SPARK = "org.apache.spark:"
DEFAULT = spark_releases()[0]
CONNECTOR = f"{OF_SPARK}spark-sql-kafka-0-10_2.13"
RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0"


def requirements(*extras: str) -> list[str]:
    """What is installed with some extras, beside what is always installed."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    optional = project["optional-dependencies"]
    return [*project["dependencies"], *(each for name in extras for each in optional[name])]


def disagreements(required: Iterable[str], release: SparkRelease) -> Iterator[str]:
    """What one place says and another does not, by the name of the package or jar.

    Args:
        required: of the host, as requirements of Python.
        release: of Spark.
    """
    image = release.packages
    needed = [Requirement(each) for each in required]
    for each in needed:
        if each.name in image and not each.specifier.contains(image[each.name]):
            yield each.name
    spark = image["pyspark"]
    if f"=={spark}" not in {str(each.specifier) for each in needed if each.name == "pyspark"}:
        yield "one pyspark"
    for jar in release.jars:
        if jar.startswith(OF_SPARK) and not jar.endswith(f":{spark}"):
            yield jar
    minor = spark.rpartition(".")[0]
    if release.minor != minor:
        yield "minor"
    for jar in release.tables:
        if "-runtime-" in jar and f"-runtime-{minor}_" not in jar:
            yield jar


def test_host_and_image_have_one_spark() -> None:
    assert list(disagreements(requirements("spark", "services"), DEFAULT)) == []


def test_an_older_spark_is_an_extra_of_its_own_with_all_its_jars() -> None:
    older = connected_release("3.5.1")
    assert older is not None
    assert list(disagreements(requirements("spark35", "services"), older)) == []


def test_the_image_has_what_the_extra_has() -> None:
    image = DEFAULT.packages.keys()
    extra = set(requirements("spark")) - set(requirements())
    assert {Requirement(each).name for each in extra} <= image


def test_a_newer_spark_is_an_extra_of_its_own() -> None:
    assert list(disagreements(requirements("spark-newest"), DEFAULT)) == ["pyspark", "one pyspark"]


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        (replace(DEFAULT, packages={**DEFAULT.packages, "pyarrow": "26.0.1"}), ["pyarrow"]),
        (replace(DEFAULT, packages={**DEFAULT.packages, "protobuf": "8.1.0"}), ["protobuf"]),
        (replace(DEFAULT, jars=[*DEFAULT.jars, f"{CONNECTOR}:4.1.2"]), [f"{CONNECTOR}:4.1.2"]),
        (replace(DEFAULT, minor="4.2"), ["minor"]),
        (replace(DEFAULT, tables=[RUNTIME]), [RUNTIME]),
    ],
    ids=["arrow", "protobuf", "connector", "minor", "tables"],
)
def test_each_disagreement_is_found(changed: SparkRelease, found: list[str]) -> None:
    assert list(disagreements(requirements("spark", "services"), changed)) == found


def test_another_spark_of_the_host_is_found() -> None:
    host = [each.replace("pyspark==4.1.1", "pyspark>=4.1,<5") for each in requirements("spark")]
    assert list(disagreements(host, DEFAULT)) == ["one pyspark"]


ABORTED = "Job aborted due to stage failure: ResultStage 0 has failed the maximum allowable number of times: 1.\n"


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (
            ABORTED + 'java.io.IOException: Cannot run program "python9": error=2\n\tat java.base/ProcessBuilder.start',
            'java.io.IOException: Cannot run program "python9": error=2',
        ),
        (
            ABORTED
            + "org.apache.spark.SparkException: \nError from python worker:\n  python3: No module named pyspark\n"
            "PYTHONPATH was:\n  /opt/spark\norg.apache.spark.SparkException: EOFException",
            "python3: No module named pyspark",
        ),
        (
            ABORTED + "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File x\n"
            "pyspark.errors.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker is 3.9.\n\n\tat org",
            "pyspark.errors.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker is 3.9.",
        ),
        ("Job was cancelled", "Job was cancelled"),
        ("", "no reason given"),
    ],
    ids=["no-program", "no-module", "traceback", "one-line", "nothing"],
)
def test_the_line_that_says_most(reason: str, sentence: str) -> None:
    assert sentence_of(reason) == sentence
