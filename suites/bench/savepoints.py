"""Stop with a savepoint and resume from it, end to end: real processes, and their endpoint as a user sees it.

A stop counts from the request to the answer that the savepoint is complete and the job has finished; a resume from the
request to the answer that all tasks of the next job run. The aim is one second for both together.

python -m holdfast.suites.bench.savepoints [--times 10]
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from holdfast.harness.engine.job_cluster.client import ClusterClient
from holdfast.harness.engine.job_cluster.jobs import OVER
from holdfast.harness.model import profile
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.suites.bench.figures import load, number, table, with_spread

AIM_S = 1.0
PLAN = Plan(
    job=KEYED_SUM,
    topology=Topology(parallelism=2),
    options={profile.INTERVAL: "200 ms", profile.INLINE_THRESHOLD: "0"},
    workload=WorkloadSpec("synthetic", {"records": 200_000, "records_per_second": 2_000, "preloaded_percent": 1}),
)


def measured(client: ClusterClient, job: str, folder: Path) -> tuple[float, float, str]:
    """Seconds of a stop and of a resume, and the next job."""
    begun = time.monotonic()
    trigger = client.ask("POST", f"/jobs/{job}/stop", {"targetDirectory": str(folder / "savepoints")})["request-id"]
    location = client.wait_for_savepoint(job, trigger)
    stopped = time.monotonic()
    following = str(client.ask("POST", "/jobs", {"savepointPath": location})["jobid"])
    client.wait_for_state(following, "RUNNING", *OVER)
    return stopped - begun, time.monotonic() - stopped, following


def main(times: Annotated[int, typer.Option(help="How often it stops and resumes.")] = 10) -> None:
    """Measure, and print the medians beside the aim."""
    print(load())
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        client = ClusterClient(folder / "cluster")
        client.start(PLAN)
        try:
            job = str(client.ask("GET", "/jobs")["jobs"][0]["jid"])
            client.wait_for_state(job, "RUNNING")
            stops, resumes = [], []
            for _ in range(times):
                stop_s, resume_s, job = measured(client, job, folder)
                stops.append(stop_s)
                resumes.append(resume_s)
        finally:
            client.ask("DELETE", "/cluster")
    both = [stop_s + resume_s for stop_s, resume_s in zip(stops, resumes, strict=True)]
    named = (("stop", stops), ("resume", resumes), ("both", both))
    rows = [[name, with_spread(values), number(max(values))] for name, values in named]
    print(table(f"Stop and resume, {times} times; aim {AIM_S:.0f} s", ["", "median s", "largest s"], rows))


if __name__ == "__main__":
    typer.run(main)
