"""Of several things that are opened in a row, the earlier ones are closed when a later one cannot be had."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from holdfast.fixtures.pipelines.answer.expectation import Expectation
from holdfast.fixtures.pipelines.declaration import Declaration
from holdfast.fixtures.pipelines.input.feeder import FedRecords
from holdfast.fixtures.pipelines.input.incoming import Incoming
from holdfast.fixtures.pipelines.output.files import LocalFiles
from holdfast.fixtures.pipelines.output.locations import DiskFolder
from holdfast.fixtures.pipelines.output.outgoing import PARQUET_FILES, TableOutput
from holdfast.fixtures.pipelines.output.reader import InFolder
from holdfast.fixtures.reference.drivers.processes import socket_log, spawner, supervisor
from holdfast.fixtures.systems.structured_streaming import deployment, place
from holdfast.harness.adapter.child import Launched
from holdfast.harness.adapter.network.acceptor import make_token
from holdfast.harness.engine.certification.apart_process import begin
from holdfast.harness.model.job import Contract
from holdfast.suites.certify.children_and_threads import children
from holdfast.suites.selfcheck.oracles.builder import input_log
from holdfast.suites.selfcheck.structured_streaming.test_output_pairs import PLAN

if TYPE_CHECKING:
    from holdfast.fixtures.services.broker_and_store import BrokerAndStore

INPUTS = input_log(10, 10)


def fails(*_: object, **__: object) -> Any:
    raise OSError("no more can be had.")


def refuse(patch: pytest.MonkeyPatch, place: object, name: str, behind: int = 0) -> None:
    """So many calls are answered, and no other."""
    real, calls = getattr(place, name), count()
    patch.setattr(place, name, lambda *given, **named: (real if next(calls) < behind else fails)(*given, **named))


def second_speaker(folder: Path, patch: pytest.MonkeyPatch) -> None:
    refuse(patch, socket_log, "listen", behind=1)
    socket_log.Speakers(folder, INPUTS.partitions, [0, 1], make_token(), lambda: None)


def zygote_of_a_supervisor(folder: Path, patch: pytest.MonkeyPatch) -> None:
    refuse(patch, supervisor, "open_zygote")
    supervisor.Supervisor(folder, ())


def zygote(folder: Path, patch: pytest.MonkeyPatch) -> None:
    root = SimpleNamespace(lives=lambda: True, spawner=SimpleNamespace(ended=list, spawn=fails))
    patch.setattr(spawner, "_root", root)
    spawner.open_zygote((), folder / "log")


def pidfd_of_what_was_started(folder: Path, patch: pytest.MonkeyPatch) -> None:
    refuse(patch, os, "pidfd_open")
    Launched(["/bin/sleep", "60"], folder, folder / "log", talks=True)


def process_behind_its_pipe(folder: Path, patch: pytest.MonkeyPatch) -> None:
    refuse(patch, subprocess, "Popen")
    begin("", (), {})


def container_behind_its_pipes(folder: Path, patch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("testcontainers")
    from holdfast.fixtures.systems.structured_streaming.cluster_host import ContainerProgram

    stack: Any = SimpleNamespace(run_driver=fails)
    ContainerProgram(stack, "driver", [], {}, folder / "driver.log")


def code_of_a_pipeline(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The query runs nowhere, and its reader looks already."""
    released: list[str] = []
    made = SimpleNamespace(
        session=SimpleNamespace(host=SimpleNamespace(shared=None)),
        files=LocalFiles(folder),
        notes=None,
        endpoints=SimpleNamespace(trigger_ms=0),
        output=InFolder(DiskFolder(str(folder)), "output", PARQUET_FILES),
    )

    def on_this_machine(plan: object, records: object, folder: object, outgoing: object, taken: Any, *_: object) -> Any:
        taken.callback(released.append, "release")
        return made

    patch.setattr(deployment, "on_this_machine", on_this_machine)
    patch.setattr(deployment, "carried", fails)
    pipeline = Declaration("module", Expectation(Contract.RECORDS, frozenset()))
    try:
        deployment.StreamingDeployment(PLAN, INPUTS, pipeline, folder)
    finally:
        assert released == ["release"]


def session_behind_a_database(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """There is no Spark, and the database of the run is made already."""
    released: list[str] = []
    database = SimpleNamespace(direct_url="", url="", release=lambda: released.append("database"))
    patch.setattr(place, "RunDatabase", lambda stack: database)
    patch.setattr(place, "session_here", fails)
    outgoing, stack = TableOutput(url="postgresql://", table="orders"), SimpleNamespace()
    records = FedRecords(INPUTS, Incoming(), PLAN.digest_key)
    try:
        with ExitStack() as taken:
            place.on_this_machine(PLAN, records, folder, outgoing, taken, cast("BrokerAndStore", stack))
    finally:
        assert released == ["database"]


@pytest.mark.parametrize(
    "opening",
    [
        second_speaker,
        zygote_of_a_supervisor,
        zygote,
        pidfd_of_what_was_started,
        process_behind_its_pipe,
        container_behind_its_pipes,
        code_of_a_pipeline,
        session_behind_a_database,
    ],
    ids=lambda opening: opening.__name__,
)
def test_what_was_opened_before_is_closed(
    opening: Callable[[Path, pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(os.listdir("/proc/self/fd")), children()
    # What the error holds is not collected before the look.
    with pytest.raises(OSError, match=r"^no more can be had\.$") as raised, monkeypatch.context() as patch:
        opening(tmp_path, patch)
    assert raised.value is not None
    assert (len(os.listdir("/proc/self/fd")), children()) == before
