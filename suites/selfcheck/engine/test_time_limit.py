"""What a time limit leaves undone: a case that does not apply is none of it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from holdfast.harness import cli
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal, Status
from holdfast.harness.spi.system import declared


def test_a_case_that_does_not_apply_is_not_untested_for_want_of_time(tmp_path: Path) -> None:
    """After the limit all cases were UNTESTED, whatever they need."""
    arguments = ["--tier", "process", "--budget", "1ms", "--jobs", "1", "--out", str(tmp_path)]
    assert cli.execute(["certify", "persists-first", *arguments]) == 2
    journal = msgspec.json.decode((tmp_path / "latest" / "results.json").read_bytes(), type=Journal)
    able = declared(registry.system("persists-first"))
    lacks = {case.id for case in registry.cases() if case.needs - able}
    found = {each.case: each for each in journal.cases if each.tier is Tier.PROCESS}
    assert {found[name].status for name in lacks & found.keys()} == {Status.NOT_APPLICABLE}
    late = found["programs/killed"]
    assert (late.status, late.reason) == (Status.UNTESTED, "the time limit of 0 s was reached")
