"""What `holdfast doctor` shows of a pipeline before it runs: its claim, and what would let it start sooner."""

from __future__ import annotations

import pytest

from holdfast.fixtures.host import installed_spark
from holdfast.harness.engine.site import registry
from holdfast.harness.spi.system import Described
from holdfast.suites.selfcheck.structured_streaming import pipelines


@pytest.fixture
def described() -> Described:
    system = registry.system(f"spark+{pipelines.__name__}.never_written")
    assert isinstance(system, Described)
    return system


def test_the_claim(described: Described, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed_spark, "archived", lambda: True)
    assert described.described() == [("claims", "exactly-once")]


def test_the_command_that_archives_classes_where_they_are_not(
    described: Described, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_spark, "archived", lambda: False)
    name, words = described.described()[-1]
    assert name == "start"
    assert words.endswith(installed_spark.COMMAND)
