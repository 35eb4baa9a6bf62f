"""A Spark cluster that no stack knows of: on a network of its own, with no folder and no package of ours."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from holdfast.fixtures.services.container import Container

_CLASS = "/opt/spark/home/bin/spark-class"
_MASTER = "their-master"
_PORT = 7077
_CORES, _MEMORY = "3", "3g"
_WEB = 8080
_SOURCES = """
import py4j, pyspark
from pathlib import Path
from py4j.version import __version__
from zipfile import ZipFile

home = Path(pyspark.__file__).parent
(home / "python" / "lib").mkdir(parents=True)
for name, package in (("pyspark", home), (f"py4j-{__version__}-src", Path(py4j.__file__).parent)):
    with ZipFile(home / "python" / "lib" / f"{name}.zip", "w") as archive:
        for source in package.rglob("*"):
            if source.suffix in (".py", ".json"):
                archive.write(source, source.relative_to(package.parent))
"""
"""Spark as it is distributed brings those of PySpark; our image goes without."""
_LIMIT_S = 5.0
_START_LIMIT_S = 180.0
"""Two workers start at once, on cores that others want, too."""


class ForeignCluster(NamedTuple):
    """A master and two workers of three slots.

    Attributes:
        master: its URL.
        containers: what it runs in.
    """

    master: str
    containers: tuple[Container, ...]

    def applications(self) -> list[str]:
        """Names of those that run there."""
        host = self.master.removeprefix("spark://").partition(":")[0]
        with urllib.request.urlopen(f"http://{host}:{_WEB}/json/", timeout=_LIMIT_S) as answer:
            return [each["name"] for each in json.load(answer)["activeapps"]]


@contextmanager
def foreign_cluster() -> Iterator[ForeignCluster]:
    """As long as the context lasts."""
    from holdfast.fixtures.services.container import Container, Session
    from holdfast.fixtures.services.spark_cluster import QUICK_JAVA

    with closing(Session({})) as session:

        def started(name: str, *command: str) -> Container:
            environment = {
                "SPARK_DAEMON_MEMORY": "256m",
                "JDK_JAVA_OPTIONS": QUICK_JAVA,  # for executors, too, whoever's application it is
                "SPARK_NO_DAEMONIZE": "1",
                "SPARK_LOCAL_HOSTNAME": name,
            }
            container = Container(session, name, "spark", command=(_CLASS, *command), environment=environment)
            container.start()
            return container

        master = started(_MASTER, "org.apache.spark.deploy.master.Master", "--host", _MASTER, "--port", str(_PORT))
        size = ("--cores", _CORES, "--memory", _MEMORY)
        url = f"spark://{_MASTER}:{_PORT}"
        workers = []
        for name in ("their-worker-0", "their-worker-1"):
            workers.append(started(name, "org.apache.spark.deploy.worker.Worker", url, "--host", name, *size))
        for worker in workers:
            code, said = worker.execute(["python", "-c", _SOURCES])
            assert code == 0, said
            worker.wait_until(partial(_registered, worker), _START_LIMIT_S)
        yield ForeignCluster(f"spark://{master.address}:{_PORT}", (master, *workers))


def _registered(worker: Container) -> bool:
    return "Successfully registered with master" in worker.log()
