"""One Spark for this machine and for the images: the extra `spark`, versions.toml and all jars agree."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from holdfast.fixtures.images.recipe import all_versions

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"
OF_SPARK = "org.apache.spark:"
PACKAGES, JARS = "packages", "jars"
PROTOBUF, ARROW = "protobuf==7.36.2", "pyarrow==25.0.1"
CONNECTOR = f"{OF_SPARK}spark-sql-kafka-0-10_2.13"


def requirements(*extras: str) -> list[str]:
    """What is installed with some extras, beside what is always installed."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    optional = project["optional-dependencies"]
    return [*project["dependencies"], *(each for name in extras for each in optional[name])]


def disagreements(required: Iterable[str], versions: Mapping[str, Any]) -> Iterator[str]:
    """What one place says and another does not, by the name of the package or jar.

    Args:
        required: of the host, as requirements of Python.
        versions: as in versions.toml.
    """
    image = dict(each.split("==") for each in versions["spark"][PACKAGES])
    needed = [Requirement(each) for each in required]
    for each in needed:
        if each.name in image and not each.specifier.contains(image[each.name]):
            yield each.name
    spark = image["pyspark"]
    if f"=={spark}" not in {str(each.specifier) for each in needed if each.name == "pyspark"}:
        yield "one pyspark"
    for jar in versions["spark"][JARS]:
        if jar.startswith(OF_SPARK) and not jar.endswith(f":{spark}"):
            yield jar
    minor = spark.rpartition(".")[0]
    if versions["spark_tables"]["spark"] != minor:
        yield "spark_tables"
    for jar in versions["spark_tables"][JARS]:
        if "-runtime-" in jar and f"-runtime-{minor}_" not in jar:
            yield jar


def test_host_and_image_have_one_spark() -> None:
    assert list(disagreements(requirements("spark", "services"), all_versions())) == []


def test_the_image_has_what_the_extra_has() -> None:
    image = {each.partition("==")[0] for each in all_versions()["spark"][PACKAGES]}
    extra = set(requirements("spark")) - set(requirements())
    assert {Requirement(each).name for each in extra} <= image


def test_a_newer_spark_is_an_extra_of_its_own() -> None:
    assert list(disagreements(requirements("spark-newest"), all_versions())) == ["pyspark", "one pyspark"]


@pytest.mark.parametrize(
    ("table", "field", "before", "after", "found"),
    [
        ("spark", PACKAGES, ARROW, "pyarrow==26.0.1", ["pyarrow"]),
        ("spark", PACKAGES, PROTOBUF, "protobuf==8.1.0", ["protobuf"]),
        ("spark", JARS, f"{CONNECTOR}:4.0.0", f"{CONNECTOR}:4.0.1", [f"{CONNECTOR}:4.0.1"]),
        ("spark_tables", "spark", "4.0", "4.1", ["spark_tables"]),
    ],
)
def test_each_disagreement_is_found(table: str, field: str, before: str, after: str, found: list[str]) -> None:
    versions = all_versions()
    held = versions[table][field]
    changed = held.replace(before, after) if isinstance(held, str) else [each.replace(before, after) for each in held]
    assert changed != held
    versions[table][field] = changed
    assert list(disagreements(requirements("spark", "services"), versions)) == found


def test_another_spark_of_the_host_is_found() -> None:
    host = [each.replace("pyspark==4.0.0", "pyspark>=4.0,<5") for each in requirements("spark")]
    assert list(disagreements(host, all_versions())) == ["one pyspark"]
