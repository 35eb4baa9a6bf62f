"""Sessions on one cluster: with other additions another one, and one of them at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.fixtures.pipelines.output.outgoing import DeltaOutput, IcebergOutput, TableOutput
from holdfast.fixtures.systems.structured_streaming.additions import NOTHING, Additions, additions_of


class Ending:
    """A session that knows whether it was ended."""

    def __init__(self, host: object) -> None:
        self.ended = False

    def end(self) -> None:
        self.ended = True


def test_a_session_ends_when_one_with_other_additions_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("testcontainers")
    from holdfast.fixtures.systems.structured_streaming import cluster_host

    monkeypatch.setattr(cluster_host, "_sessions", {})
    monkeypatch.setattr(cluster_host, "ClusterHost", lambda stack, additions: None)
    monkeypatch.setattr(cluster_host, "Session", Ending)

    def session(run: str, additions: Additions) -> Any:
        return cluster_host.session_in(SimpleNamespace(run=run), additions)  # type: ignore[arg-type]

    tables = additions_of(DeltaOutput())
    plain, other = session("one", NOTHING), session("two", NOTHING)
    assert session("one", NOTHING) is plain
    with_tables = session("one", tables)
    assert (plain.ended, other.ended) == (True, False)
    assert session("one", additions_of(IcebergOutput())) is with_tables
    assert not with_tables.ended
    assert session("one", NOTHING) is plain
    assert (with_tables.ended, other.ended) == (True, False)


def test_only_tables_of_files_need_more_than_the_image_has_on_its_class_path() -> None:
    served = additions_of(TableOutput(url="postgresql://", table="orders"))
    assert (served.among_containers, NOTHING.among_containers) == ({}, {})
    told = additions_of(DeltaOutput()).among_containers
    assert [jar.rpartition("/")[2].partition("-")[0] for jar in told["spark.jars"].split(",")] == [
        "delta",
        "delta",
        "iceberg",
    ]
    assert "io.delta.sql.DeltaSparkSessionExtension" in told["spark.sql.extensions"]
