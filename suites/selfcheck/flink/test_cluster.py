"""A cluster of Flink: what keeps it from being ready, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from holdfast.fixtures.systems.flink import cluster
from holdfast.fixtures.systems.flink.cluster import MASTER, Cluster, FlinkProcess
from holdfast.fixtures.systems.flink.place import Folder, Place, ThisMachine

SCRIPT = """
import json, sys, time
path, *errors = sys.argv[1:]
with open(path.removeprefix("-Dlog.file="), "w") as log:
    log.write(json.dumps({"t": 1, "c": "o.Runner", "m": "Starting."}) + "\\n")
    for error in errors:
        log.write(json.dumps({"t": 2, "c": "o.Runner", "m": "Could not start.", "e": error}) + "\\n")
print("It ends.", file=sys.stderr)
time.sleep(0 if errors else 60)
"""
TAKEN = "o.RuntimeException: no start\n\tat o.Main\nCaused by: o.BindException: Address in use\n\tat o.Channel"


class Here(ThisMachine):
    """Where a program of ours is the Java machine."""

    archives = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def java(self) -> Sequence[str]:
        return [sys.executable, "-c", SCRIPT]

    def folder(self) -> Folder:
        return Folder(self._folder, lambda: None)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Here(tmp_path)


@pytest.fixture
def begun(place: Place) -> Iterator[dict[str, FlinkProcess]]:
    """A JobManager that lives, and a TaskManager that ends whenever it is started."""
    processes = {
        name: FlinkProcess(name, place, errors, place.folder().path)
        for name, errors in ((MASTER, []), ("taskmanager-0", [TAKEN]))
    }
    yield processes
    for process in processes.values():
        process.life.close()


def cluster_of(processes: Mapping[str, FlinkProcess]) -> Cluster:
    """One at whose JobManager nobody registers."""
    made = object.__new__(Cluster)
    vars(made).update(processes=processes, rest=SimpleNamespace(workers=lambda: 0))
    return made


def ended(process: FlinkProcess) -> FlinkProcess:
    while not process.life.dead:
        process.life.lines()
    return process


def test_the_last_error_of_a_log_is_why_it_ended(begun: Mapping[str, FlinkProcess]) -> None:
    assert ended(begun["taskmanager-0"]).last_words() == "o.BindException: Address in use"


def test_a_life_that_has_none_yet_has_that_of_the_one_before(place: Place, tmp_path: Path) -> None:
    errors = [TAKEN]
    process = FlinkProcess("taskmanager-0", place, errors, tmp_path)
    ended(process)
    errors.clear()
    process.start()
    assert process.last_error() == "o.BindException: Address in use"
    process.life.close()


def test_an_error_of_an_earlier_job_is_not_why_it_ended(place: Place, tmp_path: Path) -> None:
    process = FlinkProcess("taskmanager-0", place, [TAKEN], tmp_path)
    with (tmp_path / "taskmanager-0.0.log").open("a") as log:
        ended(process)
        log.write('{"t": 60000, "c": "o.Runner", "m": "Going on."}\n')
    assert process.last_words() == "It ends."
    process.life.close()


def test_who_logs_no_error_has_the_end_of_its_output(place: Place, tmp_path: Path) -> None:
    process = FlinkProcess("taskmanager-0", place, [""], tmp_path)
    assert ended(process).last_words() == "It ends."
    process.life.close()


def test_the_message_names_who_was_started_again_and_why(
    begun: Mapping[str, FlinkProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    def monotonic() -> float:
        return 0.0 if begun["taskmanager-0"].lives < 3 else cluster.START_LIMIT_S + 1

    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=monotonic, sleep=lambda _: None))
    with pytest.raises(
        OSError,
        match=r"within 180 s: 0 of 1 TaskManagers are registered, and taskmanager-0 ended 2 times, its last error is: "
        r"o\.BindException: Address in use\.",
    ):
        cluster_of(begun).await_workers(1)


def test_a_job_manager_that_ends_whenever_it_is_started_is_not_waited_for(place: Place, tmp_path: Path) -> None:
    master = FlinkProcess(MASTER, place, [TAKEN], tmp_path)
    with pytest.raises(OSError, match=r"JobManager ends whenever it is started: o\.BindException: Address in use"):
        cluster_of({MASTER: master}).await_workers(1)
    master.life.close()


def test_a_cluster_whose_processes_all_live_accuses_none(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    master = FlinkProcess(MASTER, place, [], tmp_path)
    monkeypatch.setattr(cluster, "START_LIMIT_S", 0.0)
    with pytest.raises(OSError, match=r"0 of 1 TaskManagers are registered, and none of its processes ended\."):
        cluster_of({MASTER: master}).await_workers(1)
    master.life.close()


def test_a_zookeeper_that_ends_is_not_waited_for(place: Place, tmp_path: Path) -> None:
    process = ended(FlinkProcess(cluster.ZOOKEEPER, place, [TAKEN], tmp_path))
    with pytest.raises(OSError, match=r"ZooKeeper ends when it is started: o\.BindException: Address in use"):
        cluster._await_zookeeper(1, process)
    process.life.close()


AT_EXIT = """
from pathlib import Path
from holdfast.fixtures.systems.flink import cluster
from holdfast.fixtures.systems.flink.place import THIS_MACHINE

class Cluster:
    def __init__(self, *given, place, **more):
        self.folder, self.remove = place.folder()

    def await_workers(self, wanted):
        pass

    def close(self):
        print(self.folder.exists())
        self.remove()
        print(self.folder.exists())

cluster.Cluster = Cluster
cluster.warm_cluster(Path("jars"), 1, 0, {})
"""


def test_a_cluster_that_is_kept_ends_before_its_folder_is_removed() -> None:
    said = subprocess.run([sys.executable, "-c", AT_EXIT], check=True, capture_output=True, text=True)
    assert said.stdout.split() == ["True", "False"]
