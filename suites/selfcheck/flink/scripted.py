"""A cluster of Flink that a test scripts: it takes jobs, and they end as the test says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import cast

from holdfast.fixtures.systems.flink.cluster import MASTER, Cluster, FlinkProcess
from holdfast.fixtures.systems.flink.log import Line, LogTail
from holdfast.harness.adapter import member
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output


class ScriptedRest:
    """A JobManager's answers.

    Attributes:
        submitted: the paths that jobs were restored from; empty texts: they began empty.
        state: of the newest job.
        refuses: the next submission fails so.
        ends: a job is over when it is cancelled.
        savepoints: the target folders that savepoints were requested in.
    """

    def __init__(self) -> None:
        self.submitted: list[str] = []
        self.savepoints: list[str] = []
        self.state = ""
        self.refuses: OSError | None = None
        self.ends = True

    def submit(
        self,
        jar: str,
        main: str,
        arguments: Sequence[str],
        options: Mapping[str, str],
        parallelism: int,
        restored: str = "",
    ) -> str:
        if self.refuses is not None:
            raise self.refuses
        self.submitted.append(restored)
        self.state = "RUNNING"
        return f"{len(self.submitted):032x}"

    def status(self, job: str) -> str:
        return self.state

    def cancel(self, job: str) -> None:
        self.state = "CANCELED" if self.ends else self.state

    def savepoint(self, job: str, target: str, form: str) -> None:
        self.savepoints.append(target)


class ScriptedLog:
    """The log of a process.

    Attributes:
        written: lines that nobody has read yet.
    """

    def __init__(self) -> None:
        self.written: list[Line] = []

    def skip(self) -> None:
        pass

    def lines(self) -> Iterator[Line]:
        while self.written:
            yield self.written.pop(0)


class Life:
    """One in name."""

    def __init__(self) -> None:
        self.dead = False
        self.paused = False

    def lines(self) -> list[bytes]:
        return []

    def last_words(self) -> str:
        return "That was it."

    def end(self) -> int:
        self.dead = True
        return -9

    def pause(self) -> None:
        assert not self.dead, "its number may be another's"
        self.paused = True

    def resume(self) -> None:
        assert not self.dead, "its number may be another's"
        self.paused = False

    def close(self) -> None:
        self.dead = True


class ScriptedProcess(FlinkProcess):
    """A process of a cluster, whose lives do nothing."""

    def __init__(self, name: str, log: ScriptedLog | None = None) -> None:
        self.log = cast("LogTail", log or ScriptedLog())
        member.Member.__init__(self, name, member.Nodes(Recorder()), 100)
        self.start()

    def start(self) -> None:
        self.life = cast("member.Life", Life())
        self.begin(self.life)

    def last_words(self) -> str:
        return self.life.last_words()


def cluster(rest: ScriptedRest, log: ScriptedLog | None = None) -> Cluster:
    """One with a JobManager alone, and its log."""
    processes = {MASTER: ScriptedProcess(MASTER, log)}
    return cast("Cluster", SimpleNamespace(rest=rest, jar="jar", links=None, recovers=False, processes=processes))


def plan(*faults: FaultSpec, **options: str) -> Plan:
    """A keyed sum."""
    return Plan(system="flink", job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=faults, options=options)


NO_RECORDS = InputLog(keys=(), partitions=())


class NoOutput:
    """In the place of a committed reader, which is another process."""

    problem = ""
    output = Output()

    def __init__(self, *words: object) -> None:
        self.closed = False

    def hear(self) -> None:
        pass

    def finish(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True
