"""A rescale of a running job from 2 to 4 and back, end to end: in place, and by a savepoint and another job.

Real processes, and their endpoint as a user sees it. In place, the time counts from the request for resource
requirements; by a savepoint, from the request for that. It ends when all tasks run at the new parallelism. How long a
gigabyte of state takes by itself, `rescale` measures.

python -m holdfast.suites.bench.rescale_in_place [--times 5] [--keys 100000]
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from holdfast.harness.engine.job_cluster.client import POLL_S, ClusterClient
from holdfast.harness.model import profile
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.suites.bench.figures import load, number, table, with_spread

NARROW, WIDE = 2, 4


def plan_of(keys: int) -> Plan:
    """A job that has had a record of most keys before it is rescaled."""
    records = {"records": 10 * keys, "records_per_second": 2_000, "preloaded_percent": 50, "keys": keys}
    return Plan(
        job=KEYED_SUM,
        topology=Topology(parallelism=WIDE),
        options={profile.INTERVAL: "500 ms", profile.INLINE_THRESHOLD: "0"},
        workload=WorkloadSpec("synthetic", {"partitions": WIDE, **records}),
    )


class Cluster:
    """A cluster with its present job.

    Args:
        folder: of the cluster and of savepoints.
        plan: of the job.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._savepoints = str(folder / "savepoints")
        self._client = ClusterClient(folder / "cluster")
        self._client.start(plan)
        self._vertices = [vertex.name for vertex in plan.job.vertices]
        self._job = str(self._client.ask("GET", "/jobs")["jobs"][0]["jid"])
        self.wait(WIDE)
        self.wait_for_checkpoint()

    def in_place(self, parallelism: int) -> None:
        """Let the job go on at another parallelism."""
        bounds = {"parallelism": {"lowerBound": 1, "upperBound": parallelism}}
        self._client.ask("PUT", f"/jobs/{self._job}/resource-requirements", dict.fromkeys(self._vertices, bounds))

    def by_savepoint(self, parallelism: int) -> None:
        """Stop the job with a savepoint, and submit another."""
        stop = self._client.ask("POST", f"/jobs/{self._job}/stop", {"targetDirectory": self._savepoints})
        location = self._client.wait_for_savepoint(self._job, stop["request-id"])
        body = {"savepointPath": location, "parallelism": parallelism}
        self._job = str(self._client.ask("POST", "/jobs", body)["jobid"])

    def wait(self, parallelism: int) -> None:
        """Wait until all tasks run at a parallelism."""
        while not self._runs(self._client.ask("GET", f"/jobs/{self._job}"), parallelism):
            time.sleep(POLL_S)

    def wait_for_checkpoint(self) -> None:
        """Wait for the next complete checkpoint, so that there is one to restore that is no older."""
        completed = self._client.ask("GET", f"/jobs/{self._job}")["checkpoints"]
        while self._client.ask("GET", f"/jobs/{self._job}")["checkpoints"] == completed:
            time.sleep(POLL_S)

    def end(self) -> None:
        """End it, with the job."""
        self._client.ask("DELETE", "/cluster")

    @staticmethod
    def _runs(details: Mapping[str, object], parallelism: int) -> bool:
        vertices = details["vertices"]
        assert isinstance(vertices, list)
        return details["state"] == "RUNNING" and all(each["parallelism"] == parallelism for each in vertices)


def measured(cluster: Cluster, change: Callable[[int], None], parallelism: int) -> float:
    """Seconds of one change."""
    begun = time.monotonic()
    change(parallelism)
    cluster.wait(parallelism)
    seconds = time.monotonic() - begun
    cluster.wait_for_checkpoint()
    return seconds


def main(
    times: Annotated[int, typer.Option(min=1, help="How often each change is made.")] = 5,
    keys: Annotated[int, typer.Option(min=1, help="Number of keys.")] = 100_000,
) -> None:
    """Measure, and print the medians."""
    print(load())
    figures: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as place:
        cluster = Cluster(Path(place), plan_of(keys))
        try:
            cluster.in_place(NARROW)
            cluster.wait(NARROW)
            cluster.wait_for_checkpoint()
            for name, change in (("in place", cluster.in_place), ("by savepoint", cluster.by_savepoint)):
                for _ in range(times):
                    for former, parallelism in ((NARROW, WIDE), (WIDE, NARROW)):
                        seconds = measured(cluster, change, parallelism)
                        figures.setdefault(f"{name}, {former} to {parallelism}", []).append(seconds)
        finally:
            cluster.end()
    rows = [[name, with_spread(values), number(max(values))] for name, values in figures.items()]
    print(table(f"Rescale of a running job with {keys} keys, {times} times", ["", "median s", "largest s"], rows))


if __name__ == "__main__":
    typer.run(main)
