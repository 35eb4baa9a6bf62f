"""A Flink cluster of its own on this machine: a job manager and a task manager, and its REST interface."""

from __future__ import annotations

import json
import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from holdfast.fixtures.services.ports import free_ports
from holdfast.suites.bench.peers.cache import PeerCache
from holdfast.suites.bench.peers.children import Child, answer

FLINK = "apache-flink==2.3.0"
ARCHIVES = (
    "org.apache.flink:flink-sql-parquet:2.3.0",
    # The Parquet reader asks for Hadoop's configuration classes, which Flink does not carry.
    "org.apache.hadoop:hadoop-client-api:3.4.1",
    "org.apache.hadoop:hadoop-client-runtime:3.4.1",
)
JOB = Path(__file__).with_name("flink_job.py")
PARALLELISM = 2
START_LIMIT_S = 150.0
SUBMIT_LIMIT_S = 150.0
_CONFIGURATION = """
jobmanager: {{bind-host: localhost, rpc: {{address: localhost, port: {rpc_port}}}, memory: {{process: {{size: 1g}}}}}}
taskmanager:
  bind-host: localhost
  host: localhost
  numberOfTaskSlots: {parallelism}
  memory: {{process: {{size: 4g}}, managed: {{fraction: 0.05}}}}
parallelism: {{default: {parallelism}}}
rest: {{address: localhost, bind-address: localhost, port: {rest_port}, bind-port: "{rest_port}"}}
# Its answers would be up to 3 s and its metrics up to 10 s old.
web: {{refresh-interval: 100, checkpoints: {{history: 10000}}}}
metrics: {{fetcher: {{update-interval: 100}}}}
"""


class FlinkCluster:
    """A cluster that ends when the context does.

    Args:
        cache: where Flink is, or goes.
        folder: empty; takes configuration, logs and checkpoints.
        cores: that all its processes are pinned to.
    """

    def __init__(self, cache: PeerCache, folder: Path, cores: Sequence[int]) -> None:
        self._python = cache.python("flink", FLINK)
        self._home = cache.packages("flink") / "pyflink"
        self._folder, self._cores = folder, cores
        self._port, rpc_port = free_ports(2)
        self._environment = self._configure(rpc_port, [cache.archive(coordinate) for coordinate in ARCHIVES])
        self._children: list[Child] = []

    def __enter__(self) -> Self:
        with ExitStack() as guard:
            guard.callback(self._end)
            for program in ("jobmanager.sh", "taskmanager.sh"):
                command = [str(self._home / "bin" / program), "start-foreground"]
                log = self._folder / f"{program}.log"
                self._children.append(Child(command, self._cores, self._environment, log))
            self._await_task_manager()
            guard.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def spent_s(self) -> float:
        """Processor time that the cluster has used so far."""
        return sum(child.spent_s() for child in self._children)

    @property
    def version(self) -> str:
        """What the cluster says it is."""
        return str(self.get("/overview")["flink-version"])

    def submit(self, folder: Path, key_type: str, options: Mapping[str, str], monitor_interval: str = "") -> FlinkJob:
        """Submit the job that all peers run.

        Args:
            folder: of Parquet files.
            key_type: the SQL type of the key.
            options: of this job, beside what every job of this benchmark has.
            monitor_interval: how often to look for new files; empty: the input is complete.

        Raises:
            OSError: Flink refuses it.
        """
        every = {
            "execution.target": "remote",
            "rest.address": "localhost",
            "rest.port": str(self._port),
            "execution.checkpointing.interval": "1 s",
            "execution.checkpointing.mode": "EXACTLY_ONCE",
            "execution.checkpointing.dir": (self._folder / "checkpoints").as_uri(),
            "state.backend.type": "hashmap",
            "pipeline.object-reuse": "true",
        }
        specification = {
            "input": str(folder),
            "monitor_interval": monitor_interval,
            "key_type": key_type,
            "options": every | dict(options),
        }
        command = [str(self._python), str(JOB), json.dumps(specification)]
        printed = answer(command, self._cores, self._environment, SUBMIT_LIMIT_S)
        return FlinkJob(self, printed.split()[-1])

    def get(self, path: str) -> Any:
        """An answer of the REST interface."""
        with urllib.request.urlopen(f"http://localhost:{self._port}{path}", timeout=10) as response:
            return json.load(response)

    def cancel(self, job: str) -> None:
        """Ask for the end of a job."""
        request = urllib.request.Request(f"http://localhost:{self._port}/jobs/{job}", method="PATCH")
        with urllib.request.urlopen(request, timeout=10):
            pass

    def _end(self) -> None:
        for child in reversed(self._children):
            child.end()

    def _configure(self, rpc_port: int, archives: Sequence[Path]) -> dict[str, str]:
        configuration = self._folder / "conf"
        shutil.copytree(self._home / "conf", configuration)
        # Flink's own file is kept for the access to packages of the virtual machine that it opens.
        opened = [line for line in (configuration / "config.yaml").read_text().splitlines() if "--add-" in line]
        if not opened:
            raise OSError(
                f"{configuration / 'config.yaml'} does not look like Flink's: delete the cache and try again."
            )
        text = _CONFIGURATION.format(rpc_port=rpc_port, rest_port=self._port, parallelism=PARALLELISM)
        (configuration / "config.yaml").write_text(f"env:\n  java:\n    opts:\n{opened[0]}\n{text}")
        (self._folder / "log").mkdir()
        return dict(os.environ) | {
            "FLINK_HOME": str(self._home),
            "FLINK_CONF_DIR": str(configuration),
            "FLINK_LOG_DIR": str(self._folder / "log"),
            "FLINK_PID_DIR": str(self._folder),
            "HADOOP_CLASSPATH": ":".join(map(str, archives)),
        }

    def _await_task_manager(self) -> None:
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline:
            try:
                if self.get("/overview")["slots-total"] >= PARALLELISM:
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                pass
            time.sleep(0.2)
        raise OSError(f"the Flink cluster did not stand within {START_LIMIT_S:.0f} s: see the logs in {self._folder}.")


class FlinkJob:
    """A submitted job, seen through REST."""

    def __init__(self, cluster: FlinkCluster, identity: str) -> None:
        self._cluster, self._identity = cluster, identity

    def state(self) -> tuple[str, int, int]:
        """Its status, the records that the source has read and those that the aggregation has received."""
        job = self._cluster.get(f"/jobs/{self._identity}")
        source, last = job["vertices"][0], job["vertices"][-1]
        return job["state"], int(source["metrics"]["read-records"]), int(last["metrics"]["read-records"])

    def checkpoints(self) -> list[tuple[float, float]]:
        """When each completed checkpoint was triggered and complete, in seconds since 1970, in that order."""
        history = self._cluster.get(f"/jobs/{self._identity}/checkpoints")["history"]
        complete = [each for each in history if each["status"] == "COMPLETED"]
        return sorted(
            (each["trigger_timestamp"] / 1000, (each["trigger_timestamp"] + each["end_to_end_duration"]) / 1000)
            for each in complete
        )

    def cancel(self) -> None:
        """Ask for its end."""
        self._cluster.cancel(self._identity)
