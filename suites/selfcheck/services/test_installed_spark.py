"""The Spark of this machine: its home, and an archive of classes that fits it or is not asked for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shlex import split

import pytest

from holdfast.fixtures.host import installed_spark
from holdfast.harness.spi.surroundings import tool_of_java


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a Spark of two jars is, whose archives would lie beside it."""
    jars = tmp_path / "pyspark" / "jars"
    jars.mkdir(parents=True)
    for name in ("one.jar", "other.jar"):
        (jars / name).write_text(name)
    monkeypatch.setattr(installed_spark, "installed", lambda: jars.parent)
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
