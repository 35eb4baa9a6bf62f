"""From each rule to its code: every case, clause and wrong variant has a line, and the line is the right one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from holdfast.fixtures.mutants.compose import code_of
from holdfast.fixtures.mutants.variants import VARIANTS
from holdfast.fixtures.reference.parts import Parts
from holdfast.fixtures.reference.protocol.tasks.source_task import SourceTask
from holdfast.fixtures.reference.protocol.tasks.worker import TaskKind
from holdfast.harness.commands.rules import show_rules
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.places import Found, Way, documented, line_of, parsed, places_of, short
from holdfast.harness.model.case import Decision
from holdfast.harness.model.rule import Part, Rule
from holdfast.harness.spi.system import Code

DECISIONS: dict[str, list[tuple[str, Decision]]] = {}
for _case in registry.cases():
    for _decision in _case.decides:
        DECISIONS.setdefault(_decision.rule, []).append((_case.id, _decision))
SPARK_ONLY = {"PIP-12", "PIP-13", "REC-07", "TPC-08"}
"""Decided on Spark alone: the reference has no windows in event time, no sink outside its transactions, and no queries
that name a folder for their progress."""


def _names(found: tuple[Found, ...], part: Part) -> set[str]:
    return {each.place.name for each in found if each.place.part is part}


def _line(found: Found) -> str:
    return found.file.read_text(encoding="utf-8").splitlines()[found.place.line - 1]


OURS = {"reference", "sinks", "backends"}
"""Folders of the runtime, and of parts that it is made of by their names."""


@pytest.mark.parametrize("rule", registry.rules(), ids=lambda rule: rule.id)
def test_each_part_of_a_rule_has_its_line(rule: Rule) -> None:
    found = places_of(rule.id, registry.cases())
    decisions = DECISIONS.get(rule.id, [])
    assert _names(found, Part.CASE) == {case for case, _ in decisions}
    assert _names(found, Part.CLAUSE) == {f"{each.oracle}/{name}" for _, each in decisions for name in each.clauses}
    assert _names(found, Part.VARIANT) == {each.mutant for _, each in decisions}
    if decisions and rule.id not in SPARK_ONLY:
        assert _names(found, Part.REFERENCE)


@pytest.mark.parametrize("rule", registry.rules(), ids=lambda rule: rule.id)
def test_the_line_is_the_right_one(rule: Rule) -> None:
    for found in places_of(rule.id, registry.cases()):
        top = found.place.path.partition("/")[0]
        if found.place.part is Part.CASE:
            assert top == "suites"
            assert found.place.name.partition("/")[2].split("-")[0] in _line(found)
        elif found.place.part is Part.CLAUSE:
            assert "violated(" in _line(found) or found.place.name.partition("/")[2] in _line(found)
            assert "checked[" not in _line(found)
        elif found.place.part is Part.VARIANT and found.place.name in VARIANTS:
            assert found.place.path.startswith("fixtures/mutants/")
            assert any(word in _line(found) for word in ("class ", "def ", "lambda"))
        elif found.place.part is Part.REFERENCE:
            assert found.place.path.startswith(tuple(f"fixtures/{each}/" for each in OURS))


@pytest.mark.parametrize("counted", ["checked", "_checked", "self.checked", "self.findings.checked"])
def test_a_clause_that_is_counted_as_checked_is_no_more_than_described(counted: str, tmp_path: Path) -> None:
    file = tmp_path / "oracle.py"
    file.write_text(f'{counted}["clause"] += 1\ncompare("clause", 1, 2)\nelse_where["clause"] = 3\n', encoding="utf-8")
    assert parsed(file).clauses == {(Way.DESCRIBED, "clause"): [1], (Way.GIVEN, "clause"): [2, 3]}


def _is_in(written: Iterable[Code], folders: set[str]) -> bool:
    return any(line for each in written if (line := line_of(each)) and folders & set(line.file.parts))


def test_a_variant_has_code_of_its_own_and_replaces_some_of_the_reference() -> None:
    made = {name: code_of(variant) for name, variant in VARIANTS.items()}
    assert not [name for name, each in made.items() if not _is_in(each.variant, {"mutants"})]
    assert not [name for name, each in made.items() if not _is_in(each.replaced, OURS)]


def test_a_method_that_a_variant_replaces_is_what_keeps_the_rule() -> None:
    class Skips(SourceTask):
        def handles(self) -> object:  # type: ignore[override]
            return None

    kinds = {**Parts().task_kinds, next(iter(Parts().task_kinds)): TaskKind(Skips)}
    assert code_of(Parts("skips", task_kinds=kinds)).replaced == (SourceTask.handles,)


def test_the_runtime_itself_replaces_nothing() -> None:
    assert code_of(Parts())[1:] == ((), ())


def test_a_case_whose_id_is_written_nowhere_has_no_line() -> None:
    case = next(each for each in registry.cases() if each.decides)
    renamed = type(case)(**{name: getattr(case, name) for name in case.__struct_fields__} | {"id": "made/elsewhere"})
    found = places_of(case.decides[0].rule, [renamed])
    assert not _names(found, Part.CASE)


def test_a_docstring_that_names_a_rule_marks_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "kept_rules"
    package.mkdir()
    (package / "__init__.py").write_text('"""Rules."""\n', encoding="utf-8")
    text = (
        'class Store:\n    def keep(self):\n        """Kept whole (STO-01)."""\n\nLIMIT = 3\n"""At most (STO-02)."""\n'
    )
    (package / "store.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = documented("kept_rules")
    assert [(line.number, line.name) for line in found["STO-01"]] == [(2, "Store.keep")]
    assert [line.number for line in found["STO-02"]] == [5]


def test_the_command_prints_path_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_rules("BAR-03", tmp_path) == 0
    shown = capsys.readouterr().out
    for each in places_of("BAR-03", registry.cases()):
        assert f"{each.place}  " in shown


def test_the_command_says_where_there_is_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_rules("SBK-01", tmp_path) == 0
    shown = capsys.readouterr().out.splitlines()
    for part in (Part.CASE, Part.CLAUSE, Part.VARIANT):
        assert f"{part:>13}  none" in shown


def test_a_path_is_given_from_the_folder_of_the_package() -> None:
    assert short(Path(__file__)) == "suites/selfcheck/engine/test_places.py"
