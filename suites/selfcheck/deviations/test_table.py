"""The table of deviations: every step and variant, what it says refutes a variant does, and how it is printed."""

from __future__ import annotations

import json
import pkgutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import msgspec
import pytest
from _pytest.mark.structures import ParameterSet

from holdfast.fixtures.mutants.deviations.deviating import (
    CLASSES,
    DATA,
    GENERIC,
    LATE_MS,
    OF_CONNECTORS,
    OF_TIMERS,
    SPARED,
    STEPS,
    TIMERS,
    deviating,
    lacking,
    partial,
    variant_name,
)
from holdfast.fixtures.mutants.deviations.table import cell_of, table
from holdfast.fixtures.mutants.named import parts_of
from holdfast.fixtures.mutants.variants import VARIANTS, WRITTEN
from holdfast.fixtures.reference import protocol
from holdfast.fixtures.reference.drivers.storage_faults import STORAGE_OPERATIONS
from holdfast.fixtures.reference.protocol import effects, messages
from holdfast.fixtures.reference.protocol.effects import (
    Commit,
    Committed,
    DeleteFiles,
    Effects,
    FilesDeleted,
    SetTimer,
    StateWritten,
    StoredCheckpoint,
)
from holdfast.fixtures.reference.protocol.effects.step import WorkerEvent
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness import cli
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.deviation import Cell, CellState, Deviation
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.deviations.search import clauses_of, refuted
from holdfast.suites.selfcheck.directed_plans import directed_plans

CARRIED = {
    messages.CheckpointMetrics, messages.SubtaskState, messages.SplitState, messages.Savepoint, messages.Message
}  # fmt: skip
"""What messages carry, and what they are made from."""
STORED_BY = {
    "fix-state": "write-state", "reach-directory": "reach-directory", "write-state": "write-state",
    "publish-metadata": "publish-metadata", "read-metadata": "recover", "read-state": "read-state",
    "write-local": "write-state", "read-local": "read-state",
    "delete": "delete-files", "pre-commit": "precommit", "commit": "commit",
    "persist-job-record": "persist-job-record", "confirm-epoch": "confirm-epoch",
}  # fmt: skip
TABLE = table()


def _covered_by_row() -> list[ParameterSet]:
    rows: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in TABLE.cells:
        if cell.state is CellState.COVERED:
            rows[cell.step].append(cell)
    return [pytest.param(cells, id=step) for step, cells in rows.items()]


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield import_module(found.name)


def test_every_effect_event_message_and_element_of_the_code_is_a_row() -> None:
    defined = {
        made
        for module in (*_modules(effects), messages)
        for made in vars(module).values()
        if isinstance(made, type) and issubclass(made, msgspec.Struct) and made.__module__ == module.__name__
    }
    assert defined - DATA - OF_CONNECTORS - OF_TIMERS - CARRIED == set(CLASSES.values())


def test_every_timer_of_the_code_is_a_row() -> None:
    named = {
        value
        for module in _modules(protocol)
        for name, value in vars(module).items()
        if name.startswith("TIMER_") and isinstance(value, str)
    }
    assert named == set(TIMERS)


def test_every_operation_on_the_store_is_a_row() -> None:
    assert set(STORED_BY) == set(STORAGE_OPERATIONS)
    assert set(STORED_BY.values()) <= {step.name for step in STEPS}


def test_every_variant_stands_in_a_cell_or_outside_with_a_reason() -> None:
    assert [name for name, row in WRITTEN.items() if bool(row.cells) is bool(row.outside)] == []
    for row in WRITTEN.values():
        for name in row.cells:
            cell_of(name)


def test_what_follows_from_a_variant_are_clauses() -> None:
    clauses = {f"{oracle.name}/{clause}" for oracle in registry.toolbox().oracles for clause in oracle.clauses}
    assert {clause for row in WRITTEN.values() for clause in row.follows} <= clauses


def test_every_row_has_a_cell_in_every_column() -> None:
    cells = Counter((cell.step, cell.deviation) for cell in TABLE.cells)
    assert set(cells) == {(step.name, deviation) for step in STEPS for deviation in Deviation}
    for cell in TABLE.cells:
        assert bool(cell.clause) + bool(cell.reason) + bool(cell.missing) == 1, cell


def test_what_is_open_lacks_processes_and_no_plan() -> None:
    assert [cell for cell in TABLE.cells if cell.missing and "on processes" not in cell.missing] == []


def test_a_step_that_captures_its_outputs_sends_no_batch() -> None:
    """The reason that no variant captures them early."""
    steps = Counter[tuple[bool, bool]]()

    class Watched(Worker):
        def step(self, event: WorkerEvent, now: float) -> effects.Effects:
            made = super().step(event, now)
            captures = any(isinstance(each, effects.CaptureOutputs) for each in made)
            steps[captures, any(isinstance(each, messages.Records) for each in made)] += 1
            return made

    system = ReferenceSystem()
    system.parts = replace(system.parts, worker=Watched)
    for name in ("mutant B2", "case rescaling/in-flight, for its mutants", "case unaligned/channel-state"):
        assert run_plan(directed_plans()[name], system, registry.toolbox()).outcome is Outcome.PASS
    assert steps[True, False]
    assert steps[False, True]
    assert not steps[True, True]


def test_clauses_and_variants_of_the_table_exist() -> None:
    clauses = {f"{oracle.name}/{clause}" for oracle in registry.toolbox().oracles for clause in oracle.clauses}
    for cell in TABLE.cells:
        if cell.state is CellState.COVERED:
            assert cell.clause in clauses
            assert cell.plan in directed_plans()
            assert parts_of(cell.variant).name == cell.variant


def test_a_name_of_the_mechanism_is_no_variant_that_was_written_by_hand() -> None:
    made = {
        variant_name(step.name, deviation, once=once)
        for step in STEPS
        for deviation in GENERIC
        for once in (False, True)
    }
    assert not made & set(VARIANTS)


@pytest.mark.parametrize("cells", _covered_by_row())
@pytest.mark.share(24)
def test_what_refutes_a_cell_was_seen_to(cells: list[Cell]) -> None:
    for cell in cells:
        run = refuted(cell.variant, directed_plans()[cell.plan])
        assert cell.clause in clauses_of(run), cell


def _plans() -> dict[str, Plan]:
    named = {cell.plan for cell in TABLE.cells if cell.state is CellState.COVERED}
    return {name: plan for name, plan in directed_plans().items() if name in named}


@pytest.mark.parametrize("name", _plans())
@pytest.mark.share(9)
def test_the_runtime_passes_where_its_variants_are_refuted(name: str) -> None:
    run = run_plan(directed_plans()[name], registry.system("reference"), registry.toolbox())
    assert not clauses_of(run)


def test_a_step_that_lacks_what_a_deviation_needs_has_no_variant() -> None:
    for cell in TABLE.cells:
        if cell.deviation in GENERIC and cell.variant.startswith(variant_name(cell.step, cell.deviation)):
            assert not lacking(cell.step, cell.deviation), cell


def test_the_table_is_printed_with_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["mutants", "--table"]) == 0
    printed = capsys.readouterr().out
    assert "cells are covered by" in printed
    for step in ("commit", "timer-restart"):
        assert step in printed


def test_a_row_is_printed_cell_by_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["mutants", "--table", "commit"]) == 0
    printed = capsys.readouterr().out
    assert "commit early: TXN/committed-before-completion refutes commits-on-barrier on " in printed
    assert "commit partial: it carries nothing that has parts" in printed


def test_json_holds_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["mutants", "--table", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    counts = printed["counts"]
    assert counts["covered"] + counts["explained"] + counts["open"] == len(STEPS) * len(Deviation)


def test_a_row_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["mutants", "--table", "comit"]) == 3
    assert "unknown step 'comit'" in capsys.readouterr().err


class _Scripted(Worker):
    """Gives back what it is given, and notes it."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def step(self, event: Any, now: float) -> Effects:
        self.given.append(event)
        return list(event) if isinstance(event, tuple) else []


def _wrong(step: str, deviation: Deviation, *, once: bool = False) -> Any:
    made = deviating(step, deviation, once=once).worker
    wrapper = made.__mro__[1]
    fields: dict[str, ClassVar[object]] = {"row": step, "deviation": deviation, "once": once}  # type: ignore[valid-type]
    return type("Wrong", (wrapper, _Scripted), dict(fields))()


def _commit(name: str, attempt: int = 2) -> Commit:
    return Commit(attempt, "sink[0]", name)


@pytest.mark.parametrize(
    ("deviation", "expected"),
    [
        (Deviation.MISSING, []),
        (Deviation.TWICE, ["a", "a", "b", "b"]),
        (Deviation.REORDERED, ["b", "a"]),
        (Deviation.WRONG_ID, ["a", "a"]),
        (Deviation.EARLY, ["b", "a"]),
    ],
)
def test_an_effect_is_done_wrongly(deviation: Deviation, expected: list[str]) -> None:
    wrong = _wrong("commit", deviation)
    effects = wrong.step((_commit("a"), _commit("b")), 0.0)
    assert [each.transaction for each in effects] == expected


def test_one_that_is_late_is_done_with_the_next_step_after_its_time() -> None:
    wrong = _wrong("commit", Deviation.LATE)
    assert wrong.step((_commit("a"),), 0.0) == []
    assert wrong.step((), LATE_MS - 1) == []
    assert wrong.step((), LATE_MS) == [_commit("a")]


def test_once_means_the_third_of_a_process() -> None:
    wrong = _wrong("commit", Deviation.MISSING, once=True)
    names = ["a", "b", "c", "d"]
    done = [each.transaction for each in wrong.step(tuple(map(_commit, names)), 0.0)]
    assert done == [name for place, name in enumerate(names) if place != SPARED]


def test_an_older_attempt_is_the_one_before() -> None:
    effects = _wrong("commit", Deviation.OLDER_ATTEMPT).step((_commit("a", 3), _commit("b", 1)), 0.0)
    assert [each.attempt for each in effects] == [2, 1]


def test_what_is_said_and_not_done_is_answered_at_once() -> None:
    wrong = _wrong("commit", Deviation.NOT_DONE)
    assert wrong.step((_commit("a"),), 0.0) == []
    assert wrong.given[-1] == Committed(2, "sink[0]", "a", already=False)


def test_an_event_is_changed_before_the_step() -> None:
    wrong = _wrong("files-deleted", Deviation.TWICE)
    wrong.step(FilesDeleted(1), 0.0)
    assert wrong.given == [FilesDeleted(1), FilesDeleted(1)]


def test_a_timer_is_set_too_far_or_too_near() -> None:
    late = _wrong("timer-trigger", Deviation.LATE).step((SetTimer("trigger", 1, 30.0), SetTimer("expiry", 1, 30.0)), 20)
    assert [each.at_ms for each in late] == [70.0, 30.0]


def test_a_part_is_all_but_the_last_or_half_of_the_bytes() -> None:
    assert partial(DeleteFiles(("a", "b"))) == DeleteFiles(("a",))
    assert partial(StateWritten(1, "sum[0]", 1, (("chk-1/sum-0", b"abcd"),), ())).inline == ()
    assert partial(StoredCheckpoint(1, "chk-1/_metadata", b"abcd")).content == b"ab"


def test_what_a_step_lacks_is_said() -> None:
    assert lacking("commit", Deviation.WRONG_CONTENT)
    assert not lacking("commit", Deviation.WRONG_ID)


def test_variants_are_found_by_name() -> None:
    name = variant_name("commit", Deviation.NOT_DONE, once=True)
    assert name == "said-but-not-done-commit-once"
    assert parts_of(name).name == name
    with pytest.raises(ValueError, match="unknown"):
        parts_of("missing-nothing")
