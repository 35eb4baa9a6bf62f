"""One session of Spark for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from holdfast.fixtures.host.installed_spark import quick_java
from holdfast.harness.engine.site.spark_session import judging_session
from holdfast.suites.selfcheck.dropped_sockets import collect_sockets

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
    collect_sockets()


@pytest.fixture(autouse=True)
def session_is_named_and_leaves_no_socket(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that uses the session says so by its tier: else it fails where Java is absent, and each process of
    pytest-xdist starts a session."""
    uses_it = "spark" in request.fixturenames
    assert not uses_it or request.node.get_closest_marker("tier"), "mark it tier('spark')"
    yield
    if uses_it:
        collect_sockets()
