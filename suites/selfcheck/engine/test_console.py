"""What commands print: a path or a reason of somebody else's comes out as it is, whatever brackets it holds."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TextIO, cast

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.commands import console as consoles
from holdfast.harness.commands import plans
from holdfast.harness.commands.stream import LastingStream
from holdfast.harness.engine.artefacts.plan_file import write_plan
from holdfast.harness.engine.cases import stored_plan
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.verdict import Outcome

FOREIGN = "'/tmp/jobs[orders]/run' is not below [/opt/spark/x], [red] or :x:"


def test_a_foreign_text_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for console in (consoles.results(), consoles.results(soft_wrap=False), consoles.progress()):
        console.print(FOREIGN)
    said = capsys.readouterr()
    assert said.out == f"{FOREIGN}\n" * 2
    assert said.err == f"{FOREIGN}\n"


def test_a_stream_belongs_to_somebody_else_who_may_close_it_first() -> None:
    below = StringIO()
    LastingStream(cast("TextIO", below)).close()
    assert not below.closed
    lasting = LastingStream(cast("TextIO", below))
    below.close()
    lasting.close()  # As the interpreter does with what is collected.


def test_reasons_and_paths_of_a_rerun_keep_their_brackets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_plan(Path("plan.json"), msgspec.structs.replace(draw_plan(3), faults=()))
    assert cli.execute(["run", "plan.json", "--tier", "sim", "--out", "of[orders]"]) == 0
    stored = next(Path("of[orders]").iterdir())
    assert f"stored in {stored}; again: " in capsys.readouterr().out

    repeat = stored_plan.run_and_store

    def cut_off(*arguments: object) -> tuple[Run, Path]:
        run, place = repeat(*arguments)  # type: ignore[arg-type]
        return msgspec.structs.replace(run, outcome=Outcome.INCONCLUSIVE, reason=FOREIGN), place

    monkeypatch.setattr(plans, "run_and_store", cut_off)
    assert cli.execute(["rerun", str(stored), "--times", "1", "--out", "[/again]"]) == 2
    assert capsys.readouterr().err.startswith(f"1 of 1: inconclusive {FOREIGN} [/again]/")
