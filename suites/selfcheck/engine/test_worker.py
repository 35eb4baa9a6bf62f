"""What a worker of a certification has given back when it reports the end of a case."""

from __future__ import annotations

from multiprocessing import active_children
from pathlib import Path

import pytest

from holdfast.harness.engine.cases import case_run as case_run_module
from holdfast.harness.engine.cases.case import system_under_test
from holdfast.harness.engine.cases.case_run import CaseRun
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.certification.run_store import RunStore
from holdfast.harness.engine.certification.worker import CaseEnded, Message, execute
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.case import Tier


def test_a_case_that_runs_out_of_time_has_ended_its_processes_when_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process was ended before them, and left their semaphores."""
    monkeypatch.setattr(case_run_module, "CHUNK", 1)
    system, tools = registry.system("reference"), registry.toolbox()
    case = case_for(system, "swarm/drawn-plans", Tier.SIM)
    store = RunStore(tmp_path, tools.faults)
    case_run = CaseRun(case, system_under_test(case, system, 1), Tier.SIM, tools, 1, store.runs)
    messages: list[Message] = []
    processes: list[int] = []
    for message in execute(case_run, 40, store, Interruption(), lambda: len(messages) > 1, jobs=2):
        messages.append(message)
        processes.append(len(active_children()))
    assert isinstance(messages[-1], CaseEnded)
    assert (processes[-2], processes[-1]) == (2, 0)
