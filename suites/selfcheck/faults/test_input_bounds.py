"""Faults of the input name a part of it: what is not there is refused before the run; what is empty bears a fault."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.plan_file import write_plan
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import plan

RECORDS = 20


def asked(kind: str, records: int = RECORDS, partitions: int = 1, **parameters: int) -> Plan:
    """A plan with a fault of its input."""
    fault = FaultSpec(kind, Target(Role.SOURCE_SYSTEM), parameters=dict(parameters), duration_ms=50)
    workload = WorkloadSpec("synthetic", {"records": records, "partitions": partitions})
    return msgspec.structs.replace(plan(fault), workload=workload)


@pytest.mark.parametrize(
    ("kind", "parameters", "complaint"),
    [
        ("poison", {"partition": 7}, "partition is 7; allowed is 0 to 0: change it."),
        ("poison", {"partition": -1}, "partition is -1; allowed is 0 to 0: change it."),
        ("poison", {"offset": 20}, "offset is 20; allowed is -20 to 19: change it."),
        ("poison", {"offset": -21}, "offset is -21; allowed is -20 to 19: change it."),
        ("truncate", {"partition": 1}, "partition is 1; allowed is -1 to 0: change it."),
        ("truncate", {"partition": -2}, "partition is -2; allowed is -1 to 0: change it."),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(
    kind: str, parameters: dict[str, int], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run ended with exit code 4, or another record was poisoned."""
    write_plan(tmp_path / "plan.json", asked(kind, **parameters))
    assert execute(["run", str(tmp_path / "plan.json"), "--tier", "sim", "--out", str(tmp_path / "out")]) == 3
    said = capsys.readouterr()
    assert said.err == f"holdfast: faults[0].parameters.{complaint}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [("poison", {}), ("poison", {"offset": 19}), ("poison", {"offset": -20}), ("truncate", {"partition": -1})],
)
def test_what_is_there_is_accepted(kind: str, parameters: dict[str, int]) -> None:
    check_plan(asked(kind, **parameters), registry.system("reference"), Tier.SIM, registry.toolbox())


def test_a_poison_where_there_is_no_record_has_not_landed() -> None:
    """It was a division by zero. The partition is there, so the plan is none to refuse."""
    empty = asked("poison", records=1, partitions=2, partition=0)
    check_plan(empty, registry.system("reference"), Tier.SIM, registry.toolbox())
    run = run_plan(empty, registry.system("reference"), registry.toolbox())
    assert run.outcome is Outcome.INCONCLUSIVE
    assert run.reason.startswith("faults[0] (poison) ")
