"""Whose executors a process table shows, where two driver programs share the workers of a cluster."""

from __future__ import annotations

from collections import defaultdict

import pytest

from holdfast.fixtures.systems.structured_streaming import process_table
from holdfast.fixtures.systems.structured_streaming.process_table import ProcessTable

WORKER = 10
BACKEND = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


def command(driver: str) -> list[str]:
    return ["java", BACKEND, "--driver-url", f"spark://CoarseGrainedScheduler@{driver}:4040", "--worker-url", "w"]


COMMANDS = {11: command("ours-1"), 12: command("ours-11"), 13: ["java", "org.apache.spark.deploy.master.Master"]}


@pytest.mark.parametrize(("driver", "expected"), [("", [11, 12]), ("ours-1", [11]), ("ours-11", [12]), ("ours-2", [])])
def test_executors_are_those_of_a_driver_program(
    driver: str, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    children = defaultdict(list, {WORKER: list(COMMANDS)})
    monkeypatch.setattr(process_table, "children_by_parent", lambda: children)
    monkeypatch.setattr(process_table, "_command", COMMANDS.__getitem__)
    assert [each.pid for each in ProcessTable().executors_of(WORKER, driver)] == expected
