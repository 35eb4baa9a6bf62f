"""One session of Spark for all tests here."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from holdfast.fixtures.host.installed_spark import quick_java
from holdfast.harness.engine.site.spark_session import judging_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.shuffle.partitions": "2",
}
"""Small jobs are quick where nothing is planned twice and nothing is compiled for long."""


@pytest.fixture(scope="package")
def spark() -> Iterator[SparkSession]:
    with judging_session("local[2]", {"spark.driver.extraJavaOptions": quick_java(), **SETTINGS}) as session:
        yield session
    _collect_sockets()


@pytest.fixture(autouse=True)
def no_socket_is_left_to_others() -> Iterator[None]:
    yield
    _collect_sockets()


def _collect_sockets() -> None:
    """PySpark drops the sockets of its answers open. They are collected here, or it would be held against whatever test
    is running when they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
